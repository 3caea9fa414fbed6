"""Scans along axes: all partial results of a reduction; by NumPy's names, as methods of values: `A.cumsum(axis=1)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.axes import axis_of, length_of, merged, permuted, scalar_of_elements
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError
from egglift.ir.keywords import methods_explained
from egglift.ir.operators import named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.reducing import accumulated, narrowed, recast
from egglift.ir.text import brief
from egglift.ir.type_names import as_scalar
from egglift.ir.types import BOOL, Array, Type, dims


@methods_explained
class Scanning:
    """What values have of NumPy's accumulations.

    axis: an axis, negative ones count from the end; None: all elements, row by row, as one vector.  ShapeError where
    there is no such axis.
    """

    __slots__ = ()
    expr: Expr

    def __init__(self, expr: Expr) -> None:
        raise NotImplementedError

    def cumsum(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """The sums of all elements up to each.  As in NumPy, bools and signed integers are added in i64, unsigned ones
        in u64.

        A.cumsum(axis=1) -> map (scan (+) 0) A
        """
        return self._summed("add", axis, dtype)

    def cumprod(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """The products of all elements up to each.  Integers are multiplied in i64 or u64, as in NumPy."""
        return self._summed("mul", axis, dtype)

    def cummax(self, axis: int | None = None) -> Self:
        """The greatest element up to each: `np.maximum.accumulate`; NaN from the first NaN on."""
        is_bool = scalar_of_elements(self.expr) == BOOL
        return self._accumulated("logical_or" if is_bool else "maximum", self.expr, axis)

    def cummin(self, axis: int | None = None) -> Self:
        """The least element up to each: `np.minimum.accumulate`; NaN from the first NaN on."""
        is_bool = scalar_of_elements(self.expr) == BOOL
        return self._accumulated("logical_and" if is_bool else "minimum", self.expr, axis)

    def _summed(self, op: str, axis: int | None, dtype: Any) -> Self:
        if dtype is None:
            return self._accumulated(op, accumulated(self.expr), axis)
        own = type(self)(recast(self.expr, as_scalar(dtype)))
        return own._accumulated(op, recast(own.expr, scalar_of_elements(own.expr).computed), axis)

    def _accumulated(self, op: str, e: Expr, axis: int | None) -> Self:
        operator = named(op, scalar_of_elements(e))
        assert operator.neutral is not None  # all named operators have one
        if axis is None:
            rank = len(dims(type_of(e)))
            e, axis = merged(e, 0, rank) if rank else p.Fill(1, e), 0
        found = scanned(operator, operator.neutral, e, axis, False, False)
        type_of(found)
        return type(self)(narrowed(self.expr, found))


def element_at_depth(e: Expr) -> Type:
    """The type of what a scan of `e` combines: of the elements of its innermost arrays.  ShapeError of no array."""
    t = type_of(e)
    if not isinstance(t, Array):
        raise ShapeError(f"{brief(e)} is {t}: a scan goes along an axis of an array")
    while isinstance(t, Array):
        t = t.element
    return t


def scanned(op: Operator, init: Expr, e: Expr, axis: int, exclusive: bool, reverse: bool) -> Expr:
    """`e` with every vector along an axis scanned.  The axis is brought to the end, and back."""
    axes, rank = (axis_of(e, axis),), len(dims(type_of(e)))
    order = [*(a for a in range(rank) if a not in axes), *axes]

    def one(row: Expr) -> Expr:
        turned = backwards(row) if reverse else row
        found = _exclusive(op, init, turned) if exclusive else p.Scan(op, init, turned)
        return backwards(found) if reverse else found

    found = _at_depth(rank - 1, permuted(e, range(rank), order), one)
    return permuted(found, order, range(rank))


def _exclusive(op: Operator, init: Expr, x: Expr) -> Expr:
    """Each element's predecessors only, `[z, z + x0, ...]`.  With a neutral element e the scan of `[e, x0, ...]`: what
    is shifted is read so; else the result is."""
    n = length_of(x)
    assert isinstance(n, int)  # lengths in the notation are numbers
    if n == 0:
        return x
    if op.neutral is None:
        return p.Pad(1, 0, "constant", p.Take(n - 1, p.Scan(op, init, x)), init)
    return p.Scan(op, init, p.Pad(1, 0, "constant", p.Take(n - 1, x), op.neutral))


def _at_depth(depth: int, x: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`f`, which may capture what it likes, on each part of `x` that lies so many axes down."""
    return trace.map_body(lambda row: _at_depth(depth - 1, row, f), x, "row") if depth else f(x)
