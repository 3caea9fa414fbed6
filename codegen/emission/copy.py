"""Copies: writing views to memory, the elements shared out or in loops, by vectors where memory allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

from egglift.codegen.emission import guards, lanes
from egglift.codegen.emission.assign import assign
from egglift.codegen.emission.builder import Builder, Target
from egglift.codegen.emission.shares import Shares, at, dimensions, loads_in, shared_out
from egglift.codegen.emission.vector_widths import TOGETHER, runs, width_of
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.ownership import Layout
from egglift.codegen.kernel.views import Arr, View, Where, component, element, is_flat, part
from egglift.ir.types import Array, Tuple, Type


def copy(em: Builder, source: View, target: Target, type: Type) -> None:
    """Write a view of `type`: by all free executors together, each element by one of them."""
    if guards.splits(target.view):
        return guards.emit_where(em, target, lambda inner: copy(em, source, inner, type))
    if is_flat(type):
        return _flat(em, source, target)
    if isinstance(type, Tuple):
        for k, t in enumerate(type.items):
            copy(em, component(source, k), Target(component(target.view, k), target.space), t)
        return
    assert isinstance(source, Arr) and isinstance(type, Array)
    if numbers := side_by_side(source):
        places = tuple(element(target.view, index(i)) for i in range(len(numbers)))
        if all(isinstance(q, im.Load) for q in places):  # what they have in common is computed once
            return _flat(em, numbers, Target(places, target.space))
    if source.parts:
        start = 0
        for piece in source.parts:
            inner = Target(part(target.view, start, piece.length), target.space)
            copy(em, piece, inner, Array(piece.length, type.element))
            start += piece.length
    elif em.team(target.space)[1] > 1 and not em.distribution.inside:
        _together(em, source, target, type)
    else:
        _alone(em, source, target, type)


def side_by_side(source: View) -> tuple[View, ...]:
    """The numbers of an array that is put together of one at a time; () where it is not."""
    if not isinstance(source, Arr) or any(piece.length != 1 for piece in source.parts):
        return ()
    found = tuple(element(piece, ZERO) for piece in source.parts)
    return () if any(isinstance(x, Arr | Where | tuple) for x in found) else found


def _alone(em: Builder, source: Arr, target: Target, type: Array) -> None:
    """A loop over the elements, several at once where they are neighbours in memory."""

    def one(i: Index) -> None:
        copy(em, element(source, i), Target(element(target.view, i), target.space), type.element)

    def pair(i: Index) -> tuple[View, View]:
        return element(source, i), element(target.view, i)

    start = 0
    for count, width in runs(em, type.element, source.length, pair):
        unroll = target.space == "private" and count // width <= 32
        if width == 1:
            em.loop(count, partial(_after, one, start), unroll)
        else:
            _vectors(em, count // width, width, start, one, unroll)
        start += count


def _after(one: Callable[[Index], None], start: int, i: Index) -> None:
    one(i + start)


def _vectors(em: Builder, trips: int, width: int, start: int, one: Callable[[Index], None], unroll: bool) -> None:
    """`one` for elements from `start` on, `width` at once."""
    em.loop(trips, lambda i: lanes.vector(em, width, lambda lane: one(i * width + start + lane)), unroll)


def _flat(em: Builder, source: View, target: Target) -> None:
    alone = em.alone(target.space)
    if not alone or em.distribution.inside:
        with em.when(*alone):
            return assign(em, target.view, source)
    with em.step(), em.when(*alone), em.running(locals=DIMENSIONS, groups=DIMENSIONS):
        assign(em, target.view, source)


# ---------------------------------------------------------------------------------------- cooperative copies


def _together(em: Builder, source: View, target: Target, type: Array) -> None:
    """The elements shared out over all free executors."""
    dims, inner = dimensions(type)
    if isinstance(inner, Tuple) and not is_flat(inner):
        for k, t in enumerate(inner.items):
            columns = [_columns(v, len(dims), k) for v in (source, target.view)]
            copy(em, columns[0], Target(columns[1], target.space), _nested(dims, t))
        return
    if layout := _layout(em, source, target, dims):
        return _spread(em, source, target, dims, inner, layout)
    shares = shared_out(em, source, target, dims, inner)

    def one(e: Index, trip: Index) -> None:
        path = shares.path(e)
        copy(em, at(source, path), Target(at(target.view, path), target.space), inner)

    with (
        em.step(),
        em.running(locals=DIMENSIONS, groups=DIMENSIONS if target.space == "global" else em.distribution.groups),
    ):
        shares.each(em, one)


def _layout(em: Builder, source: View, target: Target, dims: list[int]) -> Layout | None:
    """Whose elements are whose, if `source` or `target` is a group's accumulator, element by element."""
    if not em.spread:
        return None
    probes = [Var(f"?{d}", n, "loop") for d, n in enumerate(dims)]
    flat = ZERO
    for v in probes:
        flat = flat * v.count + v
    with em.probe():
        path = list(map(index, probes))
        seen = [load for load in loads_in([at(source, path), at(target.view, path)]) if load.buffer in em.spread]
    layouts = {em.spread[load.buffer] for load in seen}
    # a padded accumulator has elements that are nobody's
    whole = all(load.at == flat and load.buffer.size == prod(dims) for load in seen)
    return layouts.pop() if whole and len(layouts) == 1 else None


def _spread(em: Builder, source: View, target: Target, dims: list[int], inner: Type, layout: Layout) -> None:
    """Every work-item copies its own elements."""

    def path(values: Sequence[Index]) -> list[Index]:
        e, found = layout.element(values), []
        for n in reversed(dims[1:]):
            e, d = e // n, e % n
            found.append(d)
        return [e, *reversed(found)]

    counts = [d.count for d in layout.digits]
    probes = Shares(tuple(counts), tuple(range(len(counts))), 1, ZERO, 1)

    def pair(e: Index) -> tuple[View, View]:
        own = path(probes.path(e)) if counts else path([])
        return at(source, own), at(target.view, own)

    width = width_of(em, inner, counts, TOGETHER, pair, both=False)

    def one(values: list[Index]) -> None:
        own = path(values)
        copy(em, at(source, own), Target(at(target.view, own), target.space), inner)

    def nest(values: list[Index]) -> None:
        count = counts[len(values)] if len(values) < len(counts) else 0
        if not count:
            one(values)
        elif len(values) < len(counts) - 1 or width == 1:
            em.loop(count, lambda i: nest([*values, i]), unroll=True)
        else:
            em.loop(count // width, lambda i: lanes.vector(em, width, lambda v: one([*values, i * width + v])), True)

    with em.step(), em.running(locals=DIMENSIONS):
        nest([])


def _nested(dims: list[int], t: Type) -> Type:
    for n in reversed(dims):
        t = Array(n, t)
    return t


def _columns(v: View, depth: int, k: int) -> View:
    """Component `k` of the tuples in nested arrays."""
    if depth == 0:
        return component(v, k)
    assert isinstance(v, Arr)
    return Arr(v.length, lambda i: _columns(element(v, i), depth - 1, k))
