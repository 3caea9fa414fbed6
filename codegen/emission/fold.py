"""Folds and iterations: loops that carry a value from step to step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from egglift.codegen.emission import assign, asynchronous, copy, guards, prefetch, register_accumulators
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import Condition
from egglift.codegen.kernel.imperative import Buffer, Comment
from egglift.codegen.kernel.in_place import in_place
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.views import Arr, View, Where, element, is_flat, number
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Tuple, Type

#: where a loop may end
Ends = Callable[[Index], Condition | None]
#: a run of steps: how many, the body's argument for a step, given the accumulator and the step's number, and where it
#: may end
Run = tuple[int, Callable[[View, Index], View], Ends]
Loop = p.Fold | p.Iterate


class _NotInPlace(Exception):
    """A step reads what it, or another work-item, may have overwritten by then."""


def fold(em: Translator, t: Loop, scope: Scope) -> View:
    """Evaluate a fold, or an iteration: a fold whose body ignores the element."""
    type, runs, init = type_of(t), _runs(em, t, scope), _start(em, t, scope)
    _remark(em, t, runs)
    if is_flat(type):
        return _registers(em, t, init, runs, type)
    if analysis.is_spread(t.body) and not em.distribution.inside:
        return _together(em, t, init, runs, type)
    guards.refuse_spread(em, t, t.body)
    acc = em.allocate(type, "private", "acc", t)
    copy.copy(em, init, acc, type)
    for run in runs:
        _run(em, t, acc, run, type)
    return acc.view


def into(em: Translator, t: Loop, target: Target, scope: Scope) -> bool:
    """Evaluate a fold of arrays with its accumulator where the value goes; False if that cannot be.

    The target is private memory, or a part of an accumulator of the group that this fold is a step of.  It has a
    place for every element: the steps read them all, those that are dropped in the end too.
    """
    type = type_of(t)
    if not _has_all_places(em, target.view):
        return False
    if is_flat(type) or any(b.space != "private" and b not in em.undecided for b in buffers(target.view)):
        return False
    runs, init = _runs(em, t, scope), _start(em, t, scope)
    before = em.private_bytes, list(em.locals), list(em.free_locals)
    try:
        with em.block() as statements:
            _remark(em, t, runs)
            copy.copy(em, init, target, type)
            for run in runs:
                _run(em, t, target, run, type, strict=True)
    except _NotInPlace:
        em.private_bytes, em.locals, em.free_locals = before
        return False
    em.put(*statements)
    return True


def _has_all_places(em: Translator, v: View) -> bool:
    """Is there a place in memory for every element of this acceptor?"""
    match v:
        case Arr(n, at):
            with em.probe():
                return n == 0 or _has_all_places(em, at(index(Var("?", n, "loop"))))
        case Where():
            return False
        case tuple():
            return all(_has_all_places(em, item) for item in v)
    return True


def _runs(em: Translator, t: Loop, scope: Scope) -> list[Run]:
    """The loops of `t`: a fold over a concatenation is two."""
    if isinstance(t, p.Iterate):
        return [(number(t.count), lambda acc, i: acc, lambda i: None)]
    xs = em.view(t.x, scope)
    assert isinstance(xs, Arr)
    ends = _ends(em, t, scope) if not xs.parts else lambda i: None

    def run(part: Arr) -> Run:
        return part.length, lambda acc, i: (acc, element(part, i)), ends

    return [run(part) for part in xs.parts or (xs,)]


def _ends(em: Translator, t: p.Fold, scope: Scope) -> Ends:
    """Where the loop of a fold may end: of comparisons of indices only."""
    if t.ends is None:
        return lambda i: None
    bools = em.view(t.ends, scope)

    def at(i: Index) -> Condition | None:
        with em.probe():
            match element(bools, i):
                case im.Call("lt", (im.IndexValue(a), im.IndexValue(b))):
                    return b - a, 1
                case im.Call("le", (im.IndexValue(a), im.IndexValue(b))):
                    return b - a, 0
        return None

    return at


def _start(em: Translator, t: Loop, scope: Scope) -> View:
    return em.view(t.x if isinstance(t, p.Iterate) else t.init, scope)


def _remark(em: Translator, t: Loop, runs: list[Run]) -> None:
    n = sum(n for n, _, _ in runs)
    em.put(Comment(f"iterate {n} times" if isinstance(t, p.Iterate) else f"reduceSeq over {n}"))


def _registers(em: Translator, t: Loop, init: View, runs: list[Run], type: Type) -> View:
    """A scalar accumulator, or a tuple of them."""
    acc = em.allocate(type, "private", "acc", t)
    assign.assign(em, acc.view, init)
    for n, argument, ends in runs:

        def step(i: Index, argument: Callable[[View, Index], View] = argument) -> None:
            with em.scratch():
                assign.assign(em, acc.view, em.value(t.body, argument(acc.view, i)))

        em.loop(n, step, _is_unrolled(t), ends=ends)
    return acc.view


def _together(em: Translator, t: Loop, init: View, runs: list[Run], type: Type) -> View:
    """An array that a work-group updates together: spread over its work-items, or in local memory."""
    if em.distribution.warp:
        acc = em.allocate(type, "local", "s", t)
        copy.copy(em, init, acc, type)
        for run in runs:
            _run(em, t, acc, run, type)
        return acc.view
    acc = em.accumulator(type, t)
    with em.block() as steps:
        for run in runs:
            _run(em, t, acc, run, type)
    for buffer in buffers(acc.view):  # of several arrays, each is registers or local memory
        register_accumulators.recognise(em, steps, [buffer])
    copy.copy(em, init, acc, type)
    em.put(*steps)
    return acc.view


def _is_matrix(t: Loop) -> bool:
    return isinstance(t, p.Fold) and t.matrix


def _is_unrolled(t: Loop) -> bool:
    return isinstance(t, p.Fold) and t.unroll


def _run(em: Translator, t: Loop, acc: Target, steps: Run, type: Type, strict: bool = False) -> None:
    """The steps of a run, each in place; strict: or _NotInPlace."""
    n, argument, ends = steps

    def step(i: Index, given: Mapping[Expr, View]) -> None:
        _update(em, t, acc, argument(acc.view, i), type, given, strict)

    ahead = prefetch.ahead(em, t)
    if ahead:
        assert isinstance(t, p.Fold)
        if t.buffers:
            asynchronous.run(em, t, ahead, n, lambda i: argument(acc.view, i), step, ends)
        else:
            prefetch.run(em, t, ahead, n, lambda i: argument(acc.view, i), step, ends)
    else:
        em.loop(n, lambda i: step(i, {}), _is_unrolled(t), matrix=_is_matrix(t), ends=ends)


def _update(
    em: Translator, t: Loop, acc: Target, argument: View, type: Type, given: Mapping[Expr, View], strict: bool
) -> None:
    """One step: `acc = body argument`, each of its arrays in place if that is proved, else through a second one."""
    with em.scratch():
        olds = list(dict.fromkeys(buffers(acc.view)))
        news = {b: replace(b, name=em.names.numbered("next")) for b in olds}
        em.undecided.update({new: em.undecided[b] for b, new in news.items() if b in em.undecided})
        new = Target(_elsewhere(em, acc.view, news), acc.space)
        with em.block() as statements:
            em.apply(t.body, argument, new, given)
        ids = frozenset(v for i, _ in em.free_items() for v in i.variables())
        parts = [(v, of, [(b, news[b]) for b in dict.fromkeys(buffers(v))]) for v, of in _parts(acc.view, type)]
        statements, apart = in_place(statements, [pairs for _, _, pairs in parts], ids)
        for b in news.values():
            em.undecided.pop(b, None)
        if strict and apart:
            raise _NotInPlace
        for b in (new for pairs in apart for _, new in pairs):
            em.keep(b, t)
        em.put(*statements)
        for v, of, pairs in parts:
            if pairs in apart:
                copy.copy(em, _elsewhere(em, v, news), Target(v, acc.space), of)


def _parts(v: View, type: Type) -> Iterator[tuple[View, Type]]:
    """The components of a tuple, and of tuples in it, with their types; of an array, itself."""
    if isinstance(v, tuple) and isinstance(type, Tuple):
        for item, t in zip(v, type.items, strict=True):
            yield from _parts(item, t)
    else:
        yield v, type


def _elsewhere(em: Translator, v: View, news: Mapping[Buffer, Buffer]) -> View:
    """An acceptor with other buffers."""
    match v:
        case Arr():
            return Arr(v.length, lambda i: _elsewhere(em, v.at(i), news))
        case Where(test, n, inside):
            return Where(test, n, lambda: _elsewhere(em, inside(), news))
        case tuple():
            return tuple(_elsewhere(em, item, news) for item in v)
        case im.Load(buffer, at):
            return em.load(news[buffer], at)
    raise AssertionError(v)


def buffers(v: View) -> list[Buffer]:
    """The buffers of a value in memory, in leaf order."""
    match v:
        case Arr():
            return buffers(v.at(ZERO))
        case Where():
            return buffers(v.inside())
        case tuple():
            return [b for item in v for b in buffers(item)]
        case im.Load(buffer, _):
            return [buffer]
    raise AssertionError(v)
