"""Methods of values by NumPy's names, each of which is the function of that name: `x.reshape(2, 3)`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any, Self

from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import dims


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

    def swapaxes(self, first: int, second: int) -> Self:
        """Two axes exchanged."""
        return _function("swapaxes", self, first, second)  # type: ignore[no-any-return]

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """The place of the greatest element: see `egglift.argmax`."""
        return _function("argmax", self, axis, keepdims)  # type: ignore[no-any-return]

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """The place of the least element: see `egglift.argmin`."""
        return _function("argmin", self, axis, keepdims)  # type: ignore[no-any-return]

    def clip(self, low: Any = None, high: Any = None) -> Self:
        """At least `low` and at most `high`."""
        return _function("clip", self, low, high)  # type: ignore[no-any-return]

    def dot(self, other: Any) -> Self:
        """NumPy's product: see `egglift.dot`."""
        return _function("dot", self, other)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0) -> Self:
        """Rounded to so many decimals, ties to even."""
        return _function("around", self, decimals)  # type: ignore[no-any-return]

    def diagonal(self, k: int = 0) -> Self:
        """The elements `x[i][i + k]` of a matrix."""
        return _function("diagonal", self, k)  # type: ignore[no-any-return]

    def trace(self, k: int = 0) -> Self:
        """The sum of a diagonal of a matrix."""
        return _function("trace", self, k)  # type: ignore[no-any-return]

    def conj(self) -> Self:
        """x, which is real."""
        return _function("conj", self)  # type: ignore[no-any-return]

    conjugate = conj


def _function(name: str, *args: Any) -> Any:
    """A function whose module needs values: all are there when there is a value."""
    return getattr(sys.modules["egglift"], name)(*args)
