"""The text form of programs: how they are stored, shown and replayed.

    (let ((x (input x [f32]8)))
      (reduce add:f32 0.0:f32
        (map (fn f32 (mul arg 2.0:f32)) x)))

Every pattern is one list whose head is its name; `fn T` introduces a body whose argument `arg` has type T;
`let` names what is shared; `;` starts a comment.  parser.py reads it: `loads(dumps(e)) is e` for every program.
"""

from __future__ import annotations

from typing import Any

from egglift.ir import patterns as p
from egglift.ir.errors import TypeMismatch
from egglift.ir.layout import lines, one_line
from egglift.ir.node import Node
from egglift.ir.patterns import Expr, Operator
from egglift.ir.printer import document, plain_name, size_text, type_text
from egglift.ir.syntax import head, parts
from egglift.ir.traverse import is_expr


def dumps(e: Any) -> str:
    """The program (an expression, or a Value of it) as one line of text.  `loads` gives the very same one back."""
    return one_line(document(_expr(e)))


def pretty(e: Any, width: int = 100) -> str:
    """The program as indented lines, for reading.  The same text form; only large constants are shortened."""
    return lines(document(_expr(e), elide=True), width)


def _expr(e: Any) -> Expr:
    found: Expr = getattr(e, "expr", e)
    if not is_expr(found):
        raise TypeMismatch(f"{e!r} ({type(e).__name__}) is not a program")
    return found


def brief(e: object, limit: int = 100) -> str:
    """A short text of `e` for messages, at most `limit` characters, types left out.  Never raises."""
    try:
        for depth in (8, 6, 5, 4, 3, 2, 1):
            text = _short(e, depth, [4 * limit])
            if len(text) <= limit:
                return text
        return text[: max(limit - 3, 0)] + "..."
    except Exception:
        return f"<{type(e).__name__}>"


def _short(e: Any, depth: int, budget: list[int]) -> str:
    """`e` down to `depth` levels; `budget` holds how many characters may still be spent."""
    match e:
        case p.Arg():
            return "arg"
        case p.Input():
            return plain_name(e.name)
        case p.Literal():
            return repr(e.value).lower()
        case p.Constant():
            return f"(constant {type_text(e.type)})"
        case Operator():
            return e.name
    if not is_expr(e):
        return _atom(e)
    if depth == 0 or budget[0] < 0:
        return "..."
    shown = [head(e)]
    for value in parts(e):
        if value is not None:
            shown.append(_short(value, depth - 1, budget))
            budget[0] -= len(shown[-1]) + 1
    return f"({' '.join(shown)})"


def _atom(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return size_text(value)  # type: ignore[arg-type]
    except Exception:
        return str(value)


def _representation(e: object) -> str:
    """A short text, for a full one would be as long as the program's tree."""
    return f"<{brief(e)}>"


Node.__repr__ = _representation  # type: ignore[method-assign]
