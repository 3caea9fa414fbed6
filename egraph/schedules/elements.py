"""What one element of an array takes: where in memory what it reads is, and what it computes.

It is asked of the code generator, once for a stage: an index into a view is linear in the dimensions' indices (nearly
always), so that its coefficients are how far apart neighbours are in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from typing import TypeAlias

import numpy as np

from egglift.codegen.emission.assign import shared
from egglift.codegen.emission.copy import side_by_side
from egglift.codegen.emission.emitter import Emitter
from egglift.codegen.emission.translator import ROOT
from egglift.codegen.kernel.distribution import Shape
from egglift.codegen.kernel.imperative import (
    Buffer,
    Call,
    Const,
    DeviceLimits,
    Guarded,
    If,
    Let,
    Load,
    Loop,
    ScalarValue,
    Statement,
    Store,
)
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.index_numbers import Unknown, evaluate
from egglift.codegen.kernel.views import Arr, View, Where, element, memory, number
from egglift.codegen.kernel.walk import operands, subvalues
from egglift.costmodel.closed.traffic import ANYWHERE
from egglift.costmodel.model.operation_counts import call_cost
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.stages.stage import Dim
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate as value_of
from egglift.ir.traverse import instantiate, subterms
from egglift.ir.types import Type, leaves

#: what stands for results of reductions and for operands is no array in global memory
OWN = re.compile(r"%(s\d|own)")

ACCUMULATOR = "%own_acc"
MOST = 16  # neighbours that a vector has


#: how often, and what
Counted: TypeAlias = tuple[int, ScalarValue]


@dataclass(frozen=True)
class Place:
    """A read of one array: its name, how many elements of how many bytes, elements apart along each dimension, the
    first element that is read, and how often one element takes it.  constant: it is among the constants of the text."""

    buffer: str
    elements: int
    scalar: int
    strides: tuple[int, ...]
    offset: int
    times: int = 1
    constant: bool = False


@dataclass(frozen=True)
class Element:
    """places: what is read; calls: (simple instructions, bytes of the result) of each operation; guards: tests of
    edges; plain: is it one number as it lies in memory?  whole: of such a one, or a constant beyond edges, how many
    neighbours are there, or beyond, together.  in_place: of a step, may each accumulator be written as soon as its next
    value is known, as no later one reads it?"""

    places: tuple[Place, ...]
    calls: tuple[tuple[float, int], ...]
    guards: int
    plain: bool
    in_place: bool = True
    whole: int = 1


def element_of(array: Expr, dims: Sequence[Dim], profile: Profile) -> Element:
    """An element of a closed array at indices of `dims`.  EggliftError where the code generator refuses it."""
    array = instantiate(array, {})
    emitter = _emitter(array)
    at = [Var(f"?{i}", _number(d), "loop") for i, d in enumerate(dims)]
    with emitter.block() as statements:
        view = emitter.view(array, ROOT)
        for v in at:
            view = element(view, index(v))
        parts = [[*_scalars(part, 1)] for part in _written_apart(view)]
    with emitter.block():
        named = shared(emitter, [v for values in parts for _, v in values])
    return replace(_read(parts, statements, at, profile), in_place=_in_place(named, _accumulators(array)))


def _accumulators(array: Expr) -> list[str]:
    """The arrays that stand for accumulators, in their order."""
    found = {t.name: t for t in subterms(array) if isinstance(t, p.Input) and t.name.startswith(ACCUMULATOR)}
    return [b.name for name in sorted(found) for b in _buffers(found[name])]


def _in_place(values: Sequence[ScalarValue], accumulators: Sequence[str]) -> bool:
    """Does no value read an accumulator that one before it is the next value of?"""
    for i, value in enumerate(values):
        read = {v.buffer.name for v in subvalues((value,), operands) if isinstance(v, Load)}
        if read & set(accumulators[:i]):
            return False
    return True


def _emitter(term: Expr) -> Emitter:
    emitter = Emitter(Shape(), DeviceLimits(private_bytes=1 << 30))
    inputs = {t.name: t for t in subterms(term) if isinstance(t, p.Input)}
    emitter.inputs = {name: memory(t.type, _buffers(t), emitter.load) for name, t in inputs.items()}
    return emitter


def _buffers(t: p.Input) -> Iterator[Buffer]:
    space = "private" if OWN.match(t.name) else "global"
    for k, (shape, scalar) in enumerate(leaves(t.type)):
        yield Buffer(f"{t.name}.{k}", space, scalar, prod(map(number, shape)))


def _written_apart(view: View) -> Iterator[View]:
    """The parts of a view that are written one after the other, as its own statements each."""
    if numbers := side_by_side(view):
        yield numbers
    elif isinstance(view, Arr) and view.parts:
        for part in view.parts:
            yield from _written_apart(part)
    else:
        yield view


def _scalars(view: View, times: int) -> Iterator[Counted]:
    """The numbers in a view, and how often: elements of an array are alike."""
    match view:
        case tuple():
            for v in view:
                yield from _scalars(v, times)
        case Arr(length):
            yield from _scalars(element(view, ZERO), times * length)
        case Where(_, _, inside):
            yield from _scalars(inside(), times)
        case _:
            yield times, view


def _read(parts: list[list[Counted]], statements: Sequence[Statement], at: list[Var], profile: Profile) -> Element:
    places, calls, guards = dict[tuple[object, ...], Place](), list[tuple[float, int]](), 0
    for rows in (*parts[:-1], [*parts[-1], *_computed(statements, 1)]):
        for times in sorted({t for t, _ in rows}):
            for v in subvalues([v for t, v in rows if t == times], operands):
                match v:
                    case Load(buffer, i) if buffer.space in ("global", "constant"):
                        place = _place(buffer, i, at, times)
                        places.setdefault((place.buffer, place.strides, place.offset), place)
                    case Call():
                        calls.append((times * call_cost(v, profile), v.type.computed.size))
                    case Guarded():
                        guards += times
    plain = not statements and [(t, type(v)) for values in parts for t, v in values] == [(1, Load)]
    alone = [v for values in parts for _, v in values] if not statements else []
    return Element(tuple(places.values()), tuple(calls), guards, plain, whole=_whole(alone))


def _whole(values: Sequence[ScalarValue]) -> int:
    """Neighbours that are read together, or are constants together: as many as divide where edges are."""
    found = MOST
    match values:
        case [value]:
            pass
        case _:
            return 1
    while isinstance(value, Guarded) and isinstance(value.outside, Const) and isinstance(value.n, int):
        found = gcd(found, value.n, *(k for _, k in value.at.terms if k != 1), value.at.constant)
        value = value.inside
    return found if isinstance(value, Load) else 1


def _computed(statements: Sequence[Statement], times: int) -> Iterator[Counted]:
    """What statements compute, and how often."""
    for s in statements:
        match s:
            case Let(_, value) | Store(_, _, value):
                yield times, value
            case Loop():
                yield from _computed(s.body, times * s.trips)
            case If():
                yield from _computed((*s.body, *s.otherwise), times)


def _place(buffer: Buffer, i: Index, at: list[Var], times: int) -> Place:
    """The strides, and where the first element would be if they held everywhere (edges aside)."""
    middle = {v: np.array([v.count // 2]) for v in at}
    none, constant = (np.zeros(1, np.int64),) * 3, buffer.space == "constant"
    try:
        here = int(evaluate(i, none, middle)[0])
    except Unknown:  # gathered: what a loaded number says is anywhere, what is added to it is as far as ever
        apart = tuple(ANYWHERE if (k := i.coefficient(v)) is None else k for v in at)
        return Place(buffer.name, buffer.size, buffer.scalar.size, apart, 0, times, constant)
    strides = []
    for v in at:
        k = i.coefficient(v)
        if k is None:
            step = 1 if middle[v][0] + 1 < v.count else -1
            k = step * (int(evaluate(i, none, middle | {v: middle[v] + step})[0]) - here)
        strides.append(k)
    offset = here - sum(k * int(middle[v][0]) for k, v in zip(strides, at, strict=True))
    return Place(buffer.name, buffer.size, buffer.scalar.size, tuple(strides), offset, times, constant)


def leaves_of(t: Type) -> list[tuple[int, int]]:
    """Of each array of scalars in memory that a value is made of: bytes of a number, and how many of them."""
    return [(scalar.size, prod(map(number, shape))) for shape, scalar in leaves(t)]


def sizes_of_leaves(t: Type) -> list[int]:
    """Bytes of each scalar of a value."""
    return [size for size, count in leaves_of(t) for _ in range(count)]


def _number(d: Dim) -> int:
    return value_of(d.extent)
