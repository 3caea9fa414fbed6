"""From a stage and a schedule to a low-level program: one translation for stages of any number of dimensions.

Every operand is an array with an axis for each digit of its dimensions, in the order of the loops.  A parallel loop is
a map over the operands that have its axis; a loop of a reduction is a fold, whose accumulator is an array over all
parallel loops inside; what follows the reductions is a map over accumulators.

    grid 0, grid 1, sequential 2, item 0, item 1  ->
    mapWorkgroup1 (mapWorkgroup0 (\\<a, b>. fold (\\<acc, <x, y>>. mapLocal1 (mapLocal0 step) ..) 0s (zip a b)))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egglift.egraph.schedules.kept_results import copied_out
from egglift.egraph.schedules.operand_arrays import Digit, cut_operand, kept, packed, sizes_of
from egglift.egraph.schedules.schedule import RESULT, Keep, Loop, Schedule, Step
from egglift.egraph.stages.loops import Tensor, folded, mapped, nest
from egglift.egraph.stages.operands import Operand, bound, operands_of
from egglift.egraph.stages.sharing import by_halves, commutes
from egglift.egraph.stages.stage import Dim, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size
from egglift.ir.traverse import applied
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL, Array, Tuple, Type


def lower(stage: Stage, schedule: Schedule) -> Expr:
    """The low-level program of a stage under a schedule of its loops."""
    work = Lowering(stage, schedule)
    return work.in_order(work.outside(schedule.steps, work.tensors()))


def operands(stage: Stage) -> list[Operand]:
    """What a stage's reductions read; of a stage without any, what its body reads."""
    chain = stage.phases
    return (
        _operands(stage, chain[0])
        if chain
        else operands_of(stage.names, stage.body, stage.dims, stage.given, stage.narrow)
    )


def _operands(stage: Stage, reductions: Sequence[Reduction]) -> list[Operand]:
    dims = tuple(dict.fromkeys((*stage.dims, *(d for r in reductions for d in r.dims))))
    return operands_of(stage.names, as_one([r.element for r in reductions]), dims, stage.given, stage.narrow)


def _element(array: Expr) -> Type:
    t = type_of(array)
    assert isinstance(t, Array)
    return t.element


def _counters(dims: Sequence[Dim], operands: Sequence[Operand]) -> list[Operand]:
    """What loops over dimensions go through that none of these operands has: arrays that nothing reads."""
    read = {d for o in operands for d in o.dims}
    return [Operand(p.Fill(d.extent, p.Literal(True, BOOL)), (d,), _NOTHING) for d in dims if d not in read]


#: the name of what nothing reads
_NOTHING = p.Input("%nothing", BOOL)


@dataclass(frozen=True)
class Phase:
    """Elements that accumulators take in: of some reductions over one space.  whole: as the schedule says, in chunks;
    else what is left over, or a reduction that follows: one after the other."""

    reductions: tuple[Reduction, ...]
    operands: list[Operand]
    whole: bool
    rest: Dim | None = None

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.reductions[0].dims


