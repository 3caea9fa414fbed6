"""Run-time lengths from the shapes of a call's arguments.

x: [f32]n, y: [f32](n - 1)   called with 1000 and 999 elements   ->   n = 1000
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from egglift.ir.errors import ArgumentError, ProgramError
from egglift.ir.length_forms import Form, RunTimeLength
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import lengths_of, said
from egglift.ir.signature import inputs_of
from egglift.ir.types import Array, Tuple, Type, leaves


@dataclass(frozen=True)
class Axis:
    """An axis of an input whose length is an expression; unknown: the length n of which it is `k*n + c`."""

    input: str
    place: int
    form: Form
    unknown: RunTimeLength | None

    def where(self, actual: int) -> str:
        """What a call says, for messages."""
        return f"axis {self.place} of input {self.input} has {actual} elements"

    def length(self, n: RunTimeLength, actual: int) -> int:
        """The length of which the axis has so many elements; ArgumentError where there is none."""
        terms = {len(product): k for product, k in self.form.terms}
        parts = (actual - terms.get(0, 0)) * n.multiple
        if parts % terms[1]:
            raise ArgumentError(
                f"{self.where(actual)}, which is {self.form.inner} for no {n.name}; it may be {said(n)}"
            )
        return parts // terms[1]


class CalledLengths:
    """The run-time lengths of a program's inputs, found for each call.

    ProgramError where a length is not said by the shape of any input.
    """

    def __init__(self, e: Expr) -> None:
        self.types = inputs_of(e)
        axes = [a for name, t in self.types.items() for a in _axes(name, t)]
        self.axes = sorted(axes, key=lambda a: (a.unknown is None, len(a.form.terms)))  # lengths themselves first
        self.lengths = lengths_of(e)
        told = {a.unknown for a in axes}
        for n in self.lengths:
            if n not in told:
                raise ProgramError(
                    f"the length {n.name} is not that of any input, so that no call says what it is; give it one: "
                    f'el.array("...", ..., {n.name})'
                )

    def of(self, given: Mapping[str, Any]) -> dict[RunTimeLength, int]:
        """The lengths that a call's arguments say; ArgumentError where they disagree, or leave the range."""
        shapes = {a.input: self._shape(a.input, given) for a in self.axes}
        found: dict[RunTimeLength, int] = {}
        by: dict[RunTimeLength, str] = {}
        for axis in self.axes:
            actual = shapes[axis.input][axis.place]
            n = axis.unknown
            if n is not None and n not in found:
                found[n], by[n] = axis.length(n, actual), axis.where(actual)
            elif axis.form.number(found) != actual:
                raise _disagree(axis, actual, found, by)
        for n, value in found.items():
            if not n.has(value):
                raise ArgumentError(f"{by[n]}, so that {n.name} is {value}; it may be {said(n)}")
        return found

    def _shape(self, name: str, given: Mapping[str, Any]) -> tuple[int, ...]:
        t = self.types[name]
        value = _longest(given.get(name), t)
        shape = value.shape if hasattr(value, "shape") else None if hasattr(value, "int_ptr") else np.shape(value)
        if shape is None:
            raise ArgumentError(
                f"input {name} is a buffer without a shape, which says no length; give a pyopencl Array"
            )
        if len(shape) != max(len(own) for own, _ in leaves(t)):
            raise ArgumentError(f"input {name} has shape {tuple(shape)}, but the program takes {t}")
        return tuple(shape)


def _disagree(axis: Axis, actual: int, found: dict[RunTimeLength, int], by: dict[RunTimeLength, str]) -> ArgumentError:
    if (n := axis.unknown) is not None:
        return ArgumentError(
            f"{n.name} is {found[n]} where {by[n]}, and {axis.length(n, actual)} where {axis.where(actual)}"
        )
    numbers = ", ".join(
        f"{n.name} is {found[n]} where {by[n]}" for n in sorted(axis.form.lengths, key=lambda n: n.name)
    )
    return ArgumentError(f"{axis.where(actual)}, and not {axis.form.inner} = {axis.form.number(found)}: {numbers}")


def _axes(name: str, t: Type) -> list[Axis]:
    shape = max((shape for shape, _ in leaves(t)), key=len)
    return [Axis(name, i, n.form, _unknown(n.form)) for i, n in enumerate(shape) if isinstance(n, Length)]


def _unknown(form: Form) -> RunTimeLength | None:
    """The length of which a form is `k*n + c`, or None."""
    products = [product for product, _ in form.terms if product]
    if len(products) == 1 and len(products[0]) == 1 and isinstance(products[0][0], RunTimeLength):
        return products[0][0]
    return None


def _longest(given: Any, t: Type) -> Any:
    """The first array of an argument that has all axes of its input; None where there is none."""
    match t:
        case Array(_, element):
            return _longest(given, element)
        case Tuple(items):
            if not isinstance(given, tuple | list) or len(given) != len(items):
                return None
            depths = [max(len(shape) for shape, _ in leaves(item)) for item in items]
            at = depths.index(max(depths))
            return _longest(given[at], items[at])
    return given
