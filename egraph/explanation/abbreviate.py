"""Programs as short texts for reading: types left out, projections as `arg[1][0]`, what is too long as `...`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from egglift.ir import patterns as p
from egglift.ir.layout import Doc, lines, one_line
from egglift.ir.patterns import Expr, Operator
from egglift.ir.printer import plain_name, type_text
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.syntax import head, parts
from egglift.ir.traverse import is_expr, subterms

WIDTH = 100
_HIDDEN = "..."


def outline(e: Expr, budget: int, names: Mapping[str, str] | None = None, width: int = WIDTH) -> str:
    """`e` in about `budget` characters, over lines of `width`.  names: other names for tile lengths.

    (map (fn [f32]4 (reduce add:f32 0.0:f32 arg)) x) -> (map (reduce add 0.0 arg) x)
    """
    return lines(_Outline(names or {}).of(e, budget), width)


def size_outline(size: Size, names: Mapping[str, str] | None = None) -> str:
    """A length: `(n+(k-1))/k` as `ceil(n/k)`."""
    match size:
        case Sym(name):
            return (names or {}).get(name, name)
        case SizeOp("/", SizeOp("+", a, SizeOp("-", b, 1)), c) if b == c:
            return f"ceil({size_outline(a, names)}/{size_outline(c, names)})"
        case SizeOp("/", a, SizeOp("*") as b):
            return f"({size_outline(a, names)}/({size_outline(b, names)}))"
        case SizeOp("*", a, b):
            return f"{size_outline(a, names)}*{size_outline(b, names)}"
        case SizeOp(op, a, b):
            return f"({size_outline(a, names)}{op}{size_outline(b, names)})"
    return str(size)


@dataclass
class _Outline:
    """Shares characters out among the parts of a program: short parts are shown whole, long ones as far as they go."""

    names: Mapping[str, str]
    lengths: dict[Expr, int] = field(default_factory=dict)

    def of(self, e: Expr, budget: int) -> Doc:
        for t in subterms(e):  # parts first: their lengths are known when the whole is measured
            self.lengths.setdefault(t, self._length(t))
        return self._doc(e, budget)

    def _length(self, e: Expr) -> int:
        atom = self._atom(e)
        if atom is not None:
            return len(atom)
        return len(head(e)) + 2 + sum(1 + self._part_length(v) for v in parts(e))

    def _part_length(self, part: object) -> int:
        return self.lengths[part] if is_expr(part) else len(self._text(part))  # type: ignore[index]

    def _doc(self, e: Expr, budget: int) -> Doc:
        atom = self._atom(e)
        if atom is not None:
            return atom
        slots = parts(e)
        lengths = self.lengths
        kids: list[Expr] = sorted((v for v in slots if is_expr(v)), key=lambda v: lengths[v])
        left = budget - lengths[e] + sum(lengths[v] for v in kids)
        if budget < lengths[e] and left < sum(min(len(_HIDDEN), lengths[v]) for v in kids):
            return _HIDDEN
        shown: dict[object, Doc] = {}
        for i, kid in enumerate(kids):
            shown[kid] = self._doc(kid, min(lengths[kid], left // (len(kids) - i)))
            left -= len(one_line(shown[kid]))
        return [head(e), *(shown[v] if is_expr(v) else self._text(v) for v in slots if self._text(v) or is_expr(v))]

    def _atom(self, e: Expr) -> str | None:
        match e:
            case p.Arg():
                return "arg"
            case p.Input(name):
                return plain_name(name)
            case p.Constant(t):
                return f"constant:{type_text(t)}"
            case p.Literal(value):
                return repr(value).lower()
            case p.Get(i, x) if (inner := self._atom(x)) is not None:
                return f"{inner}[{i}]"
        return None

    def _text(self, value: object) -> str:
        """A slot that is no program; types are left out."""
        match value:
            case Operator():
                return value.name
            case int() | Sym() | SizeOp():
                return size_outline(value, self.names)
            case str():
                return value
        return ""
