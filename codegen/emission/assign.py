"""Assignments of scalars: simultaneous ones, shared parts named once, guards at the store."""

from __future__ import annotations

from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import Condition, has_lane, share, within
from egglift.codegen.kernel.imperative import ScalarValue
from egglift.codegen.kernel.views import Arr, View, Where
from egglift.codegen.kernel.walk import operands, subvalues

DEPTH = 24  # operations nested in one expression, at most; compilers limit brackets


def assign(em: Builder, target: View, source: View, conditions: tuple[Condition, ...] = ()) -> None:
    """All scalars of `target` become those of `source`, at the same time."""
    pairs: list[tuple[im.Load, ScalarValue]] = []
    wheres: set[tuple[Condition, ...]] = set()

    def collect(place: View, value: View, inside: tuple[Condition, ...]) -> None:
        if isinstance(place, Where):
            return collect(place.inside(), value, inside + within(place.test, place.n))
        if isinstance(place, tuple):
            assert isinstance(value, tuple)
            for q, v in zip(place, value, strict=True):
                collect(q, v, inside)
            return
        assert isinstance(place, im.Load) and not isinstance(value, Arr | Where | tuple)
        wheres.add(inside)
        if place is not value:
            pairs.append((place, value))

    collect(target, source, conditions)
    values = _independent(em, pairs)
    stores = [
        im.Store(q.buffer, q.at, v, em.distribution.lane if _varies(em, q, v) else None)
        for (q, _), v in zip(pairs, values, strict=True)
    ]
    (guard,) = wheres or {()}
    if any(has_lane(e) for e, _ in guard):
        em.put(im.If(guard, tuple(stores), share(guard)))
    else:
        with em.when(*guard):
            em.put(*stores)


def _varies(em: Builder, place: im.Load, value: ScalarValue) -> bool:
    return place.buffer.lanes > 1 or id(value) in em.varying or has_lane(place.at)


def _independent(em: Builder, pairs: list[tuple[im.Load, ScalarValue]]) -> list[ScalarValue]:
    """The values to store, such that no store changes what a later one reads."""
    values = shared(em, [v for _, v in pairs])
    written: list[im.Load] = []
    hazard = False
    for (place, _), value in zip(pairs, values, strict=True):
        hazard |= any(load.buffer is q.buffer for load in _reads(value) for q in written)
        written.append(place)
    if hazard:
        values = [v if isinstance(v, im.Const | im.Name) else em.bind(v) for v in values]
    return values


def _reads(value: ScalarValue) -> list[im.Load]:
    """The loads in a value, those in indices aside."""
    return [v for v in subvalues((value,), operands) if isinstance(v, im.Load)]


def named(em: Builder, value: ScalarValue) -> ScalarValue:
    """`value` computed here, if it is more than a name."""
    (small,) = shared(em, [value])
    return em.bind(small) if isinstance(small, im.Call | im.Guarded) or _reads(small) else small


def shared(em: Builder, values: list[ScalarValue]) -> list[ScalarValue]:
    """`values` with what they share, and what nests too deeply, named by statements before them.

    The branches of a guarded value are left alone: they may not exist.
    """
    uses: dict[int, int] = {}
    order: list[ScalarValue] = []
    stack: list[tuple[ScalarValue, bool]] = [(v, False) for v in reversed(values)]
    while stack:
        v, done = stack.pop()
        if done:
            order.append(v)
            continue
        uses[id(v)] = uses.get(id(v), 0) + 1
        if uses[id(v)] == 1:
            stack.append((v, True))
            if isinstance(v, im.Call):
                stack.extend((a, False) for a in reversed(v.args))
    new: dict[int, ScalarValue] = {}
    depth: dict[int, int] = {}
    for v in order:
        w = v
        if isinstance(v, im.Call):
            args = tuple(new[id(a)] for a in v.args)
            if any(a is not b for a, b in zip(args, v.args, strict=True)):
                w = em.call(v.op, args, v.type)
            depth[id(v)] = 1 + max((depth.get(id(a), 0) for a in v.args), default=0)
        if _worth_naming(v, uses[id(v)]) or depth.get(id(v), 0) > DEPTH:
            w = em.bind(w)
            depth[id(v)] = 0
        new[id(v)] = w
    return [new[id(v)] for v in values]


def _worth_naming(v: ScalarValue, uses: int) -> bool:
    if uses < 2:
        return False
    return isinstance(v, im.Call | im.Guarded) or (isinstance(v, im.Load) and v.buffer.space != "private")
