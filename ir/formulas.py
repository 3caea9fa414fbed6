"""Scalar bodies as formulas: `(mul arg 2.0)` as `arg * 2`, for pictures and short texts."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.plain_numbers import plain
from egglift.ir.printer import plain_name
from egglift.ir.types import BOOL

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=="}
LONGEST, DEEPEST = 72, 12  # characters of a formula, functions within each other


def formula(e: Expr) -> str | None:
    """A body of scalar functions alone, in infix; None where it is more than that, or too long to be read at once."""
    text = _text(e, DEEPEST)
    return None if text is None or len(bare(text)) > LONGEST else bare(text)


def bare(text: str) -> str:
    """A text without the brackets around all of it: `bare("(a + b)") == "a + b"`, `bare("(a) + (b)")` as it is."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            wrapped = i == len(text) - 1 and text.startswith("(")
            return text[1:-1] if wrapped else text
    return text


def _text(e: Expr, depth: int) -> str | None:
    if depth == 0:
        return None
    match e:
        case p.Arg():
            return "arg"
        case p.Input(name):
            return plain_name(name)
        case p.Literal(value, t):
            return str(value).lower() if t == BOOL else plain(value)
        case p.Get(i, x) | p.At(int() as i, x):
            inner = _text(x, depth - 1)
            return None if inner is None else f"{inner}[{i}]"
        case p.Cast(t, x):
            return _call(str(t), (x,), depth)
        case p.Tup(items):
            return _call("", items, depth)
        case p.Apply(op, args):
            return _call(op, args, depth)
    return None


def _call(name: str, args: tuple[Expr, ...], depth: int) -> str | None:
    """A function of formulas; None as soon as one argument is none, or all are too long together."""
    texts = list[str]()
    for a in args:
        text = _text(a, depth - 1)
        if text is None or sum(map(len, texts)) > 2 * LONGEST:
            return None
        texts.append(text)
    if name in _INFIX:
        return f"({texts[0]} {_INFIX[name]} {texts[1]})"
    return f"{name}({', '.join(map(bare, texts))})"
