"""Fragments are loaded a product ahead, where tiles are copied ahead: units multiply while the next ones are loaded.

    for i: await copies i; barrier; copy i + 2        await copies 0; barrier; copy 2; load 0 of step 0
           load 0; products 0                   ->    for i: load 1; products 0
           load 1; products 1                                await copies i + 1; barrier; copy i + 3
                                                             load 0 of step i + 1; products 1

A step has an even number of products of fragments, which two sets of registers take in turn.  What the last iteration
loads for a step after it is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import Statement
from egglift.codegen.kernel.index import Index, Var, index
from egglift.codegen.kernel.rewrite import Rewriter
from egglift.codegen.kernel.walk import walk, with_blocks
from egglift.ir.lengths import Length


@dataclass(frozen=True)
class CopiedAhead:
    """A loop whose steps wait for copies, start others, and multiply what is there.

    copies: what is before the loop of products `matrix`; comments: what is said of it.
    """

    loop: im.Loop
    copies: tuple[Statement, ...]
    comments: tuple[Statement, ...]
    matrix: im.Loop

    @property
    def open(self) -> int:
        """Groups of copies that may be on their way when a step begins."""
        return next(s.open for s in self.copies if isinstance(s, im.AwaitCopies))


@dataclass(frozen=True)
class Turns:
    """The products of one step, in turn: registers, and for each turn its loads and its products."""

    registers: tuple[Statement, ...]
    loads: Sequence[tuple[Statement, ...]]
    products: Sequence[tuple[Statement, ...]]


def copied_ahead(loop: im.Loop) -> CopiedAhead | None:
    """The parts of a loop that multiplies what was copied ahead; None if it is no such loop."""
    if loop.until is not None or isinstance(loop.trips, Length) or not isinstance(loop.body[0], im.AwaitCopies):
        return None
    *copies, last = loop.body
    if not all(map(_copies, walk(copies))):
        return None
    inside = list(last.body) if isinstance(last, im.If) and not last.conditions else [last]
    matrix = inside.pop()
    if not isinstance(matrix, im.Loop) or not matrix.matrix or not all(isinstance(s, im.Comment) for s in inside):
        return None
    return CopiedAhead(loop, tuple(copies), tuple(inside), matrix)


def _copies(s: Statement) -> bool:
    """Is it a part of copies that are waited for, or begun?"""
    match s:
        case im.Store(asynchronous=asynchronous):
            return asynchronous
        case im.Loop(matrix=matrix):
            return not matrix
        case im.AwaitCopies() | im.CloseCopies() | im.Barrier() | im.If() | im.Comment():
            return True
    return False


def rotated(ahead: CopiedAhead, turns: Turns) -> Iterator[Statement]:
    """The loop with each turn's loads before the products of the turn before it."""
    loop, step = ahead.loop, ahead.loop.var
    yield from turns.registers
    start: Mapping[Var, Index | int] = {step: 0}
    yield from at_step(ahead.copies, start)
    yield together(at_step(turns.loads[0], start))
    after: Mapping[Var, Index | int] = {step: index(step) + 1}
    body: list[Statement] = []
    for loads, products in zip(turns.loads[1:], turns.products, strict=False):
        body += [together((*ahead.comments, *loads, *products))]
    body += at_step(ahead.copies, after)
    body += [together((*at_step(turns.loads[0], after), *turns.products[-1]))]
    yield replace(loop, body=tuple(body))


def together(body: Iterable[Statement]) -> Statement:
    """A step of the group."""
    return im.If((), tuple(body))


def at_step(body: Iterable[Statement], to: Mapping[Var, Index | int]) -> list[Statement]:
    """`body` at another value of a loop's variable: what is never reached there is left out."""
    places = Rewriter(lambda buffer, at: (buffer, at.substitute(to))).statements(body)
    return [found for s in places if (found := _where(s, to)) is not None]


def _where(s: Statement, to: Mapping[Var, Index | int]) -> Statement | None:
    """`s` with its conditions at other values; None where one never holds."""
    if isinstance(s, im.If):
        conditions = [(e.substitute(to), n) for e, n in s.conditions]
        if any(e.range[0] >= n for e, n in conditions):
            return None
        s = replace(s, conditions=tuple((e, n) for e, n in conditions if not e.range[1] < n))
    return with_blocks(s, lambda inner: [found for x in inner if (found := _where(x, to)) is not None])
