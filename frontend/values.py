"""Expressions of a nest as values of a program, given what is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from egglift.frontend.nest import Affine, Apply, Cast, CExpr, Index, Loop, Number, Read, form_of
from egglift.ir import composed, notation
from egglift.ir.functions import where
from egglift.ir.types import I32, I64, Scalar
from egglift.ir.value import Value, elementwise

#: what a read is at this iteration
Reader = Callable[[Read], Value]
COMPOSED: dict[str, Callable[..., Value]] = {"log10": composed.log10, "trunc": composed.trunc, "hypot": composed.hypot}
COMPOSED |= {"expm1": composed.expm1, "log1p": composed.log1p, "sinh": composed.sinh, "cosh": composed.cosh}


class Evaluation:
    """Expressions at one iteration.  counts: of the loops, as values; read: what elements are."""

    def __init__(self, counts: Mapping[Loop, Value], read: Reader) -> None:
        self._counts, self._read = counts, read
        self._known: dict[int, Value] = {}

    def of(self, e: CExpr) -> Value:
        """The value of an expression, of its type."""
        if id(e) not in self._known:
            self._known[id(e)] = self._value(e)
        return self._known[id(e)]

    def _value(self, e: CExpr) -> Value:
        match e:
            case Number(value, t):
                return notation.literal(value, t)
            case Index(form, t):
                return self.index(form, t)
            case Read():
                return self._read(e)
            case Cast(x, t):
                return self.of(x).cast(t)
            case Apply("cdiv", (a, b)):
                return self._quotient(a, b)
            case Apply("cmod", (a, b)):
                return self.of(a) - self._quotient(a, b) * self.of(b)
            case Apply("cfmin" | "cfmax" as op, (a, b)):
                u, v = self.of(a), self.of(b)  # of a number and NaN, the number
                return where((u < v if op == "cfmin" else u > v) | (v != v), u, v)
            case Apply(op, args) if op in COMPOSED:
                return COMPOSED[op](*map(self.of, args))
            case Apply(op, args):
                return elementwise(op, *map(self.of, args))

    def index(self, form: Affine, t: Scalar) -> Value:
        """An affine form as an integer."""
        small = all(-(1 << 31) <= end < 1 << 31 for end in form.range)
        wide = I32 if small else I64
        found: Value | None = None
        for loop, c in form.terms:
            count = self._counts[loop].cast(wide)
            term = count if c == 1 else count * c
            found = term if found is None else found + term
        if found is None:
            return notation.literal(form.constant, t)
        return (found + form.constant if form.constant else found).cast(t)

    def _quotient(self, a: CExpr, b: CExpr) -> Value:
        """Rounded towards zero, as C does."""
        x, y = self.of(a), self.of(b)
        down = x // y
        if not a.type.is_signed or (_is_positive(a) and _is_positive(b)):
            return down
        inexact = (x - down * y) != 0
        return down + (inexact & ((x < 0) != (y < 0))).cast(a.type)


def _is_positive(e: CExpr) -> bool:
    form = form_of(e)
    return form is not None and form.range[0] >= 0
