"""Elements of stages that are short arrays, and their numbers apart from each other."""

from __future__ import annotations

from egglift.egraph.stages.stage import Stage
from egglift.ir.axes import permuted
from egglift.ir.patterns import Expr
from egglift.ir.types import Array, Scalar, Type


def in_planes(array: Expr, stage: Stage, at: int) -> Expr:
    """An array of a stage's elements, one after the other, with the axes of the elements before a dimension."""
    own = [-1 - k for k in range(depth(stage.element))]
    dims = [d.number for d in stage.array_dims]
    return permuted(array, (*dims, *own), (*dims[:at], *own, *dims[at:]))


def laid_out(array: Expr, stage: Stage) -> Expr:
    """An array of a stage's elements, one after the other, as the stage yields it."""
    return array if stage.planes is None else in_planes(array, stage, stage.planes)


def is_short_array(t: Type) -> bool:
    """Is it an array of scalars, or of such arrays?"""
    return isinstance(t, Array) and (isinstance(t.element, Scalar) or is_short_array(t.element))


def depth(t: Type) -> int:
    """How many axes an array has."""
    return 1 + depth(t.element) if isinstance(t, Array) else 0
