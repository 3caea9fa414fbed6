"""Scans: loops that keep every value that they carry, and by doubling in local memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from operator import mul

from egglift.codegen.emission import assign, copy
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.shares import loads_in
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment, ScalarValue
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.views import Arr, View, Where, component, element, is_flat, length, part
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import Tuple, Type

AHEAD, LOADED = 8, 32  # elements that are loaded before they are scanned, and loads for these
FEW = 1 << 14  # work-items, fewer than which load so many each before they scan


def into(em: Translator, t: p.ScanSeq, target: Target, scope: Scope) -> None:
    """Write what a loop keeps of its accumulators, each as soon as it is known."""
    em.put(Comment(f"scanSeq over {length(type_of(t.x))}"))
    _in_order(em, t.body, t, em.view(t.init, scope), em.view(t.x, scope), target)


def doubling(em: Translator, t: p.ScanDoubling, scope: Scope) -> View:
    """The view of a scan's result: in local memory, which all work-items of the group may read, or in private memory
    of a work-item that is alone."""
    type, n = type_of(t), length(type_of(t.x))
    init, xs = em.view(t.init, scope), em.view(t.x, scope)
    em.put(Comment(f"scanDoubling over {n}"))
    if em.distribution.inside or em.distribution.lane is not None or not em.free_items():
        alone = em.allocate(type, "private", "r", t)
        _in_order(em, p.Tup((t.body, t.body)), t, init, xs, alone)
        return alone.view
    source, distance = xs, 1
    turn = [em.allocate(type, "local", "s", t) for _ in range(2 if n > 2 else 1)]
    while n:
        target = turn[0]
        with em.step():
            _step(em, t, (init, source), target, distance, n)
        turn.reverse()
        source, distance = target.view, 2 * distance
        if distance >= n:
            break
    return source


def _step(em: Translator, t: p.ScanDoubling, given: tuple[View, View], target: Target, distance: int, n: int) -> None:
    """target[i] = xs[i - distance] + xs[i], or xs[i] where there is no such element; the last step adds `init` too."""
    init, xs = given
    me, team = em.team("local")
    last = 2 * distance >= n

    def put(i: Index, value: View) -> None:
        whole = em.value(t.body, (init, value)) if last else value
        assign.assign(em, element(target.view, i), whole)

    def combine(i: Index) -> None:
        put(i + distance, em.value(t.body, (element(xs, i), element(xs, i + distance))))

    with em.running(locals=DIMENSIONS):
        em.strided(me, team, n - distance, combine, inside=True)
        em.strided(me, team, min(distance, n), lambda i: put(i, element(xs, i)), inside=True)


def _in_order(em: Translator, body: Expr, t: p.ScanSeq | p.ScanDoubling, init: View, xs: View, target: Target) -> None:
    assert isinstance(xs, Arr)
    if isinstance(type_of(t.init), Tuple) and not is_flat(type_of(t.init)):
        raise CodegenError(f"{brief(t)}: a work-item that scans in order carries numbers, and no tuple of arrays")
    acc = em.allocate(type_of(t.init), "private", "acc", t)
    _put(em, init, acc, type_of(t.init))
    start = 0
    for piece in xs.parts or (xs,):
        _run(em, body, acc, type_of(t.init), piece, Target(part(target.view, start, piece.length), target.space))
        start += piece.length


def _put(em: Translator, value: View, target: Target, type: Type) -> None:
    """What is carried, an array of registers or numbers, into its registers."""
    if isinstance(value, Arr):
        return copy.copy(em, value, target, type)
    assign.assign(em, target.view, value)


def _run(em: Translator, body: Expr, acc: Target, type: Type, xs: Arr, target: Target) -> None:
    def step(i: Index, x: View) -> None:
        with em.scratch():
            result = em.value(body, (acc.view, x))
            carried, kept = component(result, 0), _numbers(component(result, 1))
            values = iter(assign.shared(em, _scalars((() if isinstance(carried, Arr) else carried, kept))))
            carried = carried if isinstance(carried, Arr) else _filled(carried, values)  # is often kept too
            kept = _filled(kept, values)
            place = _places(element(target.view, i), kept)
            assign.assign(em, place, kept)  # of the accumulator as it was, and where there is a place
            _put(em, carried, acc, type)

    def several(first: Index, count: int) -> None:
        elements = [element(xs, first + k) for k in range(count)]
        for k, x in enumerate(_loaded(em, elements) if count > 1 else elements):
            step(first + k, x)

    ahead = _ahead(em, xs)
    em.loop(xs.length // ahead, lambda i: several(i * ahead, ahead))
    if rest := xs.length % ahead:
        several(index(xs.length - rest), rest)


def _ahead(em: Translator, xs: Arr) -> int:
    """How many elements are loaded before they are scanned, by a work-item of a GPU: each load takes long, and more
    of them are under way."""
    if em.limits.warp == 1 or em.distribution.lane is not None or isinstance(xs.length, Length):
        return 1
    with em.probe() as statements:
        x = element(xs, index(Var("?", xs.length, "loop")))
        found = [] if _has_arrays(x) else loads_in([x])
        far = [load for load in found if load.buffer.space == "global"]
    ahead = AHEAD if prod(map(mul, em.shape.local, em.shape.groups)) >= FEW else LOADED
    return 1 if statements or not far else max(1, min(xs.length, ahead, LOADED // len(found)))


def _has_arrays(v: View) -> bool:
    return any(map(_has_arrays, v)) if isinstance(v, tuple) else isinstance(v, Arr)


def _loaded(em: Translator, elements: Sequence[View]) -> list[View]:
    """Elements of which nothing is left to be loaded."""
    shared = assign.shared(em, [s for x in elements for s in _scalars(x)])
    values = iter([assign.named(em, s) for s in shared])
    return [_filled(x, values) for x in elements]


def _numbers(v: View) -> View:
    """What is kept as numbers, of short arrays too."""
    if isinstance(v, tuple):
        return tuple(map(_numbers, v))
    if not isinstance(v, Arr):
        return v
    if any(piece.length != 1 for piece in v.parts) or not v.parts:
        raise CodegenError("a scan keeps numbers, and short arrays that are put together of such")
    return tuple(_numbers(element(piece, ZERO)) for piece in v.parts)


def _places(target: View, kept: View) -> View:
    """The places of what is kept: of the numbers of short arrays, one by one."""
    if not isinstance(kept, tuple):
        return target
    one = component if _is_tuple(target) else lambda v, k: element(v, index(k))
    return tuple(_places(one(target, k), x) for k, x in enumerate(kept))


def _is_tuple(v: View) -> bool:
    return _is_tuple(v.inside()) if isinstance(v, Where) else isinstance(v, tuple)


def _scalars(v: View) -> list[ScalarValue]:
    if isinstance(v, tuple):
        return [s for item in v for s in _scalars(item)]
    assert not isinstance(v, Arr | Where)
    return [v]


def _filled(v: View, values: Iterator[ScalarValue]) -> View:
    """A value of the same form, of these scalars."""
    return tuple(_filled(item, values) for item in v) if isinstance(v, tuple) else next(values)
