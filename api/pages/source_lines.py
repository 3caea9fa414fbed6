"""OpenCL line by line, with the pattern that each comes from and the laws that put that pattern there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from egglift.ir.markup import tag

_COMMENT = "// "


@dataclass(frozen=True)
class Line:
    """A line of OpenCL.  pattern: what the code generator was translating, as its comment says; "": not known."""

    text: str
    pattern: str


def lines(source: str) -> Iterator[Line]:
    """The lines of a source: a comment names the pattern of what follows in its block, up to the next comment there."""
    open_: list[tuple[int, str]] = []
    for text in source.splitlines():
        depth = len(text) - len(text.lstrip())
        if not text.strip():
            yield Line(text, open_[-1][1] if open_ else "")
            continue
        comment = text.strip().startswith(_COMMENT)
        open_ = [(d, p) for d, p in open_ if d < depth or (d == depth and not comment)]
        if comment:
            open_.append((depth, text.strip().removeprefix(_COMMENT)))
        yield Line(text, open_[-1][1] if open_ else "")


def listing(source: str, laws_of: Callable[[str], Sequence[str]]) -> Element:
    """The source as a table.  laws_of: the laws that put a pattern (`mapGlobal0 over 64`) there, as far as known."""
    rows, before = [], ""
    for number, line in enumerate(lines(source), 1):
        laws = ", ".join(laws_of(line.pattern)) if line.pattern else ""
        fresh = line.pattern != before
        tip = f"{line.pattern}\n{f'by {laws}' if laws else 'by no law that is known'}" if line.pattern else None
        origin = (tag("span", line.pattern, class_="pattern"), " ", tag("span", laws, class_="law")) if fresh else ()
        cells = [
            tag("td", str(number), class_="number"),
            tag("td", *origin, class_="origin"),
            tag("td", tag("code", line.text or " "), class_="line"),
        ]
        kind = "fresh" if fresh and line.pattern else None
        rows.append(tag("tr", *cells, class_=kind, data_tip=tip))
        before = line.pattern
    head = tag("tr", *(tag("th", text, scope="col") for text in ("line", "pattern, law", "OpenCL")))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll listing", tabindex="0")
