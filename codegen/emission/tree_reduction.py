"""Reduction by halving: in local memory by the work-items of a group, in private memory by one work-item."""

from __future__ import annotations

from egglift.codegen.emission import assign, copy, lanes
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment
from egglift.codegen.kernel.index import ZERO, Index, index
from egglift.codegen.kernel.views import View, element, is_flat, length
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.types import Array, Type


def tree(em: Translator, t: p.Tree, scope: Scope) -> View:
    """The view of a tree reduction's result, which every executor may read."""
    n, type = length(type_of(t.x)), type_of(t)
    init = em.view(t.init, scope)
    if n == 0:
        return init
    xs = em.view(t.x, scope)
    em.put(Comment(f"tree over {n}"))
    total = _halved(em, t, xs, n, type)
    result = em.allocate(type, "private", "acc", t)
    _combine(em, t, result, init, element(total, ZERO), type)
    return result.view


def _halved(em: Translator, t: p.Tree, xs: View, n: int, type: Type) -> View:
    """An array whose first element is the sum of `xs`: the first halving copies, the others work in place."""
    if n == 1:
        return xs
    half = -(-n // 2)
    # lanes, and what is private, have sums of their own, which no other work-item can help with
    own = isinstance(t.x, p.To) and t.x.space == "private"
    alone = own or em.distribution.inside or em.distribution.lane is not None or not em.free_items()
    space = "private" if alone else "local"
    sums = em.allocate(Array(half, type), space, "s" if space == "local" else "r", t)
    with em.step():
        _step(em, t, xs, sums, n - half, half, type)
        if n % 2:
            last = index(half - 1)
            copy.copy(em, element(xs, last), Target(element(sums.view, last), space), type)
    n = half
    while n > 1:
        half = -(-n // 2)
        with em.step():
            _step(em, t, sums.view, sums, n - half, half, type)
        n = half
    return sums.view


def _step(em: Translator, t: p.Tree, xs: View, sums: Target, count: int, distance: int, type: Type) -> None:
    """sums[i] = xs[i] + xs[i + distance] for i < count."""

    def combine(i: Index) -> None:
        _combine(em, t, Target(element(sums.view, i), sums.space), element(xs, i), element(xs, i + distance), type)

    if sums.space == "local":
        me, team = em.team("local")
        with em.running(locals=DIMENSIONS):
            em.strided(me, team, count, combine, inside=True)
    elif em.distribution.lane is None and 2 <= count <= 128 and not count & (count - 1):
        lanes.vector(em, count, combine)
    else:
        em.loop(count, combine)


def _combine(em: Translator, t: p.Tree, target: Target, a: View, b: View, type: Type) -> None:
    """target = a + b.  Arrays are computed elsewhere first: they may be where the target is."""
    if is_flat(type):
        return assign.assign(em, target.view, em.value(t.body, (a, b)))
    new = em.allocate(type, "private", "r", t)
    em.apply(t.body, (a, b), new)
    copy.copy(em, new.view, target, type)
