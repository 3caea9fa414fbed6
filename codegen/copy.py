"""Copies: writing views to memory, the elements shared out or in loops, by vectors where memory allows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from egglift.codegen import guards, levels
from egglift.codegen import imperative as im
from egglift.codegen.assign import assign
from egglift.codegen.builder import NotVector, Target
from egglift.codegen.index import Index, Var, index
from egglift.codegen.vectors import is_aligned
from egglift.codegen.views import Arr, View, Where, component, element, is_flat, length, part, volume
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type

if TYPE_CHECKING:
    from egglift.codegen.emit import Emitter

ALL = frozenset(range(3))
WIDE, TOGETHER = 64, 16  # bytes that one work-item copies at once: by itself, and with neighbours


def copy(em: Emitter, source: View, target: Target, type: Type) -> None:
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


def _alone(em: Emitter, source: Arr, target: Target, type: Array) -> None:
    """A loop over the elements, several at once where they are neighbours in memory."""

    def one(i: Index) -> None:
        copy(em, element(source, i), Target(element(target.view, i), target.space), type.element)

    n = source.length
    width = _width(em, type.element, n, 1, WIDE, lambda i: (element(source, i), element(target.view, i)), both=True)
    unroll = target.space == "private" and n // width <= 32
    if width == 1:
        return em.loop(n, one, unroll)
    em.loop(n // width, lambda i: levels.vector(em, width, lambda lane: one(i * width + lane)), unroll)


def _width(
    em: Emitter, t: Type, row: int, rows: int, limit: int, pair: Callable[[Index], tuple[View, View]], both: bool
) -> int:
    """How many elements of type `t` in `rows` rows of `row` can be moved at once, at most `limit` bytes.

    pair: the source and the target of an element, counted through all rows.  They must be neighbours in memory, and
    aligned: both of them, or the one that is in global memory.
    """
    if not isinstance(t, Scalar) or t == BOOL or em.executor.lane is not None:
        return 1
    width = limit // t.size
    while width > 1 and row % width:
        width //= 2
    if width < 2:
        return 1
    lane, chunk = Var("?", width, "lane"), Var("?c", rows * row // width, "loop")
    try:
        with em.probe() as statements:
            source, place = pair(index(chunk) * width + lane)
    except NotVector:  # an element takes statements, and which ones depends on the lane
        return 1
    near = _adjacent(place, lane) and (_adjacent(source, lane) or isinstance(source, im.Const))
    if not both:
        near = any(_adjacent(v, lane) and v.buffer.space == "global" for v in (source, place) if isinstance(v, im.Load))
        near = near and isinstance(source, im.Load) and isinstance(place, im.Load)
    return width if near and not statements else 1


def _adjacent(v: View, lane: Var) -> bool:
    if not isinstance(v, im.Load) or v.buffer.lanes > 1 or v.at.coefficient(lane) != 1:
        return False
    return is_aligned(v.at.substitute({lane: 0}), lane.count)


def _flat(em: Emitter, source: View, target: Target) -> None:
    alone = em.alone(target.space)
    if not alone or em.executor.inside:
        with em.when(*alone):
            return assign(em, target.view, source)
    with em.step(), em.when(*alone), em.running(locals=ALL, groups=ALL):
        assign(em, target.view, source)


# ---------------------------------------------------------------------------------------- cooperative copies


def _together(em: Emitter, source: View, target: Target, type: Array) -> None:
    """The elements shared out, neighbours in global memory to neighbouring work-items where possible."""
    dims, inner = _dims(type)
    if isinstance(inner, Tuple) and not is_flat(inner):
        for k, t in enumerate(inner.items):
            columns = [_columns(v, len(dims), k) for v in (source, target.view)]
            copy(em, columns[0], Target(columns[1], target.space), _nested(dims, t))
        return
    order = _order(em, source, target, dims)
    me, team = em.team(target.space)
    total = volume(type) // volume(inner)

    def place(e: Index) -> tuple[View, View]:
        at: dict[int, Index] = {}
        for d in reversed(order[1:]):
            e, at[d] = e // dims[d], e % dims[d]
        at[order[0]] = e
        path = [at[d] for d in range(len(dims))]
        return _at(source, path), _at(target.view, path)

    def one(e: Index) -> None:
        value, acceptor = place(e)
        copy(em, value, Target(acceptor, target.space), inner)

    row = dims[order[-1]]
    width = _width(em, inner, row, total // max(row, 1), TOGETHER, place, both=False) if total >= 4 * team else 1

    def several(q: Index) -> None:
        levels.vector(em, width, lambda lane: one(q * width + lane))

    with em.step(), em.running(locals=ALL, groups=ALL if target.space == "global" else em.executor.groups):
        em.strided(me, team, total // width, one if width == 1 else several, inside=True)


def _dims(type: Type) -> tuple[list[int], Type]:
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


def _at(v: View, path: list[Index]) -> View:
    for i in path:
        v = element(v, i)
    return v


def _order(em: Emitter, source: View, target: Target, dims: list[int]) -> list[int]:
    """The dimensions, that with the smallest distance in global memory last."""
    probes = [Var(f"?{d}", n, "loop") for d, n in enumerate(dims)]
    with em.probe():
        path = [index(v) for v in probes]
        ends = [_at(source, path)] if target.space != "global" else [_at(target.view, path)]
    for load in _loads(ends):
        if load.buffer.space == "global":
            far = [load.at.coefficient(v) for v in probes]
            return sorted(range(len(dims)), key=lambda d: -abs(far[d] if far[d] is not None else 1 << 40))  # type: ignore[arg-type]
    return list(range(len(dims)))


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
