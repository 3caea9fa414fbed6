"""Values and places that exist only where an index is in range: padding, concatenation, loaded indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from egglift.codegen.emission import assign
from egglift.codegen.emission.builder import Builder, NotVector, Target
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import Condition, has_lane, within
from egglift.codegen.kernel.imperative import Buffer, ScalarValue, Statement
from egglift.codegen.kernel.index import Index, assuming, guards_in_force, index
from egglift.codegen.kernel.index_values import computed, fitting
from egglift.codegen.kernel.views import Arr, View, Where, component, element, length
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.conversions import loaded
from egglift.ir.errors import CodegenError
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import Array, Scalar, Tuple, Type

#: choices between parts, one within the other, that an element may be read through: their bounds take the cube of it
NESTED = 128


def splits(v: View) -> bool:
    """Is `v` a place that an `if` can guard?  (What differs between the lanes of a vector is guarded at its store.)"""
    return isinstance(v, Where) and not has_lane(v.test)


def emit_where(em: Builder, target: Target, emit: Callable[[Target], None]) -> None:
    """`if (0 <= test < n) emit(the place inside)`; nothing at all where there is no such place."""
    place = target.view
    assert isinstance(place, Where)
    low, high = place.test.range
    if high < 0 or low >= place.n:
        return
    with em.when(*within(place.test, place.n)):
        emit(Target(place.inside(), target.space))


def guard(
    em: Builder, test: Index, n: int, inside: Callable[[], View], outside: Callable[[], View], type: Type
) -> View:
    """The view of `0 <= test < n ? inside : outside`, a value of `type`; `inside` is only evaluated where it exists."""
    low, high = test.range
    if low >= 0 and high < n:
        return inside()
    if high < 0 or low >= n or n == 0:
        return outside()
    match type:
        case Array():
            return Arr(
                length(type),
                lambda i: guard(em, test, n, lambda: element(inside(), i), lambda: element(outside(), i), type.element),
            )
        case Tuple(items):
            return tuple(
                guard(em, test, n, lambda k=k: component(inside(), k), lambda k=k: component(outside(), k), t)  # type: ignore[misc]
                for k, t in enumerate(items)
            )
        case Scalar():
            return _guarded(em, test, n, inside, outside)


def _guarded(em: Builder, test: Index, n: int, inside: Callable[[], View], outside: Callable[[], View]) -> ScalarValue:
    if guards_in_force() > NESTED:
        raise CodegenError(
            f"an element is read that is one of more than {NESTED} parts or edges; give them as one input, a gather, "
            "or several results"
        )
    low, high = test.range
    with em.block() as before, assuming((test, 0, n - 1)):
        a = _scalar(inside())
    beyond = [(test, n, high)] if low >= 0 else [(test, low, -1)] if high < n else []
    with em.block() as otherwise, assuming(*beyond):
        b = _scalar(outside())
    if not before and not otherwise and _small(a) and _small(b):
        return em.guarded(test, n, a, b)
    if has_lane(test):
        raise NotVector
    return _stated(em, test, n, (before, a), (otherwise, b))


def _stated(
    em: Builder,
    test: Index,
    n: int,
    inside: tuple[list[Statement], ScalarValue],
    outside: tuple[list[Statement], ScalarValue],
) -> ScalarValue:
    """The choice as statements: `r = ...` in one of two branches."""
    place = em.allocate(inside[1].type, "private", "r", p.Literal(0, inside[1].type))
    load = _scalar(place.view)
    assert isinstance(load, im.Load)
    lane = em.distribution.lane

    def branch(conditions: tuple[Condition, ...], statements: list[Statement], value: ScalarValue) -> None:
        with em.when(*conditions):
            em.put(*statements)
            (small,) = assign.shared(em, [value])
            em.put(im.Store(load.buffer, load.at, small, lane))

    branch(within(test, n), *inside)
    for condition in ((test, 0), (n - 1 - test, 0)):
        if condition[0].range[0] < condition[1]:
            branch((condition,), *outside)
    return load


def _small(v: ScalarValue, budget: int = 64) -> bool:
    """Has the text of `v` at most `budget` operations, shared ones counted each time?"""
    stack = [v]
    while stack and budget:
        budget -= 1
        match stack.pop():
            case im.Call(_, args, _):
                stack.extend(args)
            case im.Guarded(_, _, a, b):
                stack.extend((a, b))
    return not stack


def concatenated(em: Builder, a: View, b: View, type: Type) -> Arr:
    """The elements of `a`, then those of `b`."""
    assert isinstance(a, Arr) and isinstance(b, Arr)
    if a.length == 0 or b.length == 0:
        return a if b.length == 0 else b
    n = a.length

    def at(i: Index) -> View:
        return guard(em, i, n, lambda: element(a, i), lambda: element(b, i - n), type)

    return Arr(n + b.length, at, (*(a.parts or (a,)), *(b.parts or (b,))))


def paired(a: View, b: View) -> Arr:
    """`a` with each element of `b`."""
    assert isinstance(b, Arr)
    return Arr(b.length, lambda i: (a, element(b, i)), tuple(paired(a, part) for part in b.parts))


def refuse_spread(em: Builder, kept: Expr, loop: Expr) -> None:
    """CodegenError if `loop`, whose value is kept in private memory, is shared out over work-items."""
    if not analysis.is_spread(loop) or em.shape.group_items == 1:
        return
    raise CodegenError(
        f"{brief(kept)}: its elements would be spread over the private memories of a group's work-items, where the "
        "others cannot read them; keep it in local memory (toLocal) outside of other mapLocals, or use mapSeq inside"
    )


def _scalar(v: View) -> ScalarValue:
    assert not isinstance(v, Arr | Where | tuple), v
    return v


def load_constant(em: Builder) -> Callable[[Buffer, Index], ScalarValue]:
    """How an element of a literal array is read: as the literal, where the index is known."""

    def load(buffer: Buffer, at: Index) -> ScalarValue:
        if at.terms or buffer.values is None:
            return em.load(buffer, at)
        numbers = np.frombuffer(buffer.values, buffer.scalar.dtype)
        known = min(at.constant, len(numbers) - 1)  # what is left over of an array may be nothing, and begin at its end
        return em.const(loaded(numbers[known], buffer.scalar).item(), buffer.scalar)

    return load


# ---------------------------------------------------------------------------------------- loaded indices


def loaded_index(em: Builder, v: View, n: int) -> Index:
    """A number computed by the program as an index into `n` elements, clamped into 0..n-1."""
    value = _scalar(v)
    if (known := as_index(value)) is not None:
        return known.clamp(n)
    t = value.type
    if isinstance(value, im.Call | im.Guarded):
        value = assign.named(em, value)
    bits = 8 * t.size - t.is_signed
    if bits > 63:  # an unsigned 64-bit number: clamp it before it is taken for a negative one
        value = em.call("cast", (em.call("minimum", (value, em.const(n - 1, t)), t),), Scalar("i64"))
        return em.data(em.bind(value), 0, n - 1)
    return em.data(value, -(1 << bits) if t.is_signed else 0, (1 << bits) - 1).clamp(n)


def as_index(value: ScalarValue) -> Index | None:
    """An integer that was computed from iota and literals alone as an index; None for others."""
    known: dict[int, Index | None] = {}  # by ids: values that are shared are looked at once

    def go(v: ScalarValue) -> Index | None:
        if id(v) not in known:
            known[id(v)] = found(v)
        return known[id(v)]

    def found(v: ScalarValue) -> Index | None:
        match v:
            case im.Const(number, t) if t.is_integer:
                return index(number if isinstance(number, Length) else int(number))
            case im.IndexValue(at, t):
                return fitting(at, t)
            case im.Call(op, args, t) if t.is_integer:
                parts = [x for x in map(go, args) if x is not None]
                made = computed(op, parts) if len(parts) == len(args) else None
                return None if made is None else fitting(made, t)
        return None

    return go(value)
