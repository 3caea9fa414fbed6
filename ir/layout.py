"""Laying out nested lists as one line or as indented lines.  Iterative: programs may be deep."""

from __future__ import annotations

from typing import TypeAlias

#: an atom, or a list that is printed in parentheses
Doc: TypeAlias = "str | list[Doc]"


def one_line(doc: Doc) -> str:
    """`(a (b c) d)`."""
    out: list[str] = []
    stack: list[Doc] = [doc]
    while stack:
        d = stack.pop()
        if isinstance(d, str):
            out.append(d)
            continue
        out.append("(")
        rest: list[Doc] = [")"]
        for i, part in enumerate(reversed(d)):
            rest.append(part)
            if i < len(d) - 1:
                rest.append(" ")
        stack.extend(rest)
    return "".join(out)


def lines(doc: Doc, width: int) -> str:
    """A list that does not fit into `width` columns is broken: each list inside it begins a line of its own.

    `(map f x)` stays; a long one becomes `(map` `  (fn ...)` `  x)`: atoms stay beside the head.
    """
    widths = _widths(doc)
    out: list[str] = []
    stack: list[tuple[Doc, int, int]] = [(doc, 0, 0)]  # part, its column, characters that must follow it
    while stack:
        d, column, tail = stack.pop()
        if isinstance(d, str):
            out.append(d)
        elif column + widths[id(d)] + tail <= width or not d:
            out.append(one_line(d))
        else:
            stack.extend(reversed(_broken(d, column, tail)))
    return "".join(out)


def _broken(d: list[Doc], column: int, tail: int) -> list[tuple[Doc, int, int]]:
    """The parts of a list over several lines.  Deep nesting stops moving to the right after 60 columns."""
    inner = min(column + 2, 60)
    parts: list[tuple[Doc, int, int]] = [("(", column, 0)]
    opened = False  # has a line been broken yet
    for i, part in enumerate(d):
        last = i == len(d) - 1
        if i and (opened or isinstance(part, list)):
            parts.append(("\n" + " " * inner, 0, 0))
            opened = True
        elif i:
            parts.append((" ", 0, 0))
        parts.append((part, inner if i else column + 1, tail + 1 if last else 0))
    parts.append((")", 0, 0))
    return parts


def _widths(doc: Doc) -> dict[int, int]:
    """The one-line width of every list in `doc`, by id."""
    found: dict[int, int] = {}
    stack: list[tuple[Doc, bool]] = [(doc, False)]
    while stack:
        d, done = stack.pop()
        if isinstance(d, str):
            continue
        if done:
            inner = sum(len(x) if isinstance(x, str) else found[id(x)] for x in d)
            found[id(d)] = inner + max(len(d) - 1, 0) + 2
        else:
            stack.append((d, True))
            stack.extend((x, False) for x in d)
    return found
