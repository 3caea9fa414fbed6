"""Derivations as HTML: what a law took away and what it put there are marked, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from egglift.ir.markup import Child, html, tag

if TYPE_CHECKING:  # an import of egglift loads no egglog
    from egglift.egraph.explanation.narrate import Change
    from egglift.egraph.rules.book import Law

#: of derivations, wherever they stand: tints that suit light and dark
STYLE = """
.el-derivation { max-width: 60rem; line-height: 1.5; }
.el-derivation pre { margin: .3rem 0; overflow-x: auto; line-height: 1.45; }
.el-derivation pre, .el-derivation code { font: 12.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.el-derivation ol { padding-left: 1.6rem; }
.el-derivation li { margin: .7rem 0; }
.el-derivation ul li { margin: .1rem 0; }
.el-derivation ins { background: #22c55e3d; text-decoration: none; border-radius: 3px; }
.el-derivation del { background: #ef44443d; text-decoration: none; border-radius: 3px; }
.el-derivation .equation { opacity: .8; }
"""
_BREAK = re.compile(r"(\n\s*)")
_WORDS = re.compile(r"\s+|[()]|[^\s()]+")
#: in the lines of an account, what the laws of loops put there: kept copies, blocks, and who executes a loop
_CHOSEN = re.compile(r"(?<= by )\S+(?=: )|(?<= )inside(?=: )|(?<=: )[^:]+$|keep operand .*")


def shown(*parts: Child) -> Element:
    """A derivation's frame."""
    return tag("div", *parts, class_="el-derivation")


def in_notebook(derivation: Element) -> str:
    """A derivation with its style."""
    return html(tag("div", tag("style", STYLE), derivation))


def listed(steps: Iterable[Element]) -> Element:
    """Steps, numbered."""
    return tag("ol", *steps)


def marked_law(law: Law, changes: Sequence[Change | str], count: int, again: bool = False) -> Element:
    """A step: a law, and what it changed at the first few of `count` places.  again: it was shown before."""
    head: list[Child] = [tag("strong", law.name), ", again" if again else f"  {law.cited}"]
    equation = None if again else tag("pre", law.equation, class_="equation")
    rows: list[Child] = [tag("pre", tag("ins", c)) if isinstance(c, str) else _change(c) for c in changes]
    more = tag("p", f"and {count - len(changes)} more") if count > len(changes) else None
    return tag("li", *head, equation, *rows, more)


def _change(c: Change) -> Element:
    """Before and after, and what the names in both stand for."""
    before, after = compared(c.before, c.after.replace("\n", "\n    "))
    rows: list[Child] = [*before, "\n  → ", *after]
    for i, (name, text) in enumerate(c.where):
        rows.append(f"\n{'where' if i == 0 else '     '} {name} = {text}")
    return tag("pre", *rows)


def compared(before: str, after: str) -> tuple[list[Child], list[Child]]:
    """Two texts in pieces: what only the first has is a `del`, what only the second has an `ins`."""
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    gone, new = list[Child](), list[Child]()
    for what, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone += _marked("del", "".join(a[i:j]), what == "equal")
        new += _marked("ins", "".join(b[k:m]), what == "equal")
    return gone, new


def _marked(kind: str, text: str, same: bool) -> list[Child]:
    """A piece of text in a mark, but for line breaks and what is the same."""
    pieces = _BREAK.split(text)
    return [piece if same or not piece.strip() else tag(kind, piece) for piece in pieces]


def marked_account(text: str, laws: Sequence[str]) -> Element:
    """Stages and their loops: what the laws of loops made of plain loops over single elements is marked."""
    rows = list[Child]()
    for line in text.splitlines():
        last = 0
        for m in _CHOSEN.finditer(line) if line.lstrip().startswith(("for ", "keep ")) else ():
            rows += [line[last : m.start()], tag("ins", m[0])]
            last = m.end()
        rows.append(line[last:] + "\n")
    by = f"Laws of loops that lead here from one plain loop for each dimension: {', '.join(laws)}." if laws else None
    return shown(tag("pre", *rows), tag("p", by) if by else None)
