"""Axes of nested arrays: by number, a layout pattern somewhere below the outermost axis, and axes in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.text import brief
from egglift.ir.types import Array, Scalar, Tuple, Type, dims

A = TypeVar("A")
#: one axis, several, or all; negative ones count from the end
Axes: TypeAlias = "int | Sequence[int] | None"


def element_type(x: Expr) -> Type:
    """The type of the elements of an array."""
    t = type_of(x)
    assert isinstance(t, Array)
    return t.element


def length_of(x: Expr) -> Size:
    """The length of an array."""
    t = type_of(x)
    assert isinstance(t, Array)
    return t.length


def arrays_of(x: Expr) -> tuple[Expr, ...]:
    """The arrays that an array of tuples consists of; of any other array, itself."""
    t = element_type(x)
    if not isinstance(t, Tuple):
        return (x,)
    return x.arrays if isinstance(x, p.Zip) else tuple(p.Map(p.Get(k, p.Arg(t)), x) for k in range(len(t.items)))


def at_depth(depth: int, x: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`f` on each part of `x` that lies so many axes down.

    at_depth(1, x, transpose) -> map transpose x
    """
    if depth == 0:
        return f(x)
    return p.Map(at_depth(depth - 1, p.Arg(element_type(x)), f), x)


def transposed(x: Expr) -> Expr:
    """`x` with its outer two axes exchanged: transpose (transpose x) -> x."""
    return x.x if isinstance(x, p.Transpose) else p.Transpose(x)


def permuted(x: Expr, axes: Sequence[A], order: Sequence[A]) -> Expr:
    """`x`, whose outer axes are `axes`, with these in another order.

    permuted(x, "ab", "ba") -> transpose x
    """
    now = list(axes)
    for i, a in enumerate(order):
        for j in range(now.index(a), i, -1):
            x = at_depth(j - 1, x, transposed)
            now[j - 1], now[j] = now[j], now[j - 1]
    return x


def cut(x: Expr, depth: int, blocks: Sequence[Size]) -> Expr:
    """Axis `depth` of `x` as several: the outermost counts blocks of blocks[0], the next blocks of blocks[1], ...

    Each block divides the one around it, and the first the axis.

    cut(x, 0, (8, 2)) -> map (split 2) (split 8 x)
    """
    for i, block in enumerate(blocks):
        x = at_depth(depth + i, x, lambda e, block=block: p.Split(block, e))  # type: ignore[misc]
    return x


def merged(x: Expr, depth: int, axes: int) -> Expr:
    """`axes` axes of `x`, from `depth` on, as one: what `cut` undoes."""
    for _ in range(axes - 1):
        x = at_depth(depth, x, p.Join)
    return x


def axes_of(e: Expr, axis: Axes) -> tuple[int, ...]:
    """The axes that `axis` names, in ascending order; ShapeError where `e` has no such axis, or one is named twice."""
    rank = len(dims(type_of(e)))
    given = range(rank) if axis is None else axis if isinstance(axis, Sequence) else (axis,)
    axes = []
    for a in given:
        if isinstance(a, bool) or not hasattr(a, "__index__"):
            raise TypeMismatch(f"an axis must be a whole number, not {a!r}")
        if not -rank <= a < rank:
            raise ShapeError(f"{brief(e)} is {type_of(e)}: it has no axis {a}; there are {rank}, counted from 0")
        axes.append(int(a) % rank)
    if len(set(axes)) < len(axes):
        raise ShapeError(f"{brief(e)}: axis {axis} names an axis twice")
    return tuple(sorted(axes))


def axis_of(e: Expr, axis: int) -> int:
    """The one axis that `axis` names, counted from 0; TypeMismatch of several, or none."""
    if axis is None or isinstance(axis, Sequence):
        raise TypeMismatch(f"{brief(e)}: axis must be one whole number here, not {axis!r}")
    (found,) = axes_of(e, axis)
    return found


def scalar_of_elements(x: Expr) -> Scalar:
    """The type of the numbers or bools in an array of any rank, or of a scalar itself; TypeMismatch of tuples."""
    t = type_of(x)
    while isinstance(t, Array):
        t = t.element
    if isinstance(t, Tuple):
        raise TypeMismatch(
            f"{brief(x)} is {type_of(x)}: take a component of its tuples first, e.g. `.map(lambda v: v[0])`"
        )
    return t
