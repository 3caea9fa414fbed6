"""Reductions along axes, by NumPy's names, as methods of values: `A.sum(axis=0)`."""

from __future__ import annotations

from typing import Any, Self

from egglift.ir import patterns as p
from egglift.ir import promotion
from egglift.ir.axes import Axes, at_depth, axes_of, merged, permuted, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import methods_explained
from egglift.ir.lengths import Length
from egglift.ir.lifting import adapt, as_expr, lifted
from egglift.ir.operators import named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.text import brief
from egglift.ir.type_names import as_scalar
from egglift.ir.types import BOOL, F64, I64, U64, Scalar, dims


@methods_explained
class Reducing:
    """What values have of NumPy's reductions.

    axis: one axis, several, or None: all; negative axes count from the end.  With `keepdims`, axes that are reduced
    stay, with length 1, such that the result fits the array again.  where: bools, of the array's shape or repeated to
    it: elements where they are false are left out.  dtype: the type in which elements are combined, and the result's.
    initial: a number that is combined with them.  ShapeError where there is no such axis.
    """

    __slots__ = ()
    expr: Expr

    def __init__(self, expr: Expr) -> None:
        raise NotImplementedError

    def _of(self, e: Expr) -> Self:
        type_of(e)
        return type(self)(e)

    def sum(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: Any = None, initial: Any = None, where: Any = None
    ) -> Self:
        """The sum along axes.  As in NumPy, bools and signed integers are added in i64, unsigned ones in u64.

        f16 and bf16 are added in f32, and the sum is rounded: `x.cast(f32).sum()` is the sum as it is then.

        A.sum(axis=0) -> map (reduce (+) 0) (transpose A)
        """
        return self._of(_total("add", self.expr, axis, keepdims, dtype, initial, where))

    def prod(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: Any = None, initial: Any = None, where: Any = None
    ) -> Self:
        """The product along axes.  As in NumPy, bools and signed integers are multiplied in i64, unsigned in u64."""
        return self._of(_total("mul", self.expr, axis, keepdims, dtype, initial, where))

    def min(self, axis: Axes = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Self:
        """The least element along axes, NaN where there is one, or `initial` if that is less.

        ShapeError of no elements, and with `where`, unless there is an `initial`.
        """
        return self._of(_extreme("minimum", self.expr, axis, keepdims, initial, where))

    def max(self, axis: Axes = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Self:
        """The greatest element along axes, NaN where there is one, or `initial` if that is greater.

        ShapeError of no elements, and with `where`, unless there is an `initial`.
        """
        return self._of(_extreme("maximum", self.expr, axis, keepdims, initial, where))

    def any(self, axis: Axes = None, keepdims: bool = False, *, where: Any = None) -> Self:
        """Is there an element that is true (not 0)?"""
        return self._of(_reduced("logical_or", recast(self.expr, BOOL), axis, keepdims, where))

    def all(self, axis: Axes = None, keepdims: bool = False, *, where: Any = None) -> Self:
        """Are all elements true (not 0)?"""
        return self._of(_reduced("logical_and", recast(self.expr, BOOL), axis, keepdims, where))

    def mean(self, axis: Axes = None, keepdims: bool = False, *, dtype: Any = None, where: Any = None) -> Self:
        """The mean along axes: of integers and bools in f64, of f16 and bf16 computed in f32; NaN of no elements."""
        e = _of_floats(self.expr, dtype)
        return self._of(narrowed(e, _mean(_floats(e), axis, keepdims, where)))

    def var(
        self, axis: Axes = None, ddof: float = 0, keepdims: bool = False, *, dtype: Any = None, where: Any = None
    ) -> Self:
        """The variance along axes: the squared distances from the mean, added and divided by their number - ddof.

        Of complex numbers too, it is a float.
        """
        e = _of_floats(self.expr, dtype)
        return self._of(narrowed(e, _variance(e, axis, ddof, keepdims, where)))

    def std(
        self, axis: Axes = None, ddof: float = 0, keepdims: bool = False, *, dtype: Any = None, where: Any = None
    ) -> Self:
        """The standard deviation along axes: the square root of `var`."""
        e = _of_floats(self.expr, dtype)
        return self._of(narrowed(e, lifted("sqrt", [_variance(e, axis, ddof, keepdims, where)])))


def narrowed(x: Expr, e: Expr) -> Expr:
    """What was computed in f32 because the elements of `x` are narrower, as such again."""
    t = scalar_of_elements(x)
    return recast(e, t if t.is_narrow else None)


def _total(op: str, e: Expr, axis: Axes, keepdims: bool, dtype: Any, initial: Any, where: Any) -> Expr:
    """Elements added or multiplied as NumPy does it, in the type that is given or else the one that NumPy takes."""
    if dtype is None:
        found = narrowed(e, _reduced(op, accumulated(e), axis, keepdims, where))
    else:
        t = as_scalar(dtype)
        found = recast(_reduced(op, recast(recast(e, t), t.computed), axis, keepdims, where), t)
    return found if initial is None else lifted(op, [found, adapt(initial, scalar_of_elements(found))])


def _reduced(op: str, e: Expr, axis: Axes, keepdims: bool, where: Any = None) -> Expr:
    """`e` reduced along axes, which are brought to the end and read as one.  A scalar is its own reduction."""
    if keepdims not in (True, False):
        raise TypeMismatch(f"keepdims must be True or False, not {keepdims!r}; what comes after it is given by name")
    operator = named(op, scalar_of_elements(e))
    assert operator.neutral is not None  # all named operators have one
    return reduced(operator, operator.neutral, e, axis, keepdims, where)


def reduced(operator: Operator, start: Expr, e: Expr, axis: Axes, keepdims: bool, where: Any) -> Expr:
    """`e` reduced along axes by an operator.  start: what a reduction begins with, and what elements that are left out
    are taken for."""
    if where is not None:
        e = lifted("where", [_mask(e, where), e, start])
    axes, rank = axes_of(e, axis), len(dims(type_of(e)))

    def whole(part: Expr) -> Expr:
        return p.Reduce(operator, start, merged(part, 0, len(axes)))

    others = [a for a in range(rank) if a not in axes]
    found = at_depth(len(others), permuted(e, range(rank), [*others, *axes]), whole) if axes else e
    for a in axes if keepdims else ():
        found = at_depth(a, found, lambda part: p.Fill(1, part))
    return found


def _mask(e: Expr, where: Any) -> Expr:
    """Bools that choose elements of `e`; ShapeError where they would repeat it."""
    mask = recast(as_expr(where), BOOL)
    own, given = dims(type_of(e)), dims(type_of(mask))
    if len(given) > len(own) or any(m not in (1, n) for n, m in zip(reversed(own), reversed(given))):
        raise ShapeError(f"where= of shape {given} for {brief(e)}, of shape {own}: it must be that, or 1 along an axis")
    return mask


def _extreme(op: str, e: Expr, axis: Axes, keepdims: bool, initial: Any, where: Any) -> Expr:
    _require_axes(op, e, axis)
    t, lengths = scalar_of_elements(e), dims(type_of(e))
    if initial is None and (where is not None or any(lengths[a] == 0 for a in axes_of(e, axis))):
        few = "there may be none" if where is not None else f"it is {type_of(e)}"
        raise ShapeError(f"{op} of {brief(e)}: {few}, and no elements have no {op}; pad it first, or give initial=")
    name = _of_bools(op) if t == BOOL else op
    found = _reduced(name, e, axis, keepdims, where)
    return found if initial is None else lifted(name, [found, adapt(initial, t)])


def _require_axes(op: str, e: Expr, axis: Axes) -> None:
    """What `axes_of` refuses, with the function that the second argument may have been meant for."""
    try:
        axes_of(e, axis)
    except (ShapeError, TypeMismatch) as error:
        own, which = op.removesuffix("imum"), "greater" if op == "maximum" else "lesser"
        advice = f"the second argument of {own} is an axis; the {which} of two, element by element, is el.{op}(x, y)"
        raise type(error)(f"{error}; {advice}") from None


def _of_bools(op: str) -> str:
    return "logical_and" if op == "minimum" else "logical_or"


def _mean(e: Expr, axis: Axes, keepdims: bool, where: Any = None) -> Expr:
    return _share(_reduced("add", e, axis, keepdims, where), _counted(e, axis, keepdims, where))


def _variance(e: Expr, axis: Axes, ddof: float, keepdims: bool, where: Any = None) -> Expr:
    e = _floats(e)
    apart = lifted("sub", [e, _mean(e, axis, True, where)])
    squares = _reduced("add", squared(apart), axis, keepdims, where)
    if where is None:
        return _share(squares, max(_count(e, axis) - ddof, 0))
    fewer = lifted("sub", [_counted(e, axis, keepdims, where), float(ddof)])
    return lifted("div", [squares, lifted("maximum", [fewer, 0.0])])


def squared(e: Expr) -> Expr:
    """The squares of numbers; of complex numbers, of their absolute values."""
    if not scalar_of_elements(e).is_complex:
        return lifted("mul", [e, e])
    parts = [lifted(part, [e]) for part in ("real", "imag")]
    return lifted("add", [lifted("mul", [x, x]) for x in parts])


def _counted(e: Expr, axis: Axes, keepdims: bool, where: Any) -> Expr | int:
    """How many elements there are along the axes: a number, or with a mask one for each place, as floats."""
    if where is None:
        return _count(e, axis)
    ones = at_depth(len(dims(type_of(e))), e, lambda v: promotion.literal(1.0, scalar_of_elements(v).part))
    return _reduced("add", ones, axis, keepdims, where)


def _share(total: Expr, count: Expr | float) -> Expr:
    return lifted("div", [total, float(count) if isinstance(count, int) and not isinstance(count, Length) else count])


def _count(e: Expr, axis: Axes) -> int:
    lengths, n = dims(type_of(e)), 1
    for a in axes_of(e, axis):
        length = lengths[a]
        assert isinstance(length, int)  # lengths in the notation are numbers
        n *= length
    return n


def accumulated(e: Expr) -> Expr:
    """`e` in the type in which NumPy adds and multiplies its elements."""
    t = scalar_of_elements(e)
    return recast(e, t.computed if t.is_inexact else I64 if t.is_signed or t == BOOL else U64)


def _floats(e: Expr) -> Expr:
    t = scalar_of_elements(e)
    return recast(e, t.computed if t.is_inexact else F64)


def _of_floats(e: Expr, dtype: Any) -> Expr:
    """`e` as a float type that is given, or as it is."""
    if dtype is None:
        return e
    t = as_scalar(dtype)
    if not t.is_inexact:
        raise TypeMismatch(f"a mean or variance of {brief(e)} in {t}: give a float type, and cast the result")
    return recast(e, t)


def recast(e: Expr, t: Scalar | None) -> Expr:
    """The elements of `e` as `t`; None: as they are."""
    if t is None or t == scalar_of_elements(e):
        return e
    return at_depth(len(dims(type_of(e))), e, lambda v: promotion.cast(v, t))
