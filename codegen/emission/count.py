"""Counts, and sums by numbers: a group adds together in local memory, by atomic additions; a work-item that is alone in
its own."""

from __future__ import annotations

from collections.abc import Callable

from egglift.codegen.emission.builder import Builder, NotVector
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import within
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment, ScalarValue
from egglift.codegen.kernel.index import Index
from egglift.codegen.kernel.views import View, component, element, length
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.operators import highest, lowest
from egglift.ir.types import I64, Scalar, Tuple, Type


def count(em: Translator, t: p.Count, scope: Scope) -> View:
    """The view of counts, or of sums, which all work-items of the group may read."""
    if em.distribution.lane is not None:
        raise NotVector  # lanes would add to one place at once
    xs, m, n = em.view(t.x, scope), length(type_of(t.x)), length(type_of(t))
    em.put(Comment(f"{'sums' if isinstance(t, p.Sums) else 'count'} over {m}"))
    alone = em.distribution.inside or not em.free_items()
    counts = em.allocate(type_of(t), "private" if alone else "local", "r" if alone else "s", t)

    def add(i: Index) -> None:
        value, added = _parts(em, t, element(xs, i))
        at = _place(em, value, n)
        with em.when(*within(at, n)):
            _add(em, t.type, element(counts.view, at), added, atomic=not alone)

    _each(em, n, alone, lambda i: _clear(em, t.type, element(counts.view, i)))
    _each(em, m if n else 0, alone, add)
    return counts.view


def _parts(em: Builder, t: p.Count, v: View) -> tuple[ScalarValue, View]:
    """Which number an element is, and what is added there."""
    if not isinstance(v, tuple):
        assert isinstance(t.type, Scalar)
        v = v, em.const(1, t.type)
    place, added = v
    assert isinstance(place, ScalarValue)
    return place, added


def _add(em: Builder, t: Type, old: View, added: View, atomic: bool) -> None:
    """Adds a number, or each component, to what is there."""
    if isinstance(t, Tuple):
        for i, own in enumerate(t.items):
            _add(em, own, component(old, i), component(added, i), atomic)
        return
    assert isinstance(t, Scalar) and isinstance(old, im.Load) and isinstance(added, ScalarValue)
    em.put(im.Store(old.buffer, old.at, em.call("add", (old, added), t), atomic=atomic))


def _clear(em: Builder, t: Type, place: View) -> None:
    if isinstance(t, Tuple):
        for i, own in enumerate(t.items):
            _clear(em, own, component(place, i))
        return
    assert isinstance(t, Scalar) and isinstance(place, im.Load)
    em.put(im.Store(place.buffer, place.at, em.const(0, t)))


def _each(em: Builder, n: int, alone: bool, body: Callable[[Index], None]) -> None:
    """`body` for all of n elements: by one work-item, or shared out over those of the group."""
    if alone:
        return em.loop(n, body)
    with em.step():
        me, team = em.team("local")
        with em.running(locals=DIMENSIONS):
            em.strided(me, team, n, body, inside=True)


def _place(em: Builder, value: ScalarValue, n: int) -> Index:
    """A number as an index: itself where it is in 0..n-1, else -1 or n."""
    t = value.type
    low, high = int(lowest(t)), int(highest(t))
    if high > n:
        value, high = em.call("minimum", (value, em.const(n, t)), t), n
    if low < -1:
        value, low = em.call("maximum", (value, em.const(-1, t)), t), -1
    if t.size == 8 and not t.is_signed:
        value = em.call("cast", (value,), I64)
    return em.data(em.bind(value), low, high)
