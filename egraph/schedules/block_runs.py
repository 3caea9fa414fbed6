"""What a stage has found in the blocks that a group takes in turn: accumulators, which take in one after the other.

    s[0] = sum_1 A[1,0]  ->  acc[0] = 0, by items;  for blocks of 1, in turn:  for 0, items:  acc[0] += ...;  s = acc

Where items share a reduction, each has accumulators of its own, and these are added once, after all blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from egglift.egraph.schedules.lower import Lowering
from egglift.egraph.schedules.operand_arrays import Digit, kept
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule, Step
from egglift.egraph.stages.loops import Tensor, mapped, nest
from egglift.egraph.stages.stage import Dim, number
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size


class InRuns:
    """The accumulators of a stage that reduces a block.  steps: its loops within the block."""

    def __init__(self, work: Lowering, steps: Sequence[Step]) -> None:
        self.work, self.steps = work, steps
        self.phase, *rest = work.phases
        if rest:
            raise CodegenError(f"{work.stage.name}: something of each block is left over")
        self.share = next((s for s in steps if isinstance(s, Loop) and self._is_shared(s)), None)
        self.sizes = _lengths(work.schedule, [s for s in steps if isinstance(s, Loop)])

    def _is_shared(self, s: Loop) -> bool:
        return s.kind == "item" and s.dim in self.work.reduced

    def _loops(self, steps: Sequence[Step]) -> list[Loop]:
        """The loops over accumulators: those of results, and that of items which share a reduction."""
        return [s for s in steps if isinstance(s, Loop) and (s == self.share or s.dim not in self.work.reduced)]

    def begun(self) -> Expr:
        """The accumulators before all blocks."""
        return self.work.filled(self.work.neutral(), self._loops(self.steps), self.sizes)

    def taken_in(self, state: Expr, tensors: list[Tensor]) -> Expr:
        """The accumulators with what is read of a block taken in."""
        return self._taken(self.steps, state, tensors)

    def _taken(self, steps: Sequence[Step], state: Expr, tensors: list[Tensor]) -> Expr:
        if self.share is None or self.share not in steps:
            return self.work.reduced_by(self.phase, steps, state, self._loops(steps), tensors)
        step, inner = steps[0], steps[1:]
        if isinstance(step, Keep):
            return self._taken(inner, state, kept(step, tensors, self.work.reduced))
        own = [Tensor(state, _digits(self._loops(steps))), *tensors]
        return mapped((step.dim, step.digit), own, lambda ts: self._taken(inner, ts[0].x, ts[1:]), step.level)

    def finished(self, state: Expr) -> Expr:
        """What there is after all blocks, over the loops of results."""
        return self._finished([s for s in self.steps if isinstance(s, Loop)], state)

    def _finished(self, steps: Sequence[Loop], state: Expr) -> Expr:
        step, loops = steps[0], self._loops(steps)
        total = Tensor(state, _digits(loops))
        if step == self.share:
            own = nest([((s.dim, s.digit), s.level) for s in loops], [total], lambda ts: ts[0].x)
            return self.work.shared(step, steps[1:], own, [], [], self.sizes)
        if self.share in steps:
            return mapped(total.axes[0], [total], lambda ts: self._finished(steps[1:], ts[0].x), step.level)
        levels = [((s.dim, s.digit), s.after or s.level) for s in loops]
        return nest(levels, [total], lambda ts: self.work.epilogue(ts[0].x, []))


def _digits(loops: Sequence[Loop]) -> tuple[Digit, ...]:
    return tuple((s.dim, s.digit) for s in loops)


def _lengths(schedule: Schedule, loops: Sequence[Loop]) -> Mapping[Digit, Size]:
    """How many indices each loop has, of a schedule without symbols."""
    return {(s.dim, s.digit): _length(s.dim, s.digit, schedule.blocks(s.dim)) for s in loops}


def _length(d: Dim, digit: int, blocks: Sequence[Size]) -> int:
    lengths = [number(d), *(n for n in blocks if isinstance(n, int)), 1]
    return -(-lengths[digit] // lengths[digit + 1])
