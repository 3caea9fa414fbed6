"""What a group does with its block of an array: structures of stages whose outermost dimensions count blocks.

    for blocks, groups:  b[0,1] = A[0,1], in local memory;  for 1, items:  for 0, in turn:  s[1] += b[0,1];  ...

Where all stages reduce along what is cut, a group takes blocks in turn, and has what it has found in registers.

What a group yields is a tuple: what it has found for each of the stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from egglift.egraph.schedules.block_runs import InRuns
from egglift.egraph.schedules.lower import Lowering, Phase, lower
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule, Step
from egglift.egraph.schedules.structures import Structure, Work
from egglift.egraph.schedules.ways import IN_SHORT_ROWS, INSIDE, Way
from egglift.egraph.stages.loops import Tensor, folded, nest
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import evaluate
from egglift.ir.tuples import as_one, parts_of

#: groups along the second and the third dimension of a grid, at most: what drivers of GPUs have
MOST = (1 << 16) - 1
SHORT = 8  # elements of a row, below which items beside each other have rows


def inside(stage: Stage, blocks: Sequence[Dim], kind: str) -> Iterator[tuple[Way, Structure]]:
    """Structures of a stage in which a group, or a work-item of a CPU, has a block.  kind: "gpu" or "cpu"."""
    for way in INSIDE[kind]:
        found = scheduled(stage, blocks, way, kind)
        if found is not None:
            schedule, work = found
            yield way, Structure(way.name, stage, schedule, lower(stage, schedule), work.tiles)


def scheduled(
    stage: Stage, blocks: Sequence[Dim], way: Way, kind: str, in_turn: bool = False
) -> tuple[Schedule, Work] | None:
    """The loops of a stage over blocks and, by that way, within; None where it has other dimensions, or the laws do not
    make its run.  in_turn: do groups take blocks in turn?  Then what items have of each is in registers, too."""
    inner = [d for d in stage.dims if d not in blocks]
    if bool(way.reduced) != bool(stage.reductions) or bool(way.columns) + bool(way.rows) > len(inner):
        return None
    if way is IN_SHORT_ROWS and not number(inner[-1]) < SHORT:
        return None
    if kind == "gpu" and inner and not way.columns:  # all items would wait for each result
        return None
    rows, columns = inner[-2] if way.rows else None, inner[-1] if way.columns else None
    held = in_turn or way.rows or "held" in way.reduced
    work = Work(stage, way, rows, columns, reassociate=True, near=stage.given if held else frozenset())
    steps = work.steps()
    if steps is None:
        return None
    return Schedule(_by_blocks(steps, blocks, kind), tuple(work.cuts.items())), work


def _by_blocks(steps: Sequence[Step], blocks: Sequence[Dim], kind: str) -> tuple[Step, ...]:
    """The steps with the loops over blocks outermost, by groups; what else no way cuts is taken one by one."""
    group, order = "workgroup" if kind == "gpu" else "global", list(reversed(blocks))
    if any(number(d) > MOST for d in order[1:]):
        order.sort(key=number, reverse=True)
    outer = [Loop(d, 0, "grid", Level(group, order.index(d))) for d in blocks]
    left = [s for s in steps if not (isinstance(s, Loop) and s.dim in blocks)]

    def in_turn(s: Step) -> Step:
        return replace(s, kind="own", level=Level("seq")) if isinstance(s, Loop) and s.kind == "grid" else s

    return (*outer, *map(in_turn, left))


def with_numbers(schedule: Schedule, sizes: Mapping[str, int]) -> Schedule:
    """A schedule with numbers for its symbols."""

    def numbered(step: Step) -> Step:
        if isinstance(step, Keep):
            return replace(step, pad=evaluate(step.pad, sizes))
        return replace(step, prefetch=evaluate(step.prefetch, sizes), buffers=evaluate(step.buffers, sizes))

    cuts = tuple((d, tuple(evaluate(b, sizes) for b in blocks)) for d, blocks in schedule.cuts)
    return Schedule(tuple(map(numbered, schedule.steps)), cuts)


class SideBySide:
    """A kernel whose groups have a block each, or some in turn, and go through it for one stage after the other.

    stages: with their schedules, which begin with the same loops over blocks; what these are given is near: names of
    arrays that `copy` yields, in local memory.  turn: which of the blocks' dimensions a group takes in turn; then all
    stages reduce, and what groups yield is what they have found in all turns.
    """

    def __init__(
        self,
        stages: Sequence[tuple[Stage, Schedule]],
        blocks: Sequence[Dim],
        copy: tuple[Stage, Schedule] | None = None,
        near: Sequence[str] = (),
        turn: Dim | None = None,
    ) -> None:
        self.works = [Lowering(*each) for each in stages]
        self.copy, self.near, self.depth = Lowering(*copy) if copy else None, list(near), len(blocks)
        self.turn = turn
        self.outer = [loop for loop in self.works[0].schedule.loops[: self.depth] if loop.dim != turn]

    def program(self) -> Expr:
        """An array over the blocks, of tuples."""
        works = [*([self.copy] if self.copy else []), *self.works]
        tensors = [t for work in works for t in work.tensors()]
        group = self._group if self.turn is None else self._in_turn
        return nest([((loop.dim, loop.digit), loop.level) for loop in self.outer], tensors, group)

    def array(self, kernel: Expr, i: int) -> Expr:
        """The array of the i-th stage, over the blocks and what is within, of what the kernel yields."""
        return at_depth(len(self.outer), kernel, lambda e: p.Get(i, e))

    def _group(self, tensors: list[Tensor]) -> Expr:
        found = [self._within(work, own) for work, own in self._own(tensors)]
        return p.Tup(tuple(found))

    def _own(self, tensors: list[Tensor]) -> Iterator[tuple[Lowering, list[Tensor]]]:
        """What each stage reads of a block, which is in local memory."""
        left, block = iter(tensors), None
        if self.copy is not None:
            own = [next(left) for _ in self.copy.operands]
            block = p.To("local", self._within(self.copy, own))
        for work in self.works:
            yield work, [self._near(work, block, o, phase) or next(left) for o, phase in work.operands]

    def _in_turn(self, tensors: list[Tensor]) -> Expr:
        """What is found in a run of blocks: accumulators of all stages, which take in one block after the other."""
        found = [InRuns(work, work.schedule.steps[self.depth :]) for work in self.works]
        init = as_one([x.begun() for x in found])

        def turn(state: Expr, ts: list[Tensor]) -> Expr:
            states = parts_of(state, len(found))
            own = (own for _, own in self._own(ts))
            return as_one([x.taken_in(s, read) for x, s, read in zip(found, states, own, strict=True)])

        total = folded((self.turn, 0), init, tensors, turn)
        states = parts_of(total, len(found))
        each = (self._in_order(x.work, x.finished(s)) for x, s in zip(found, states, strict=True))
        return p.Tup(tuple(each))

    def _within(self, work: Lowering, tensors: list[Tensor]) -> Expr:
        """What a group makes of its block, over what is within."""
        return self._in_order(work, work.outside(work.schedule.steps[self.depth :], tensors))

    def _near(self, work: Lowering, block: Expr | None, o: Operand, phase: Phase | None) -> Tensor | None:
        """What is given, in local memory."""
        if o.at not in work.stage.given:
            return None
        assert block is not None and isinstance(o.at, p.Input)
        read = work.names.reads[o.at.name]
        assert isinstance(read.view, p.Input)
        dims, which = read.dims[self.depth :], self.near.index(read.view.name)
        x = block if len(self.near) == 1 else at_depth(len(dims), block, lambda e: p.Get(which, e))
        return work.cut(Operand(x, dims, o.at), phase)

    def _in_order(self, work: Lowering, found: Expr) -> Expr:
        """An array over digits as one over dimensions; what was padded is dropped."""
        inner = work.stage.dims[self.depth :]
        order = [(d, i) for d in inner for i in range(len(work.schedule.blocks(d)) + 1)]
        loops = [loop for loop in work.parallel(work.schedule.steps) if loop.dim in inner]
        x = permuted(found, [(loop.dim, loop.digit) for loop in loops], order)
        for i, d in enumerate(inner):
            if work.schedule.blocks(d):
                x = merged(x, i, len(work.schedule.blocks(d)) + 1)
                x = at_depth(i, x, lambda e, d=d: p.Take(d.extent, e))  # type: ignore[misc]
        return x
