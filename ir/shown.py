"""How values show themselves in notebooks."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from egglift.ir.markup import html, tag
from egglift.ir.patterns import Expr
from egglift.ir.picture import STYLE, picture
from egglift.ir.text import pretty

LINES = 30  # of a text that stands for a program too large to be drawn


class Shown:
    """What a notebook shows of a value: the picture of its program, or the first lines of its text."""

    __slots__ = ()
    expr: Expr

    def _repr_html_(self) -> str:
        return html(tag("div", *drawn(self.expr), style="overflow-x: auto"))


def drawn(program: Expr) -> tuple[Element, ...]:
    """The picture of a program with its style; of one too large to be drawn, the first lines of its text."""
    svg = picture(program)
    return (tag("pre", shortened(pretty(program))),) if svg is None else (tag("style", STYLE), svg)


def shortened(text: str, most: int = LINES) -> str:
    """The first lines of a text, and how many more there are."""
    lines = text.splitlines()
    more = len(lines) - most
    return "\n".join([*lines[:most], f"... {more} more lines"]) if more > 0 else text
