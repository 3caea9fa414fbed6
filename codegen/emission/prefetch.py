"""Prefetching: a fold's step loads what the next step keeps in local memory, before it computes.

    1:  fetch 0                                  2:  fetch 0; fill buffer 0
        for i: fill; fetch i + 1; step i             for i: fetch i + 1; step i; fill buffer (i + 1) % 2

Fetching copies to the work-items' registers, filling from there to local memory.  With buffers that asynchronous copies
fill, registers are not needed (asynchronous.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.copy import copy
from egglift.codegen.emission.shares import Shares, at, dimensions, shared_out
from egglift.codegen.emission.translator import Translator
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.views import View, element, number
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children
from egglift.ir.types import Array, Type


def ahead(em: Translator, t: p.Fold | p.Iterate) -> tuple[p.To, ...]:
    """What a fold's body keeps in local memory of an element alone, without computing it, and is to be prefetched."""
    if isinstance(t, p.Iterate) or not (t.prefetch or t.buffers) or em.distribution.inside or em.distribution.warp:
        return ()
    nodes = [e for e in analysis.entry_nodes(t.body, "local") if isinstance(e, p.To) and e.space == "local"]
    return tuple(e for e in nodes if not analysis.read_nodes(e.x) and _is_of_element(e.x) and _is_array(e))


def _is_array(t: Expr) -> bool:
    return isinstance(type_of(t), Array)


def _is_of_element(t: Expr) -> bool:
    """Does `t`, in a fold's body, read the element only, and not the accumulator?"""
    stack = [t]
    while stack:
        match stack.pop():
            case p.Arg() | p.Get(0, p.Arg()):
                return False
            case p.Get(_, p.Arg()):
                pass
            case e:
                stack.extend(children(e))
    return True


@dataclass(frozen=True)
class Staged:
    """A node with its local memory (one or two buffers), registers, and who copies which elements."""

    node: p.To
    inner: Type
    memory: View
    turns: int
    registers: Target
    shares: Shares

    def turn(self, i: Index) -> View:
        """The local memory of step `i`."""
        return element(self.memory, i % 2) if self.turns == 2 else self.memory


def run(
    em: Translator,
    t: p.Fold,
    nodes: tuple[p.To, ...],
    n: int,
    argument: Callable[[Index], View],
    step: Callable[[Index, Mapping[Expr, View]], None],
) -> None:
    """`n` steps of `t` with `nodes` prefetched.  argument: the body's, for a step."""
    if n == 0:
        return
    turns = number(t.prefetch)

    def source(node: p.To, i: Index) -> View:
        return em.value(node.x, argument(i))

    staged = [_staged(em, node, source(node, index(Var("?", n, "loop"))), turns) for node in nodes]

    def fetch(i: Index) -> None:
        for s in staged:
            with shared(em):
                _fetch(em, s, source(s.node, i))

    def fill(i: Index) -> None:
        for s in staged:
            with shared(em):
                _fill(em, s, s.turn(i))

    def one(i: Index) -> None:
        if turns == 1:
            fill(i)
        if n > 1:
            with em.when((i, n - 1)):
                em.put(Comment("prefetch"))
                fetch(i + 1)
        step(i, {s.node: s.turn(i) for s in staged})
        if turns == 2 and n > 1:
            with em.when((i, n - 1)):
                fill(i + 1)

    fetch(ZERO)
    if turns == 2:
        fill(ZERO)
    em.loop(n, one, t.unroll)


def _staged(em: Translator, node: p.To, source: View, turns: int) -> Staged:
    type, pad = type_of(node), number(node.pad)
    dims, inner = dimensions(type)
    twice = Array(2, type) if turns == 2 else type
    em.put(Comment("toLocal"))
    memory = em.allocate(twice, "local", "s", node, pad, number(node.swizzle)).view
    first = element(memory, ZERO) if turns == 2 else memory
    shares = shared_out(em, source, Target(first, "local"), dims, inner)
    lane = Var("?", shares.width, "lane") if shares.width > 1 else None
    with em.running(lane=lane):
        registers = em.allocate(Array(shares.trips, inner), "private", "r", node)
    return Staged(node, inner, memory, turns, registers, shares)


@contextmanager
def shared(em: Translator) -> Iterator[None]:
    """A step of the group, in which its work-items share out what is copied."""
    with em.step(), em.running(locals=DIMENSIONS):
        yield


def _fetch(em: Translator, s: Staged, source: View) -> None:
    def one(e: Index, trip: Index) -> None:
        copy(em, at(source, s.shares.path(e)), Target(element(s.registers.view, trip), "private"), s.inner)

    s.shares.each(em, one, registers=True)


def _fill(em: Translator, s: Staged, memory: View) -> None:
    def one(e: Index, trip: Index) -> None:
        copy(em, element(s.registers.view, trip), Target(at(memory, s.shares.path(e)), "local"), s.inner)

    s.shares.each(em, one, registers=True)
