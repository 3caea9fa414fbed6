"""Writing views to memory: assignments of scalars, and the loops around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from egglift.codegen import guards
from egglift.codegen import imperative as im
from egglift.codegen.builder import Condition, Target, has_lane, share
from egglift.codegen.imperative import Value
from egglift.codegen.index import Index, Var, index
from egglift.codegen.views import Arr, View, Where, component, element, is_flat, length, part
from egglift.ir.types import Array, Tuple, Type

if TYPE_CHECKING:
    from egglift.codegen.emit import Emitter

DEPTH = 24  # operations nested in one expression, at most; compilers limit brackets
ALL = frozenset(range(3))


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
    assert isinstance(source, Arr)
    if source.parts:
        start = 0
        for piece in source.parts:
            inner = Target(part(target.view, start, piece.length), target.space)
            copy(em, piece, inner, Array(piece.length, type.element))
            start += piece.length
    elif em.team(target.space)[1] > 1 and not em.executor.inside:
        _together(em, source, target, type)
    else:
        unroll = target.space == "private" and source.length <= 32
        em.loop(source.length, lambda i: _element(em, source, target, type, i), unroll)


def _element(em: Emitter, source: View, target: Target, type: Array, i: Index) -> None:
    copy(em, element(source, i), Target(element(target.view, i), target.space), type.element)


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
    total = 1
    for n in dims:
        total *= n

    def one(e: Index) -> None:
        at: dict[int, Index] = {}
        for d in reversed(order[1:]):
            e, at[d] = e // dims[d], e % dims[d]
        at[order[0]] = e
        path = [at[d] for d in range(len(dims))]
        copy(em, _at(source, path), Target(_at(target.view, path), target.space), inner)

    with em.step(), em.running(locals=ALL, groups=ALL if target.space == "global" else em.executor.groups):
        em.strided(me, team, total, one, inside=True)


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
    with em.block():
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


# ---------------------------------------------------------------------------------------- assignments


def assign(em: Emitter, target: View, source: View, conditions: tuple[Condition, ...] = ()) -> None:
    """All scalars of `target` become those of `source`, at the same time."""
    pairs: list[tuple[im.Load, Value]] = []
    wheres: set[tuple[Condition, ...]] = set()

    def collect(place: View, value: View, inside: tuple[Condition, ...]) -> None:
        if isinstance(place, Where):
            return collect(place.inside(), value, inside + guards.conditions(place.test, place.n))
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
        im.Store(q.buffer, q.at, v, em.executor.lane if _varies(em, q, v) else None)
        for (q, _), v in zip(pairs, values, strict=True)
    ]
    (guard,) = wheres or {()}
    if any(has_lane(e) for e, _ in guard):
        em.put(im.If(guard, tuple(stores), share(guard)))
    else:
        with em.when(*guard):
            em.put(*stores)


def _varies(em: Emitter, place: im.Load, value: Value) -> bool:
    return place.buffer.lanes > 1 or id(value) in em.varying or has_lane(place.at)


def _independent(em: Emitter, pairs: list[tuple[im.Load, Value]]) -> list[Value]:
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


def _reads(value: Value) -> list[im.Load]:
    found, stack = [], [value]
    while stack:
        match stack.pop():
            case im.Load() as load:
                found.append(load)
            case im.Call(_, args, _):
                stack.extend(args)
            case im.Guarded(_, _, a, b):
                stack.extend((a, b))
    return found


def named(em: Emitter, value: Value) -> Value:
    """`value` computed here, if it is more than a name."""
    (small,) = shared(em, [value])
    return em.bind(small) if isinstance(small, im.Call | im.Guarded) or _reads(small) else small


def shared(em: Emitter, values: list[Value]) -> list[Value]:
    """`values` with what they share, and what nests too deeply, named by statements before them.

    The branches of a guarded value are left alone: they may not exist.
    """
    uses: dict[int, int] = {}
    order: list[Value] = []
    stack: list[tuple[Value, bool]] = [(v, False) for v in reversed(values)]
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
    new: dict[int, Value] = {}
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


def _worth_naming(v: Value, uses: int) -> bool:
    if uses < 2:
        return False
    return isinstance(v, im.Call | im.Guarded) or (isinstance(v, im.Load) and v.buffer.space != "private")
