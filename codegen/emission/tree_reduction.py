"""Reduction by halving: in local memory by the work-items of a group, in private memory by one work-item."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.codegen.emission import assign, copy, lanes
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment
from egglift.codegen.kernel.index import ZERO, Index, index
from egglift.codegen.kernel.views import Arr, View, element, is_flat, length
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Array, Type


def tree(em: Translator, t: p.Tree, scope: Scope) -> View:
    """The view of a tree reduction's result, which every executor may read."""
    n, type = length(type_of(t.x)), type_of(t)
    init = em.view(t.init, scope)
    if n == 0:
        return init
    xs = em.view(t.x, scope)
    em.put(Comment(f"tree over {n}"))
    total = element(_halved(em, t, xs, n, type), ZERO)
    if isinstance(type, Array) and not _is_alone(em, t) and (of_numbers := _of_numbers(t.body, len(_shape(type)))):
        return _lazily(em, of_numbers, init, total, _shape(type))
    result = em.allocate(type, "private", "acc", t)
    _combine(em, t, result, init, total, type)
    return result.view


def _of_numbers(body: Expr, depth: int) -> Expr | None:
    """How numbers of two arrays are combined, if each is with its own alone: f of `map (map f) zipped`, twice deep."""
    if depth == 0:
        return body
    match body:
        case p.Map(inner, p.Zip((p.Get(0, p.Arg()), p.Get(1, p.Arg())))):
            return _of_numbers(inner, depth - 1)
        case _:
            return None


def _shape(type: Type) -> tuple[int, ...]:
    return (length(type), *_shape(type.element)) if isinstance(type, Array) else ()


def _is_alone(em: Translator, t: p.Tree) -> bool:
    """Does each work-item have sums of its own?  Lanes do, and so does what is private: no other can help with it."""
    own = isinstance(t.x, p.To) and t.x.space == "private"
    return own or em.distribution.inside or em.distribution.lane is not None or not em.free_items()


def _halved(em: Translator, t: p.Tree, xs: View, n: int, type: Type) -> View:
    """An array whose first element is the sum of `xs`: the first halving copies, the others work in place."""
    if n == 1:
        return xs
    half = -(-n // 2)
    space = "private" if _is_alone(em, t) else "local"
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

    shape = _shape(type)
    of_numbers = _of_numbers(t.body, len(shape))
    if sums.space == "local" and of_numbers is not None:  # all work-items share all numbers of all arrays
        volume = prod(shape)

        def one(i: Index) -> None:
            number, at = i // volume, _places(i % volume, shape)
            a, b, into = (element(v, n) for v, n in ((xs, number), (xs, number + distance), (sums.view, number)))
            assign.assign(em, _at(into, at), em.value(of_numbers, (_at(a, at), _at(b, at))))

        me, team = em.team("local")
        with em.running(locals=DIMENSIONS):
            em.strided(me, team, count * volume, one, inside=True)
    elif sums.space == "local":
        me, team = em.team("local")
        with em.running(locals=DIMENSIONS):
            em.strided(me, team, count, combine, inside=True)
    elif em.distribution.lane is None and 2 <= count <= 128 and not count & (count - 1):
        lanes.vector(em, count, combine)
    else:
        em.loop(count, combine)


def _lazily(em: Translator, of_numbers: Expr, a: View, b: View, shape: Sequence[int]) -> View:
    """Two arrays combined number by number, where a number is read."""
    if not shape:
        return em.value(of_numbers, (a, b))
    return Arr(shape[0], lambda i: _lazily(em, of_numbers, element(a, i), element(b, i), shape[1:]))


def _places(i: Index, shape: Sequence[int]) -> list[Index]:
    """The indices, axis by axis, of number i of an array."""
    found = []
    for n in reversed(shape):
        found.append(i % n)
        i = i // n
    return found[::-1]


def _at(v: View, places: Sequence[Index]) -> View:
    for i in places:
        v = element(v, i)
    return v


def _combine(em: Translator, t: p.Tree, target: Target, a: View, b: View, type: Type) -> None:
    """target = a + b.  Arrays are computed elsewhere first: they may be where the target is."""
    if is_flat(type):
        return assign.assign(em, target.view, em.value(t.body, (a, b)))
    new = em.allocate(type, "private", "r", t)
    em.apply(t.body, (a, b), new)
    copy.copy(em, new.view, target, type)
