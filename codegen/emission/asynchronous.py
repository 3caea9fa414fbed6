"""Asynchronous copies: what a fold's steps keep in local memory is copied there, some steps ahead, past registers.

    copy 0 to buffer 0; close group                         of 3 buffers
    copy 1 to buffer 1; close group
    for i: await all groups but the last one; barrier
           copy i + 2 to buffer (i + 2) % 3; close group
           step i, on buffer i % 3

A barrier for each step: it says that all work-items' copies are there, and that none still reads the buffer that is
filled next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.copy import copy
from egglift.codegen.emission.prefetch import shared
from egglift.codegen.emission.shares import Shares, at, dimensions, shared_out
from egglift.codegen.emission.translator import Translator
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import Condition
from egglift.codegen.kernel.index import ZERO, Index, Var, index
from egglift.codegen.kernel.views import View, element, number
from egglift.codegen.kernel.walk import with_blocks
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.types import Array, Type


@dataclass(frozen=True)
class _Buffered:
    """A node with its buffers in local memory, and who copies which elements."""

    node: p.To
    inner: Type
    memory: View
    count: int
    shares: Shares

    def buffer(self, i: Index) -> View:
        """The local memory of step `i`."""
        return element(self.memory, i % self.count)


def run(
    em: Translator,
    t: p.Fold,
    nodes: tuple[p.To, ...],
    n: int,
    argument: Callable[[Index], View],
    step: Callable[[Index, Mapping[Expr, View]], None],
    ends: Callable[[Index], Condition | None],
) -> None:
    """`n` steps of `t` whose `nodes` are copied ahead.  argument: the body's, for a step; ends: where the loop may end.

    CodegenError where the device copies nothing asynchronously, or elements are no copies, or too small or unaligned.
    """
    if not em.limits.asynchronous_copies:
        raise CodegenError(f"{brief(t)}: this device copies nothing asynchronously; choose a prefetch, no buffers")
    if isinstance(n, Length):
        raise CodegenError(f"{brief(t)}: {n} steps, known at a call only, are not copied ahead; choose a prefetch")
    if n == 0:
        return
    ahead = number(t.buffers) - 1

    def source(node: p.To, i: Index) -> View:
        return em.value(node.x, argument(i))

    buffered = [_buffered(em, node, source(node, index(Var("?", n, "loop"))), ahead + 1) for node in nodes]

    def fetch(i: Index) -> None:
        for b in buffered:
            with em.block() as statements, shared(em):
                _copy(em, b, source(b.node, i), i)
            em.put(*_asynchronous(statements, b.node))

    def one(i: Index) -> None:
        em.put(im.AwaitCopies(ahead - 1), im.Barrier())
        if i.range[0] < n - ahead:
            with em.when((i, n - ahead)):
                fetch(i + ahead)
        em.put(im.CloseCopies())
        step(i, {b.node: b.buffer(i) for b in buffered})

    def first(i: Index) -> None:
        with em.when((i, n)):
            fetch(i)
        em.put(im.CloseCopies())

    em.loop(ahead, first, unroll=True)
    em.loop(n, one, t.unroll, ends=ends)


def _buffered(em: Translator, node: p.To, source: View, count: int) -> _Buffered:
    type = type_of(node)
    dims, inner = dimensions(type)
    em.put(im.Comment(f"toLocal, {count} buffers"))
    pad, swizzle = number(node.pad), number(node.swizzle)
    memory = em.allocate(Array(count, type), "local", "s", node, pad, swizzle).view
    target = Target(element(memory, ZERO), "local")
    return _Buffered(node, inner, memory, count, shared_out(em, source, target, dims, inner, aligned=True))


def _copy(em: Translator, b: _Buffered, source: View, i: Index) -> None:
    def one(e: Index, _: Index) -> None:
        path = b.shares.path(e)
        copy(em, at(source, path), Target(at(b.buffer(i), path), "local"), b.inner)

    b.shares.each(em, one)


def _asynchronous(body: Iterable[im.Statement], node: p.To) -> list[im.Statement]:
    """`body`, in which every copy to local memory is asynchronous."""
    found: list[im.Statement] = []
    for s in body:
        match s:
            case im.Store(buffer, _, im.Load(source), lane) if buffer.space == "local" and source.space == "global":
                size = buffer.scalar.size * (lane.count if lane else 1)
                if size not in im.COPIED:
                    raise _refused(node, f"are copied {size} bytes at a time")
                found.append(replace(s, asynchronous=True))
            case im.Store() | im.Let():
                raise _refused(node, "are computed, not copied")
            case _:
                found.append(with_blocks(s, lambda inner: _asynchronous(inner, node)))
    return found


def _refused(node: p.To, why: str) -> CodegenError:
    sizes = ", ".join(map(str, im.COPIED))
    return CodegenError(
        f"{brief(node)}: its elements {why}; asynchronous copies are of {sizes} bytes, aligned: choose a prefetch there"
    )
