"""Folds and iterations: loops that carry a value from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from egglift.codegen import assign, copy, guards, terms
from egglift.codegen import imperative as im
from egglift.codegen.builder import Target
from egglift.codegen.imperative import Buffer, Comment
from egglift.codegen.index import ZERO, Index
from egglift.codegen.inplace import pointwise, redirected
from egglift.codegen.views import Arr, View, element, is_flat, number
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Type

if TYPE_CHECKING:
    from egglift.codegen.emit import Emitter, Scope

#: a run of steps: how many, and the body's argument for a step, given the accumulator and the step's number
Run = tuple[int, Callable[[View, Index], View]]


def fold(em: Emitter, t: p.Fold, scope: Scope) -> View:
    """Evaluate a fold; a fold over a concatenation is two loops."""
    xs = em.view(t.x, scope)
    assert isinstance(xs, Arr)

    def run(part: Arr) -> Run:
        return part.length, lambda acc, i: (acc, element(part, i))

    runs = [run(part) for part in xs.parts or (xs,)]
    em.put(Comment(f"reduceSeq over {xs.length}"))
    return _accumulate(em, t, em.view(t.init, scope), runs, t.unroll)


def iterate(em: Emitter, t: p.Iterate, scope: Scope) -> View:
    """Evaluate an iteration: a fold whose body ignores the element."""
    n = number(t.count)
    em.put(Comment(f"iterate {n} times"))
    return _accumulate(em, t, em.view(t.x, scope), [(n, lambda acc, i: acc)], False)


def _accumulate(em: Emitter, t: p.Fold | p.Iterate, init: View, runs: list[Run], unroll: bool) -> View:
    type = type_of(t)
    if is_flat(type):
        return _registers(em, t, init, runs, unroll, type)
    return _array(em, t, init, runs, unroll, type)


def _registers(
    em: Emitter, t: p.Fold | p.Iterate, init: View, runs: list[Run], unroll: bool, type: Type
) -> View:
    """A scalar accumulator, or a tuple of them."""
    acc = em.allocate(type, "private", "acc", t)
    assign.assign(em, acc.view, init)
    for n, argument in runs:

        def step(i: Index, argument: Callable[[View, Index], View] = argument) -> None:
            with em.scratch():
                assign.assign(em, acc.view, em.value(t.body, argument(acc.view, i)))

        em.loop(n, step, unroll)
    return acc.view


def _array(em: Emitter, t: p.Fold | p.Iterate, init: View, runs: list[Run], unroll: bool, type: Type) -> View:
    """An array accumulator: in registers of a work-item, or in local memory if the body is shared out."""
    together = terms.is_spread(t.body) and not em.executor.inside
    space, stem = ("local", "s") if together else ("private", "acc")
    if not together:
        guards.refuse_spread(em, t, t.body)
    acc = em.allocate(type, space, stem, t)
    copy.copy(em, init, acc, type)
    for n, argument in runs:

        def step(i: Index, argument: Callable[[View, Index], View] = argument) -> None:
            _update(em, t, acc, argument(acc.view, i), type)

        em.loop(n, step, unroll)
    return acc.view


def _update(em: Emitter, t: Expr, acc: Target, argument: View, type: Type) -> None:
    """One step: `acc = body argument`, in place if that is proved, else through a second array."""
    assert isinstance(t, p.Fold | p.Iterate)
    before = list(em.free_locals), list(em.locals), em.private_bytes
    with em.scratch():
        with em.block() as statements:
            new = em.allocate(type, acc.space, "next", t)
            em.apply(t.body, argument, new)
        pairs = list(zip(buffers(acc.view, type), buffers(new.view, type), strict=True))
        if pointwise(statements, pairs):
            statements = redirected(statements, {new: acc for acc, new in pairs})
            em.free_locals, em.locals, em.private_bytes = (
                before[0],
                _without(em.locals, pairs, before[1]),
                before[2],
            )
            em.put(*statements)
        else:
            em.put(*statements)
            copy.copy(em, new.view, acc, type)


def _without(now: list[Buffer], pairs: list[tuple[Buffer, Buffer]], before: list[Buffer]) -> list[Buffer]:
    dropped = {new for _, new in pairs} - set(before)
    return [b for b in now if b not in dropped]


def buffers(v: View, type: Type) -> list[Buffer]:
    """The buffers of a value in memory, in leaf order."""
    match v:
        case Arr():
            return buffers(v.at(ZERO), type)
        case tuple():
            return [b for item in v for b in buffers(item, type)]
        case im.Load(buffer, _):
            return [buffer]
    raise AssertionError(v)
