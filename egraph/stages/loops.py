"""Loops over arrays that are read together: maps and folds whose bodies are closed.

A loop goes through the outermost axis of every tensor that has it; the others are handed in (`distl`):

    mapped(d, [A[d, k], b[d], c[k]], f)  ->  map (\\<c, <a, b>>. f [a, b, c]) (distl c (zip A b))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from egglift.ir import patterns as p
from egglift.ir.axes import element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size
from egglift.ir.tuples import as_one, parts_of, zipped
from egglift.ir.types import Tuple

Axis: TypeAlias = Hashable


@dataclass(frozen=True)
class Tensor:
    """An array in scope; axes: the loops that go through its axes, the outermost first."""

    x: Expr
    axes: tuple[Axis, ...] = ()


Tensors: TypeAlias = Sequence[Tensor]
Body: TypeAlias = Callable[[list[Tensor]], Expr]


def mapped(axis: Axis, tensors: Tensors, body: Body, level: Level | None = None) -> Expr:
    """`map body` over an axis that at least one tensor begins with."""
    array, inner = _over(axis, tensors)
    return p.Map(body(inner(p.Arg(element_type(array)))), array, level)


def nest(axes: Sequence[tuple[Axis, Level | None]], tensors: Tensors, body: Body) -> Expr:
    """Maps over all axes, the first outermost."""
    if not axes:
        return body(list(tensors))
    (axis, level), rest = axes[0], axes[1:]
    return mapped(axis, tensors, lambda inner: nest(rest, inner, body), level)


def folded(
    axis: Axis,
    init: Expr,
    tensors: Tensors,
    body: Callable[[Expr, list[Tensor]], Expr],
    unroll: bool = False,
    prefetch: Size = 0,
    matrix: bool = False,
    buffers: Size = 0,
    ends: Expr | None = None,
) -> Expr:
    """`fold body init` over an axis; body: from the accumulator and the tensors' elements to the next accumulator."""
    array, inner = _over(axis, tensors)
    arg = p.Arg(Tuple((type_of(init), element_type(array))))
    return p.Fold(body(p.Get(0, arg), inner(p.Get(1, arg))), init, array, unroll, prefetch, matrix, buffers, ends)


def _over(axis: Axis, tensors: Tensors) -> tuple[Expr, Callable[[Expr], list[Tensor]]]:
    """The array that a loop goes through, and where the tensors are in its element."""
    own = [i for i, t in enumerate(tensors) if t.axes and t.axes[0] == axis]
    others = [i for i in range(len(tensors)) if i not in own]
    if not own:
        raise AssertionError(f"no tensor begins with the axis {axis}")
    array = zipped([tensors[i].x for i in own])
    if others:
        array = p.Distl(as_one([tensors[i].x for i in others]), array)

    def inner(element: Expr) -> list[Tensor]:
        found = list(tensors)
        if others:
            for i, x in zip(others, parts_of(p.Get(0, element), len(others)), strict=True):
                found[i] = replace(tensors[i], x=x)
            element = p.Get(1, element)
        for i, x in zip(own, parts_of(element, len(own)), strict=True):
            found[i] = Tensor(x, tensors[i].axes[1:])
        return found

    return array, inner
