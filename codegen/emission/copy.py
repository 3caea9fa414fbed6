"""Copies: writing views to memory, the elements shared out or in loops, by vectors where memory allows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from egglift.codegen.emission import guards, lanes
from egglift.codegen.emission.assign import assign
from egglift.codegen.emission.builder import Builder, NotVector, Target
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import is_aligned
from egglift.codegen.kernel.executor import DIMENSIONS
from egglift.codegen.kernel.index import ZERO, Choice, Clamp, Index, Var, index
from egglift.codegen.kernel.ownership import Layout
from egglift.codegen.kernel.views import Arr, View, Where, component, element, is_flat, length, part
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type

FAR = 1 << 40  # apart, where it is not known how far
FEW = 8  # trips up to which a loop over shared copies is unrolled
WIDE, TOGETHER = 64, 16  # bytes that one work-item copies at once: by itself, and with neighbours


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
    if source.parts:
        start = 0
        for piece in source.parts:
            inner = Target(part(target.view, start, piece.length), target.space)
            copy(em, piece, inner, Array(piece.length, type.element))
            start += piece.length
    elif em.team(target.space)[1] > 1 and not em.executor.inside:
        _together(em, source, target, type)
    else:
        _alone(em, source, target, type)


def _alone(em: Builder, source: Arr, target: Target, type: Array) -> None:
    """A loop over the elements, several at once where they are neighbours in memory."""

    def one(i: Index) -> None:
        copy(em, element(source, i), Target(element(target.view, i), target.space), type.element)

    def pair(i: Index) -> tuple[View, View]:
        return element(source, i), element(target.view, i)

    start = 0
    for count, width in _runs(em, type.element, source.length, pair):
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


def _runs(em: Builder, t: Type, n: int, pair: Callable[[Index], tuple[View, View]]) -> list[tuple[int, int]]:
    """How n neighbours are moved, elements of type `t`: runs of so many, so many of them at once.

    A GPU reads vectors where they are aligned only: `x[8*i-1 .. 8*i+4]` is an element, four at once, and an element.
    """
    width = _width(em, t, (n,), WIDE, pair, both=True)
    if not isinstance(t, Scalar) or em.limits.warp == 1 or em.executor.lane is not None:
        return [(n, width)]
    most = TOGETHER // t.size
    while most > 1:
        for head in range(most):
            body = (n - head) // most * most
            if body > 0 and _from_vectors(em, head, body, most, pair):
                return [run for run in ((head, 1), (body, most), (n - head - body, 1)) if run[0]]
        most //= 2
    return [(n, width)]


def _from_vectors(em: Builder, start: int, count: int, width: int, pair: Callable[[Index], tuple[View, View]]) -> bool:
    """Are `count` elements from `start` on copied from aligned vectors of global memory to registers?

    They may be where the first and the last elements are not: those may lie beyond an edge.
    """
    chunk, lane = Var("?c", count // width, "loop"), Var("?", width, "lane")
    match _plain(em, pair, index(chunk) * width + start + lane):
        case im.Load() as source, im.Load() as place:
            pass
        case _:
            return False
    near = source.at.coefficient(lane) == 1 and place.at.coefficient(lane) == 1
    spaces = source.buffer.space == "global" and place.buffer.space == "private" and place.buffer.lanes == 1
    return near and spaces and is_aligned(source.at.substitute({lane: 0}), width)


def _width(
    em: Builder, t: Type, dims: Sequence[int], limit: int, pair: Callable[[Index], tuple[View, View]], both: bool
) -> int:
    """How many neighbours along the last of `dims` can be moved at once, elements of type `t`, at most `limit` bytes.

    pair: the source and the target of an element, counted through all dimensions.  They must be neighbours in memory,
    and aligned: both of them, or the one that is in global memory.  Where none are aligned, `both` may do without.
    """
    if not isinstance(t, Scalar) or t == BOOL or em.executor.lane is not None or not dims:
        return 1
    for anywhere in (False, True) if both else (False,):
        width = 1 << max(limit // t.size, 1).bit_length() - 1
        while width > 1 and not (dims[-1] % width == 0 and _fits(em, width, prod(dims), pair, both, anywhere)):
            width //= 2
        if width > 1:
            return width
    return 1


def _fits(
    em: Builder, width: int, total: int, pair: Callable[[Index], tuple[View, View]], both: bool, anywhere: bool
) -> bool:
    """Can `width` neighbours be moved at once?  anywhere: wherever they start in global memory."""
    lane, chunk = Var("?", width, "lane"), Var("?c", total // width, "loop")
    found = _plain(em, pair, index(chunk) * width + lane)
    if found is None:
        return False
    source, place = found
    if both:
        near = _adjacent(place, lane, anywhere)
        near = near and (_adjacent(source, lane, anywhere) or isinstance(source, im.Const))
    else:
        loads = [v for v in found if isinstance(v, im.Load)]
        near = len(loads) == 2 and any(_adjacent(v, lane) and v.buffer.space == "global" for v in loads)
    return near


def _plain(em: Builder, pair: Callable[[Index], tuple[View, View]], i: Index) -> tuple[View, View] | None:
    """The source and the target of the elements that `i` counts; None where they take statements."""
    try:
        with em.probe() as statements:
            found = pair(i)
    except NotVector:  # which statements depends on the lane
        return None
    return None if statements else found


def _adjacent(v: View, lane: Var, anywhere: bool = False) -> bool:
    """Is `v` one vector in memory for all lanes?  anywhere: in global memory it may start at any element."""
    if not isinstance(v, im.Load) or v.buffer.lanes > 1 or v.at.coefficient(lane) != 1:
        return False
    return (anywhere and v.buffer.space == "global") or is_aligned(v.at.substitute({lane: 0}), lane.count)


def _flat(em: Builder, source: View, target: Target) -> None:
    alone = em.alone(target.space)
    if not alone or em.executor.inside:
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
        em.running(locals=DIMENSIONS, groups=DIMENSIONS if target.space == "global" else em.executor.groups),
    ):
        shares.each(em, one)


@dataclass(frozen=True)
class Shares:
    """How a team shares out the elements of an array: one after the other, counted in `order` of the dimensions.

    width: how many neighbours a member takes at once, as a vector.  The order follows global memory, not the level
    of the computation: neighbours in global memory go to neighbouring members where possible.
    """

    dims: tuple[int, ...]
    order: tuple[int, ...]
    width: int
    me: Index
    team: int

    @property
    def trips(self) -> int:
        """How often a member takes its next elements."""
        return -(-prod(self.dims) // (self.width * self.team))

    def path(self, e: Index) -> list[Index]:
        """The indices, one for each dimension, of the element that is number `e` in the order."""
        found: dict[int, Index] = {}
        for d in reversed(self.order[1:]):
            e, found[d] = e // self.dims[d], e % self.dims[d]
        found[self.order[0]] = e
        return [found[d] for d in range(len(self.dims))]

    def each(self, em: Builder, one: Callable[[Index, Index], None], registers: bool = False) -> None:
        """`one(e, trip)` for the elements of this member of the team; `trip` counts how often it took some.

        registers: `trip` chooses registers, so the loop must be unrolled.
        """

        def several(q: Index) -> None:
            trip = (q - self.me) // self.team
            if self.width == 1:
                one(q, trip)
            else:
                lanes.vector(em, self.width, lambda lane: one(q * self.width + lane, trip))

        count = prod(self.dims) // self.width
        unroll = registers or (self.trips <= FEW and count % self.team == 0)
        em.strided(self.me, self.team, count, several, inside=True, unroll=unroll)


def shared_out(em: Builder, source: View, target: Target, dims: list[int], inner: Type) -> Shares:
    """How the free executors share out copying elements of type `inner` from `source` to `target`."""
    order = _order(em, source, target, dims)
    me, team = em.team(target.space)
    scalar = Shares(tuple(dims), tuple(order), 1, me, team)

    def pair(e: Index) -> tuple[View, View]:
        path = scalar.path(e)
        return at(source, path), at(target.view, path)

    if not isinstance(inner, Scalar) or prod(dims) * inner.size < TOGETHER * team:
        return scalar  # there is no vector for each
    return replace(scalar, width=_width(em, inner, [dims[d] for d in order], TOGETHER, pair, both=False))


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
        seen = [load for load in _loads([at(source, path), at(target.view, path)]) if load.buffer in em.spread]
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

    width = _width(em, inner, counts, TOGETHER, pair, both=False)

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


def dimensions(type: Type) -> tuple[list[int], Type]:
    """The lengths of nested arrays, and the type of their elements."""
    dims = []
    while isinstance(type, Array):
        dims.append(length(type))
        type = type.element
    return dims, type


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


def at(v: View, path: list[Index]) -> View:
    """The element of nested arrays at `path`, an index for each dimension."""
    for i in path:
        v = element(v, i)
    return v


def _order(em: Builder, source: View, target: Target, dims: list[int]) -> list[int]:
    """The dimensions, that with the smallest distance in global memory last."""
    probes = [Var(f"?{d}", n, "loop") for d, n in enumerate(dims)]
    with em.probe():
        path = [index(v) for v in probes]
        ends = [at(source, path)] if target.space != "global" else [at(target.view, path)]
    for load in _loads(ends):
        if load.buffer.space == "global":
            far = [_distance(load.at, v) for v in probes]
            return sorted(range(len(dims)), key=lambda d: -far[d])
    return list(range(len(dims)))


def _distance(at: Index, v: Var) -> int:
    """How far apart in memory two elements are that are neighbours along `v`, away from edges."""
    far = 0
    for a, k in at.terms:
        match a:
            case Var():
                far += k if a == v else 0
            case Clamp(x) | Choice(_, _, x):
                far += k * _distance(x, v)
            case _ if v in a.variables():
                return FAR
    return abs(far)


def _loads(views: list[View]) -> list[im.Load]:
    """The loads in values, a few of them."""
    found: list[im.Load] = []
    stack, steps = list(views), 0
    while stack and steps < 100:
        steps += 1
        match stack.pop():
            case im.Load() as load:
                found.append(load)
            case tuple() as parts:
                stack.extend(parts)
            case im.Call(_, args, _):
                stack.extend(args)
            case im.Guarded(_, _, inside, _):
                stack.append(inside)
            case Where() as place:
                stack.append(place.inside())
    return found