class Lowering:
    """The parts of a translation: what is read as tensors, the loops around these, and the result over dimensions."""

    def __init__(self, stage: Stage, schedule: Schedule) -> None:
        self.stage, self.schedule, self.names = stage, schedule, stage.names
        self.results = [x for x, what in self.names.of(stage.body) if isinstance(what, Reduction)]
        self.phases = self._phases()
        self.reduced = {d for phase in self.phases for d in phase.dims}
        self.first = self.phases[0].reductions if self.phases else ()
        self.after = operands_of(self.names, stage.body, stage.dims, stage.given, stage.narrow)
        self.after += _counters(stage.dims, [*self.after, *(o for phase in self.phases for o in phase.operands)])

    def _phases(self) -> list[Phase]:
        found: list[Phase] = []
        for i, reductions in enumerate(self.stage.phases):
            reads = _operands(self.stage, reductions)
            reads += _counters(reductions[0].dims, reads)
            found.append(Phase(reductions, reads, i == 0))
            cut = [d for d in reductions[0].dims if self._leaves_some(d)] if i == 0 else []
            found += [Phase(reductions, reads, False, d) for d in cut]
        return found

    def _leaves_some(self, d: Dim) -> bool:
        """May blocks of a reduced dimension leave something over?"""
        blocks = self.schedule.blocks(d)[:1]
        return bool(blocks) and not (
            isinstance(blocks[0], int) and isinstance(d.extent, int) and d.extent % blocks[0] == 0
        )

    # ------------------------------------------------------------------------------------ the whole

    @property
    def operands(self) -> list[tuple[Operand, Phase | None]]:
        """Everything that is read, and in which phase; None: in what follows."""
        within: list[tuple[Operand, Phase | None]] = [(o, phase) for phase in self.phases for o in phase.operands]
        return within + [(o, None) for o in self.after]

    def tensors(self) -> list[Tensor]:
        """The operands, without those that are given, with axes for the digits of their dimensions."""
        return [self.tensor(o, phase) for o, phase in self.operands if o.at not in self.stage.given]

    def tensor(self, o: Operand, phase: Phase | None) -> Tensor:
        """An operand with an axis for each digit of its dimensions, in the order of the loops."""
        t = self.cut(o, phase)
        return packed(t, self.schedule.loops) if phase is not None and phase.whole and self._is_packed(o) else t

    def cut(self, o: Operand, phase: Phase | None) -> Tensor:
        """The same of an array of some of the dimensions, wherever it is."""
        x, axes = cut_operand(o, self.schedule, phase.dims if phase else (), phase.rest if phase else None)
        order = [d for d in self._order(phase) if d in axes]
        return Tensor(permuted(x, axes, order), tuple(order))

    def _is_packed(self, o: Operand) -> bool:
        return any(
            s == Keep(self.phases[0].operands.index(o), "global") for s in self.schedule.steps if isinstance(s, Keep)
        )

    def _order(self, phase: Phase | None) -> list[Digit]:
        """The digits in the order of their loops; what follows goes one by one, around the accumulators."""
        loops = self.schedule.loops
        if phase is None or phase.whole:
            return _digits(loops)
        first = next(i for i, loop in enumerate(loops) if loop.dim in self.reduced)
        at = len(loops) if loops[first].kind == "item" else first
        order = [loop for loop in loops[:at] if loop.dim not in self.reduced]
        return _digits([*order, *self._one_by_one(phase), *self.parallel(loops[at:])])

    def _split(self, tensors: Sequence[Tensor]) -> tuple[list[list[Tensor]], list[Tensor]]:
        """The tensors of each phase, and those of what follows."""
        found, start = [], 0
        for phase in self.phases:
            found.append(list(tensors[start : start + len(phase.operands)]))
            start += len(phase.operands)
        return found, list(tensors[start:])

    # ------------------------------------------------------------------------------------ loops

    def outside(self, steps: Sequence[Step], tensors: list[Tensor]) -> Expr:
        """Loops around the accumulators."""
        if not steps:
            return bound(self.stage.body, self.after, [t.x for t in tensors])
        step, inner = steps[0], steps[1:]
        match step:
            case Keep(space="global"):  # a copy of the whole operand, before it is cut
                return self.outside(inner, tensors)
            case Keep() if step.operand == RESULT:
                found = self.outside(inner, tensors)
                return copied_out(step, found, self.parallel(inner), sizes_of(tensors))
            case Keep():
                return self.outside(inner, kept(step, tensors, self.reduced))
            case Loop(dim=d, kind="item") if d in self.reduced:
                return self._shared(step, inner, tensors)
            case Loop(dim=d) if d in self.reduced:
                return self._accumulated(steps, tensors)
            case Loop():
                return mapped((step.dim, step.digit), tensors, lambda ts: self.outside(inner, ts), step.level)

    def _accumulated(self, steps: Sequence[Step], tensors: list[Tensor]) -> Expr:
        """The reductions over all parallel loops inside, and what follows them."""
        total, after = self.accumulated(steps, tensors)
        return self._finished(self.parallel(steps), total, after)

    def accumulated(
        self, steps: Sequence[Step], tensors: list[Tensor], begun: Expr | None = None
    ) -> tuple[Expr, list[Tensor]]:
        """The accumulators, an array over all parallel loops inside, and what is read in what follows.

        begun: what they are before; None: what the reductions begin with.
        """
        parts, after = self._split(tensors)
        parallel = self.parallel(steps)
        init = as_one([r.init for r in self.first])
        total = self.filled(init, parallel, sizes_of(tensors)) if begun is None else begun
        for phase, ts in zip(self.phases, parts, strict=True):
            own = steps if phase.whole else [*self._one_by_one(phase), *parallel]
            total = self.reduced_by(phase, own, total, parallel, ts)
        return total, after

    def parallel(self, steps: Sequence[Step]) -> list[Loop]:
        """The loops over dimensions of the result."""
        return [s for s in steps if isinstance(s, Loop) and s.dim not in self.reduced]

    def _one_by_one(self, phase: Phase) -> list[Loop]:
        return [Loop(d, 0, "sequential") for d in phase.dims]

    def reduced_by(
        self, phase: Phase, steps: Sequence[Step], total: Expr, parallel: list[Loop], tensors: list[Tensor]
    ) -> Expr:
        """`total` with all elements of a phase folded in."""
        if not steps:
            return self.step(phase, total, [t.x for t in tensors])
        step, inner = steps[0], steps[1:]
        match step:
            case Keep():
                return self.reduced_by(phase, inner, total, parallel, kept(step, tensors, self.reduced))
            case Loop(dim=d, digit=i) if d in self.reduced:

                def fold(acc: Expr, ts: list[Tensor]) -> Expr:
                    return self.reduced_by(phase, inner, acc, parallel, ts)

                unroll, matrix = step.kind == "unrolled", step.kind == "matrix"
                return folded((d, i), total, tensors, fold, unroll, step.prefetch, matrix, step.buffers)
            case Loop(dim=d, digit=i):
                assert parallel[0] == step

                def of(ts: list[Tensor]) -> Expr:
                    return self.reduced_by(phase, inner, ts[0].x, parallel[1:], ts[1:])

                return mapped((d, i), [Tensor(total, tuple(_digits(parallel))), *tensors], of, step.level)

    def _shared(self, step: Loop, inner: Sequence[Step], tensors: list[Tensor]) -> Expr:
        """Work-items reduce parts of the elements; what they find is combined through local memory."""
        parts, after = self._split(tensors)
        parallel, sizes = self.parallel(inner), sizes_of(tensors)

        def part(ts: list[Tensor]) -> Expr:
            return self.reduced_by(self.phases[0], inner, self.filled(self.neutral(), parallel, sizes), parallel, ts)

        found = mapped((step.dim, step.digit), parts[0], part, step.level)
        return self.shared(step, inner, found, parts[1:], after, sizes)

    def shared(
        self,
        step: Loop,
        inner: Sequence[Step],
        parts: Expr,
        others: Sequence[list[Tensor]],
        after: Sequence[Tensor],
        sizes: Mapping[Digit, Size],
    ) -> Expr:
        """What work-items have found of parts of the elements, combined; then the other phases, and what follows."""
        parallel, share = self.parallel(inner), (step.dim, step.digit)
        space = "private" if step.level == Level("vec") else "local"
        found: Expr = p.To(space, parts)
        axes = _digits(parallel)
        halved = space == "local" and bool(parallel) and by_halves(self.stage)
        totals = self._halved(found, parallel, sizes) if halved else permuted(found, (share, *axes), (*axes, share))

        def finish(ts: list[Tensor]) -> Expr:
            total = ts[0].x if halved else self.total(share, ts[0], space, alone=not parallel)
            start = 1
            for phase in self.phases[1:]:
                own = ts[start : start + len(phase.operands)]
                total = self.reduced_by(phase, self._one_by_one(phase), total, [], own)
                start += len(phase.operands)
            return self.epilogue(total, [t.x for t in ts[start:]])

        over = tuple(axes) if halved else (*axes, share)
        left = [t for ts in others for t in ts]
        return nest(_levels(parallel), [Tensor(totals, over), *left, *after], finish)

    # ------------------------------------------------------------------------------------ points

    def step(self, phase: Phase, total: Expr, elements: list[Expr]) -> Expr:
        """`total` with one element of a phase taken in."""
        element = bound(as_one([r.element for r in phase.reductions]), phase.operands, elements)
        if len(phase.reductions) == 1:
            return applied(phase.reductions[0].step, total, element)
        assert isinstance(element, p.Tup)
        each = enumerate(zip(phase.reductions, element.items, strict=True))
        return p.Tup(tuple(applied(r.step, p.Get(i, total), e) for i, (r, e) in each))

    def total(self, share: Digit, parts: Tensor, space: str, alone: bool) -> Expr:
        """Partial results as one: halves together by lanes, or by items that share one result alone, if the order of
        the parts does not matter."""
        init = as_one([r.init for r in self.first])
        if (space == "local" and not alone) or not commutes(self.stage):
            return folded(share, init, [parts], lambda total, ts: self.combined(total, ts[0].x))
        pair = p.Arg(Tuple((type_of(init), type_of(init))))
        return p.Tree(self.combined(p.Get(0, pair), p.Get(1, pair)), init, parts.x)

    def _halved(self, parts: Expr, parallel: list[Loop], sizes: Mapping[Digit, Size]) -> Expr:
        """Partial results of several results, [parts][results]..., halves together: all work-items take part."""
        init = self.filled(as_one([r.init for r in self.first]), parallel, sizes)
        pair = p.Arg(Tuple((type_of(init), type_of(init))))

        def elementwise(depth: int, one: Expr, other: Expr) -> Expr:
            if depth == 0:
                return self.combined(one, other)
            of = p.Arg(Tuple((_element(one), _element(other))))
            return p.Map(elementwise(depth - 1, p.Get(0, of), p.Get(1, of)), p.Zip((one, other)))

        return p.Tree(elementwise(len(parallel), p.Get(0, pair), p.Get(1, pair)), init, parts)

    def combined(self, one: Expr, other: Expr) -> Expr:
        """Two partial results as one."""
        ops = [r.op for r in self.first if r.op is not None]
        if len(ops) == 1:
            return applied(ops[0].body, one, other)
        return p.Tup(tuple(applied(op.body, p.Get(i, one), p.Get(i, other)) for i, op in enumerate(ops)))

    def neutral(self) -> Expr:
        """The neutral elements of the first reductions."""
        return as_one([r.op.neutral for r in self.first if r.op is not None and r.op.neutral is not None])

    def _finished(self, parallel: list[Loop], total: Expr, after: list[Tensor]) -> Expr:
        """What follows the reductions, for all accumulators."""
        if self.stage.body in self.results and not after:
            return total

        def finish(ts: list[Tensor]) -> Expr:
            return self.epilogue(ts[0].x, [t.x for t in ts[1:]])

        levels = [((loop.dim, loop.digit), loop.after or loop.level) for loop in parallel]
        return nest(levels, [Tensor(total, tuple(_digits(parallel))), *after], finish)

    def epilogue(self, total: Expr, elements: list[Expr]) -> Expr:
        """What follows the reductions, for their results and the elements that it reads besides."""
        body = bound(self.stage.body, self.after, elements)
        several = len(self.results) > 1
        return substituted(body, {x: p.Get(i, total) if several else total for i, x in enumerate(self.results)})

    def filled(self, init: Expr, loops: Sequence[Loop], sizes: Mapping[Digit, Size]) -> Expr:
        """`init` for all indices of loops."""
        for loop in reversed(loops):
            init = p.Fill(sizes[loop.dim, loop.digit], init)
        return init

    # ------------------------------------------------------------------------------------ the result

    def in_order(self, found: Expr) -> Expr:
        """The array over digits in the order of the loops as one over dimensions; what was padded is dropped."""
        order = [(d, i) for d in self.stage.dims for i in range(len(self.schedule.blocks(d)) + 1)]
        x = permuted(found, _digits(self.parallel(self.schedule.steps)), order)
        for i, d in enumerate(self.stage.dims):
            if blocks := self.schedule.blocks(d):
                x = merged(x, i, len(blocks) + 1)
                x = at_depth(i, x, lambda e, d=d: p.Take(d.extent, e))  # type: ignore[misc]
        return x


def _digits(loops: Sequence[Loop]) -> list[Digit]:
    return [(loop.dim, loop.digit) for loop in loops]


def _levels(loops: Sequence[Loop]) -> list[tuple[Digit, Level | None]]:
    return [((loop.dim, loop.digit), loop.level) for loop in loops]
