"""Methods of values by NumPy's names, each of which is the function of that name: `x.reshape(2, 3)`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any, Self

import numpy as np

from egglift.ir.check import type_of
from egglift.ir.keywords import methods_explained
from egglift.ir.patterns import Expr
from egglift.ir.types import dims, leaves


@methods_explained
class NumPyMethods:
    """What NumPy's arrays have as methods too."""

    __slots__ = ()
    expr: Expr

    def _lengths(self) -> tuple[Any, ...]:
        return dims(type_of(self.expr))

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self._lengths())

    @property
    def size(self) -> Any:
        """How many elements it has."""
        return prod(self._lengths())

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the numbers in it; AttributeError of tuples, which have no one such."""
        (_, t), *others = leaves(type_of(self.expr))
        if others:
            raise AttributeError("dtype")
        return t.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one of its elements: of all parts of a tuple."""
        return sum(t.size for _, t in leaves(type_of(self.expr)))

    @property
    def nbytes(self) -> Any:
        """Bytes of all its elements."""
        lengths: list[tuple[tuple[Any, ...], int]] = [(s, t.size) for s, t in leaves(type_of(self.expr))]
        return sum(prod(shape) * size for shape, size in lengths)

    def reshape(self, *shape: int | Sequence[int]) -> Self:
        """The elements, row by row, in another shape: see `egglift.reshape`."""
        return _function("reshape", self, *shape)  # type: ignore[no-any-return]

    def ravel(self) -> Self:
        """All elements in one vector, row by row."""
        return _function("ravel", self)  # type: ignore[no-any-return]

    flatten = ravel

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """The array without axes of length 1."""
        return _function("squeeze", self, axis)  # type: ignore[no-any-return]

    @property
    def T(self) -> Self:
        """All axes in the reverse order: rows become columns; `el.transpose(x)` exchanges the outer two."""
        return self.transpose()

    def transpose(self, *axes: int | Sequence[int]) -> Self:
        """All axes in the reverse order, or in the one that is given."""
        return _function("transpose", self, *axes or reversed(range(self.ndim))) if self.ndim > 1 else self

    def roll(self, shift: int | Sequence[int], axis: int | Sequence[int] | None = 0) -> Self:
        """Every element so many places on, the last ones first: see `egglift.roll`."""
        return _function("roll", shift, self, axis)  # type: ignore[no-any-return]

    def concat(self, *others: Any, axis: int = 0) -> Self:
        """This array's elements, then the others', along an axis: see `egglift.concat`."""
        return _function("concat", self, *others, axis=axis)  # type: ignore[no-any-return]

    def repeat(self, repeats: int, axis: int | None = None) -> Self:
        """Each element repeated in its place: see `egglift.repeat`."""
        return _function("repeat", self, repeats, axis)  # type: ignore[no-any-return]

    def copy(self) -> Self:
        """The value itself: values do not change."""
        return self

    @property
    def mT(self) -> Self:
        """The last two axes exchanged."""
        return _function("matrix_transpose", self)  # type: ignore[no-any-return]

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Two axes exchanged."""
        return _function("swapaxes", self, axis1, axis2)  # type: ignore[no-any-return]

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """The place of the greatest element: see `egglift.argmax`."""
        return _function("argmax", self, axis, keepdims)  # type: ignore[no-any-return]

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """The place of the least element: see `egglift.argmin`."""
        return _function("argmin", self, axis, keepdims)  # type: ignore[no-any-return]

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """At least `min` and at most `max`."""
        return _function("clip", self, min, max)  # type: ignore[no-any-return]

    def dot(self, other: Any) -> Self:
        """NumPy's product: see `egglift.dot`."""
        return _function("dot", self, other)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0) -> Self:
        """Rounded to so many decimals, ties to even."""
        return _function("around", self, decimals)  # type: ignore[no-any-return]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The elements `x[i][i + offset]` of two axes: see `egglift.diagonal`."""
        return _function("diagonal", self, offset, axis1, axis2)  # type: ignore[no-any-return]

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dtype: Any = None) -> Self:
        """The sum of a diagonal of two axes: see `egglift.trace`."""
        return _function("trace", self, offset, axis1, axis2, dtype=dtype)  # type: ignore[no-any-return]

    @property
    def real(self) -> Self:
        """The real part of a complex number; of others, the number."""
        return _function("real", self)  # type: ignore[no-any-return]

    @property
    def imag(self) -> Self:
        """The imaginary part of a complex number; of others, 0."""
        return _function("imag", self)  # type: ignore[no-any-return]

    def conj(self) -> Self:
        """The complex conjugate; of others, the number."""
        return _function("conj", self)  # type: ignore[no-any-return]

    conjugate = conj


def _function(name: str, *args: Any, **named: Any) -> Any:
    """A function whose module needs values: all are there when there is a value."""
    return getattr(sys.modules["egglift"], name)(*args, **named)
