"""Schedules: how the loops of a stage are cut, ordered, given to executors, and where what they read is kept.

    for 0 over 2048 grid                        Loop(0, 0, "grid")
      for 1 over 2048 grid                      Loop(1, 0, "grid")
        for 2 over 1024/16 sequential           Loop(2, 0, "sequential")
          keep operand 0 in local memory        Keep(0, "local")
          for 0 over 16 items ...               Loop(0, 2, "item")

A dimension is cut into digits: digit 0 counts the largest blocks, the last one single elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from egglift.codegen.kernel.views import EXCHANGED
from egglift.egraph.stages.stage import Dim
from egglift.ir.patterns import Level
from egglift.ir.sizes import Size

#: who executes a loop: groups of the grid, work-items of a group, one work-item (or a vector's lanes) for elements of
#: its own, or for one step of a reduction after the other, or a warp's lanes for some steps together
KINDS = ("grid", "item", "own", "sequential", "unrolled", "matrix")


@dataclass(frozen=True)
class Loop:
    """A loop over one digit of a dimension.  level: which executors, for a parallel one, and `after`: in what follows
    the reductions, where it is another.  prefetch, buffers: when what is kept inside is loaded (ir/patterns.Fold)."""

    dim: Dim
    digit: int
    kind: str
    level: Level | None = None
    prefetch: Size = 0
    after: Level | None = None
    buffers: Size = 0

    def __str__(self) -> str:
        return f"{self.dim.number}.{self.digit} {self.level or self.kind}"


#: the operand of a `Keep` that is none: what the loops inside yield
RESULT = -1


@dataclass(frozen=True)
class Keep:
    """What the loops inside read of an operand is copied to a memory space first; rows are `pad` elements longer.

    Of RESULT, what they yield is written there first, and copied out in the order of memory.

    In local memory it is an array over dimensions, those of reductions outermost; steps_inside: innermost.  swizzle:
    how far each of its rows is rotated, or how it lies for warp groups (ir/patterns.To).
    """

    operand: int
    space: str
    pad: Size = 0
    steps_inside: bool = False
    swizzle: int = 0

    def __str__(self) -> str:
        return f"keep {'result' if self.operand == RESULT else self.operand} {self.space}"


Step: TypeAlias = Loop | Keep


@dataclass(frozen=True)
class Schedule:
    """The steps, outermost first.  cuts: the blocks into which a dimension is cut, the largest first."""

    steps: tuple[Step, ...]
    cuts: tuple[tuple[Dim, tuple[Size, ...]], ...]

    def blocks(self, dim: Dim) -> tuple[Size, ...]:
        """The blocks into which a dimension is cut; none where it stays whole."""
        return dict(self.cuts).get(dim, ())

    @property
    def for_warp_groups(self) -> bool:
        """Do warps multiply four together what is kept?"""
        return any(isinstance(s, Keep) and s.swizzle == EXCHANGED for s in self.steps)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(s for s in self.steps if isinstance(s, Loop))
