"""A page of sections as one file of HTML that needs nothing else: style and script are in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from xml.etree.ElementTree import Element

from egglift.egraph.explanation import marked
from egglift.ir import picture
from egglift.ir.markup import Child, html, tag

LONG = 16  # characters of a figure at the head of a page, beyond which its letters are small


@dataclass(frozen=True)
class Section:
    """A part of a page.  name: its place, for links; says: what is seen in it, in a sentence or two."""

    name: str
    title: str
    says: str
    shows: tuple[Element | None, ...]


def page(title: str, subtitle: str, figures: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """The whole file.  figures: (what, number) for the head of the page."""
    links = [tag("a", s.title, href=f"#{s.name}") for s in sections]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", picture.STYLE + marked.STYLE + _file("page.css")),
    )
    cards = [tag("div", tag("dt", what), tag("dd", n, class_="long" if len(n) > LONG else None)) for what, n in figures]
    top = tag("header", tag("h1", title), tag("p", subtitle), tag("dl", *cards))
    body = tag(
        "body",
        tag("nav", *links, aria_label="parts of this page"),
        tag("main", top, *map(_section, sections)),
        tag("div", id="tip", role="tooltip", hidden=True),
        tag("script", _file("page.js")),
    )
    return "<!DOCTYPE html>\n" + html(tag("html", head, body, lang="en")) + "\n"


def note(text: str) -> Element:
    """A sentence in the place of what there is no data for, or about it."""
    return tag("p", text, class_="note")


def folded(summary: str, *inside: Child) -> Element:
    """What is seen once its summary is clicked."""
    return tag("details", tag("summary", summary), *inside)


def scrolled(inside: Element) -> Element:
    """What may be wider than the page."""
    return tag("div", inside, class_="scroll", tabindex="0")


def _section(s: Section) -> Element:
    return tag("section", tag("h2", s.title), tag("p", s.says), *s.shows, id=s.name, aria_label=s.title)


@cache
def _file(name: str) -> str:
    return files("egglift.pages").joinpath(name).read_text()
