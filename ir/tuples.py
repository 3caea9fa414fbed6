"""Several values as one, and the parts of one that may be several: what there is one of stands alone, in no tuple."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import Tuple, Type


def as_one(xs: Sequence[Expr]) -> Expr:
    """Several values as a tuple; one as it is."""
    return xs[0] if len(xs) == 1 else p.Tup(tuple(xs))


def type_as_one(types: Sequence[Type]) -> Type:
    """The type of `as_one` of values of these types."""
    return types[0] if len(types) == 1 else Tuple(tuple(types))


def parts_of(x: Expr, count: int) -> list[Expr]:
    """The `count` values of which `x` is made by `as_one`."""
    return [x] if count == 1 else [p.Get(k, x) for k in range(count)]


def zipped(arrays: Sequence[Expr]) -> Expr:
    """Several arrays of one length as an array of tuples; one as it is."""
    return arrays[0] if len(arrays) == 1 else p.Zip(tuple(arrays))
