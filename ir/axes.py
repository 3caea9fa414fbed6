"""Axes of nested arrays: to work below some of them, and to bring some of them to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from egglift.ir import patterns as p
from egglift.ir import trace
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import dims

#: one axis, several, or all; negative ones count from the end
Axes: TypeAlias = "int | Sequence[int] | None"


def axes_of(e: Expr, axis: Axes) -> tuple[int, ...]:
    """The axes that `axis` names, in ascending order; ShapeError where `e` has no such axis, or one is named twice."""
    rank = len(dims(type_of(e)))
    given = range(rank) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    found = []
    for a in given:
        if isinstance(a, bool) or not hasattr(a, "__index__"):
            raise TypeMismatch(f"an axis must be a whole number, not {a!r}")
        if not -rank <= a < rank:
            raise ShapeError(f"{brief(e)} is {type_of(e)}: it has no axis {a}; there are {rank}, counted from 0")
        found.append(int(a) % rank)
    if len(set(found)) < len(found):
        raise ShapeError(f"{brief(e)}: axis {axis} names an axis twice")
    return tuple(sorted(found))


def below(e: Expr, depth: int, f: Callable[[Expr], Expr]) -> Expr:
    """`f` below the first `depth` axes: `map (map f) e` for two."""
    return trace.map_body(lambda part: below(part, depth - 1, f), e) if depth else f(e)


def to_the_end(e: Expr, axes: Sequence[int]) -> Expr:
    """`e` with `axes`, which ascend, as its last ones, by exchanges of neighbours.

    axis 0 of a matrix: e -> transpose e
    """
    rank = len(dims(type_of(e)))
    if list(axes) == list(range(rank - len(axes), rank)):
        return e
    for moved, axis in enumerate(axes):
        for at in range(axis - moved, rank - 1):
            e = below(e, at, p.Transpose)
    return e


def as_one(e: Expr, count: int) -> Expr:
    """The first `count` axes as one: e -> join e, for two."""
    for _ in range(count - 1):
        e = p.Join(e)
    return e
