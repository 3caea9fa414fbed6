"""Programs as short texts for reading: types left out, projections as `arg[1][0]`, deep parts as `...`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from egglift.ir import patterns as p
from egglift.ir.layout import Doc, lines, one_line
from egglift.ir.patterns import Expr, Operator
from egglift.ir.printer import plain_name
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.syntax import form_of
from egglift.ir.traverse import bodies, children, is_expr

WIDTH = 100
DEEPEST = 16


def outline(e: Expr, names: Mapping[str, str], most: int = 6, width: int = WIDTH) -> str:
    """`e` on at most `most` lines, as deep as they allow.  names: other names for tile lengths.

    (map (fn [f32]4 (reduce add:f32 0.0:f32 arg)) x) -> (map (reduce add 0.0 arg) x)
    """
    text = ""
    for depth in range(1, DEEPEST):
        doc = _doc(e, depth, names)
        longer = one_line(doc) if most == 1 else lines(doc, width)
        if text and (longer.count("\n") >= most or (most == 1 and len(longer) > width)):
            break
        if longer == text:
            break
        text = longer
    return text


def size_outline(size: Size, names: Mapping[str, str]) -> str:
    """A length: `(n+(k-1))/k` as `ceil(n/k)`."""
    match size:
        case Sym(name):
            return names.get(name, name)
        case SizeOp("/", SizeOp("+", a, SizeOp("-", b, 1)), c) if b == c:
            return f"ceil({size_outline(a, names)}/{size_outline(c, names)})"
        case SizeOp("*", a, b):
            return f"{size_outline(a, names)}*{size_outline(b, names)}"
        case SizeOp(op, a, b):
            return f"({size_outline(a, names)}{op}{size_outline(b, names)})"
    return str(size)


def _doc(e: Expr, depth: int, names: Mapping[str, str]) -> Doc:
    match e:
        case p.Arg():
            return "arg"
        case p.Input(name):
            return plain_name(name)
        case p.Literal(value):
            return repr(value).lower()
        case p.Get(i, x) if isinstance(inner := _doc(x, depth, names), str) and inner != "...":
            return f"{inner}[{i}]"
    if depth == 0:
        return "..."
    shown: list[Doc] = [head(e)]
    deeper = depth - (len(children(e)) + len(bodies(e)) > 1)  # chains of views do not count
    for value in _slots(e):
        if is_expr(value):
            shown.append(_doc(value, deeper, names))  # type: ignore[arg-type]
        elif isinstance(value, Operator):
            shown.append(value.name)
        elif isinstance(value, int | Sym | SizeOp):
            shown.append(size_outline(value, names))
        elif isinstance(value, str):
            shown.append(value)
    return shown


def head(e: Expr) -> str:
    """The name of a pattern in the text form: `mapLocal0`, `toPrivate`, `add`."""
    return form_of(e).head


def _slots(e: Expr) -> list[object]:
    """What a pattern consists of, in the order of the text form."""
    try:
        values = [getattr(e, name) for name, _ in form_of(e).slots]
    except KeyError:
        values = [getattr(e, f.name) for f in fields(e)]
    return [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
