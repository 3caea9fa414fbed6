"""Results that are components of a stored array of tuples, each laid out as it is wanted: one kernel writes them all.

map (get 0) (toGlobal a)                  ->  component 0 of a, as it is
take n (join (map (get 1) (toGlobal a)))  ->  component 1 of a, laid out by take n (join arg)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from egglift.ir import patterns as p
from egglift.ir.backwards import rearranged
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children, rebuild, subterms
from egglift.ir.types import Array, Tuple, Type, leaves


@dataclass(frozen=True)
class Component:
    """A component of the elements of a stored array, as an array.  layout: a body over it, which yields the result."""

    array: p.To
    index: int
    layout: Expr

    @property
    def is_plain(self) -> bool:
        """Is it the result as it is?"""
        return isinstance(self.layout, p.Arg)

    @property
    def leaves(self) -> slice:
        """Which of the leaves of the array it is."""
        t = type_of(self.array)
        while isinstance(t, Array):
            t = t.element
        assert isinstance(t, Tuple)
        start = sum(len(leaves(item)) for item in t.items[: self.index])
        return slice(start, start + len(leaves(t.items[self.index])))


def is_stored(x: Expr) -> TypeGuard[p.To]:
    """Is it what a kernel of its own writes to global memory?"""
    return isinstance(x, p.To) and x.space == "global"


def component_of(x: Expr) -> Component | None:
    """What a result is a component of; None where it is none, or is computed of one."""
    found = _plain(x)
    if found is not None:
        return found
    if isinstance(x, p.Map):
        body, below = _layout(x.body), component_of(x.x)
        if body is None or below is None:
            return None
        return replace(below, layout=p.Map(body, below.layout))
    if (inner := rearranged(x)) is not None and (below := component_of(inner)) is not None:
        return replace(below, layout=rebuild(x, lambda c: below.layout if c is inner else c))
    return None


def _plain(x: Expr) -> Component | None:
    """`map (get i) a`, `map (map (get i)) a`."""
    match x:
        case p.Map(body, array) if is_stored(array):  # whoever was to execute it
            while isinstance(body, p.Map) and isinstance(body.x, p.Arg):
                body = body.body
            if isinstance(body, p.Get) and isinstance(body.x, p.Arg):
                return Component(array, body.index, p.Arg(type_of(x)))
    return None


def _layout(body: Expr) -> Expr | None:
    """A body that only moves elements, whoever was to execute it; None where it does more."""
    if isinstance(body, p.Arg):
        return body
    if isinstance(body, p.Map):
        inner, below = _layout(body.body), _layout(body.x)
        return inner and below and p.Map(inner, below)
    if (x := rearranged(body)) is not None and (below := _layout(x)) is not None:
        return rebuild(body, lambda c: below if c is x else c)
    return None


def is_read_besides(c: Component, others: Sequence[Expr]) -> bool:
    """Do other results read a component, or the array other than by its components?"""
    return any(found is None or found == c.index for x in others for found in _read(c.array, x))


def _read(array: Expr, x: Expr) -> Iterator[int | None]:
    """Which components of an array are read in a term; None where it is read otherwise."""
    for t in subterms(x):
        if any(child == array for child in children(t)):
            part = _plain(t)
            yield part.index if part else None


def component_types(t: Type) -> list[Type]:
    """The types of the components of an array's elements, as arrays.  [[(f32, i32)]3]2 -> [[f32]3]2, [[i32]3]2"""
    if isinstance(t, Array):
        return [Array(t.length, own) for own in component_types(t.element)]
    assert isinstance(t, Tuple)
    return list(t.items)
