"""Prefetching: a fold's step loads what the next step keeps in local memory, before it computes.

    1:  fetch 0                                  2:  fetch 0; fill buffer 0
        for i: fill; fetch i + 1; step i             for i: fetch i + 1; step i; fill buffer (i + 1) % 2

Fetching copies to the work-items' registers, filling from there to local memory; what is computed of one load, and of
others that move less, is computed when it is filled, so that no step waits for a load (raw_loads.py).  With buffers
that asynchronous copies fill, registers are not needed (asynchronous.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.copy import copy
from egglift.codegen.emission.raw_loads import Path, load_at, main_load, with_load
from egglift.codegen.emission.shares import Shares, at, dimensions, shared_out
from egglift.codegen.emission.translator import Translator
from egglift.codegen.kernel.conditions import Condition
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.unroll_register_loops import UNROLLED
from egglift.codegen.kernel.views import View, element, number
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import children
from egglift.ir.types import Array, Type


def ahead(em: Translator, t: p.Fold | p.Iterate) -> tuple[p.To, ...]:
    """What a fold's body keeps in local memory of an element alone, and is to be prefetched: as far as it fits into the
    work-items' registers, of which each has UNROLLED for it."""
    if isinstance(t, p.Iterate) or not (t.prefetch or t.buffers) or em.distribution.inside or em.distribution.warp:
        return ()
    nodes = [e for e in analysis.entry_nodes(t.body, "local") if isinstance(e, p.To) and e.space == "local"]
    kept = (e for e in nodes if not analysis.read_nodes(e.x) and _is_of_element(e.x) and _is_array(e))
    return tuple(e for e in kept if t.buffers or _fits_registers(em, e))


def _is_array(t: Expr) -> bool:
    return isinstance(type_of(t), Array)


def _fits_registers(em: Translator, t: p.To) -> bool:
    dims, _ = dimensions(type_of(t))
    return prod(dims) <= UNROLLED * em.team("local")[1]


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
    """A node with its local memory (one or two buffers), registers, and who copies which elements.

    raw: where in an element's computation what waits in the registers is loaded; None: the element itself waits there.
    """

    node: p.To
    inner: Type
    memory: View
    turns: int
    registers: Target
    shares: Shares
    raw: Path | None = None

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
    ends: Callable[[Index], Condition | None] = lambda i: None,
) -> None:
    """`n` steps of `t` with `nodes` prefetched.  argument: the body's, for a step; ends: where the loop may end."""
    if n == 0:
        return
    turns = number(t.prefetch)

    def source(node: p.To, i: Index) -> View:
        return em.value(node.x, argument(i))

    some = index(Var("?", n, "loop"))
    staged = [_staged(em, node, [source(node, i) for i in (some, ZERO, some + 1)], turns) for node in nodes]

    def fetch(i: Index) -> None:
        for s in staged:
            with shared(em):
                _fetch(em, s, source(s.node, i))

    def fill(i: Index) -> None:
        for s in staged:
            with shared(em):
                _fill(em, s, source(s.node, i), s.turn(i))

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
    em.loop(n, one, t.unroll, ends=ends)


def _staged(em: Translator, node: p.To, sources: Sequence[View], turns: int) -> Staged:
    """sources: what is kept, as it is for any step, for the first, and for one that follows another."""
    type, pad = type_of(node), number(node.pad)
    dims, inner = dimensions(type)
    twice = Array(2, type) if turns == 2 else type
    em.put(Comment("toLocal"))
    memory = em.allocate(twice, "local", "s", node, pad, number(node.swizzle)).view
    first = element(memory, ZERO) if turns == 2 else memory
    shares = shared_out(em, sources[0], Target(first, "local"), dims, inner)
    lane = Var("?", shares.width, "lane") if shares.width > 1 else None
    raw = None if lane is not None else _raw(em, sources, shares)
    loaded = inner if raw is None else raw[1]
    with em.running(lane=lane):
        registers = em.allocate(Array(shares.trips, loaded), "private", "r", node)
    return Staged(node, inner, memory, turns, registers, shares, None if raw is None else raw[0])


def _raw(em: Translator, sources: Sequence[View], shares: Shares) -> tuple[Path, Type] | None:
    """Where in the computation of an element its load is, the same for all steps; and what it loads."""
    with em.probe():
        e = index(Var("?e", prod(shares.dims), "loop"))
        values = [at(source, shares.path(e)) for source in sources]
    if (path := main_load(values[0])) is None:
        return None
    first, *others = (load_at(value, path) for value in values)
    if first is None or any(load is None or load.buffer is not first.buffer for load in others):
        return None
    return path, first.type


@contextmanager
def shared(em: Translator) -> Iterator[None]:
    """A step of the group, in which its work-items share out what is copied."""
    with em.step(), em.running(locals=DIMENSIONS):
        yield


def _fetch(em: Translator, s: Staged, source: View) -> None:
    def one(e: Index, trip: Index) -> None:
        value, register = at(source, s.shares.path(e)), Target(element(s.registers.view, trip), "private")
        if s.raw is None:
            return copy(em, value, register, s.inner)
        load = load_at(value, s.raw)
        assert load is not None  # what waits would be computed of twice
        copy(em, load, register, load.type)

    s.shares.each(em, one, registers=True)


def _fill(em: Translator, s: Staged, source: View, memory: View) -> None:
    def one(e: Index, trip: Index) -> None:
        path, value = s.shares.path(e), element(s.registers.view, trip)
        if s.raw is not None:
            value = with_load(at(source, path), s.raw, value)
        copy(em, value, Target(at(memory, path), "local"), s.inner)

    s.shares.each(em, one, registers=True)
