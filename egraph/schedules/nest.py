"""The loops of a schedule with numbers: trips and strides of each digit, who goes along it, and how it is launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.kernel.unroll_register_loops import SHORT
from egglift.costmodel.closed.work import Bools, Env, Numbers, Work, evaluated, number, product, rounded_up
from egglift.egraph.schedules.schedule import Loop, Schedule
from egglift.egraph.schedules.stage_elements import number_of
from egglift.egraph.stages.stage import Dim
from egglift.ir.patterns import Level


@dataclass(frozen=True, eq=False)
class Digit:
    """A loop of the nest: its trips over all executors, indices from one to the next, and who goes along it."""

    loop: Loop
    count: Numbers
    step: Numbers
    role: str
    dim: int

    def own(self, work: Work) -> Numbers:
        """How often one work-item of a launch goes round."""
        match self.loop.level.kind if self.loop.level is not None else "":
            case "workgroup":
                return rounded_up(self.count, work.groups[self.dim])
            case "local":
                return rounded_up(self.count, work.local[self.dim])
            case "global":
                return rounded_up(self.count, work.groups[self.dim] * work.local[self.dim])
        return self.count


def digits_of(schedule: Schedule, env: Env, reduced: frozenset[Dim], cpu: bool = False) -> list[Digit]:
    """The loops of a schedule with their numbers; cpu: loops over registers may be too long to be unrolled."""
    found = []
    for loop in schedule.loops:
        blocks = [evaluated(b, env) for b in schedule.blocks(loop.dim)]
        n, i = number(number_of(loop.dim)), loop.digit
        if i == 0:
            count = n if not blocks else np.floor(n / blocks[0]) if loop.dim in reduced else rounded_up(n, blocks[0])
        else:
            inner = blocks[i] if i < len(blocks) else number(1)
            count = np.maximum(1, np.floor(blocks[i - 1] / np.maximum(inner, 1)))
        step = blocks[i] if i < len(blocks) else number(1)
        digit = Digit(loop, count, step, *_role(loop, bool(reduced)))
        found += _long(digit) if cpu and digit.role == "unrolled" and loop.dim not in reduced else [digit]
    return found


def _long(d: Digit) -> list[Digit]:
    """A loop over registers, as two: the first where it is too long to be unrolled, else the second."""
    long = d.count > SHORT
    if not np.any(long):
        return [d]
    return [replace(d, count=np.where(long, d.count, 1), role="loop"), replace(d, count=np.where(long, 1, d.count))]


def _role(loop: Loop, registers: bool) -> tuple[str, int]:
    """registers: do loops over elements of a work-item's own choose among its accumulators?"""
    if loop.kind == "own" and registers and loop.level != Level("vec"):
        return "unrolled", 0
    match loop.level.kind if loop.level is not None else loop.kind:
        case "workgroup":
            return "group", loop.level.dim if loop.level is not None else 0
        case "local" | "global":
            return "item", loop.level.dim if loop.level is not None else 0
        case "vec":
            return "lane", 0
        case "unrolled":
            return "unrolled", 0
    return "loop", 0


def launched(digits: Sequence[Digit], schedule: Schedule, env: Env, launch: Launch, limits: DeviceLimits) -> Work:
    """A kernel of these loops, which does nothing yet: its groups and work-items (codegen/terms/launch_sizes.py)."""
    one = number(1)
    grid, local = [one, one, one], [one, one, one]
    for d in digits:
        level = d.loop.level.kind if d.loop.level is not None else ""
        if level in ("workgroup", "global"):
            grid[d.dim] = np.maximum(grid[d.dim], d.count)
        elif level == "local":
            local[d.dim] = np.maximum(local[d.dim], d.count)
    if any(d.loop.level is not None and d.loop.level.kind == "global" for d in digits):
        local = shared_out(grid, launch, limits)
        grid = [rounded_up(g, n) for g, n in zip(grid, local, strict=True)]
    elif not any(d.role == "item" and d.dim for d in digits):
        local[0] = np.minimum(local[0], launch.group_size)
    x = np.minimum(grid[0], launch.max_groups)
    y = np.minimum(grid[1], np.maximum(1, np.floor(launch.max_groups / x)))
    z = np.minimum(grid[2], np.maximum(1, np.floor(launch.max_groups / (x * y))))
    return Work((local[0], local[1], local[2]), (x, y, z), _divided(schedule, env))


def _divided(schedule: Schedule, env: Env) -> Bools:
    """Where every block is whole blocks of the next size."""
    found = np.asarray(True)
    for _, sizes in schedule.cuts:
        for outer, inner in pairwise(evaluated(b, env) for b in sizes):
            found = found & (np.fmod(outer, np.maximum(inner, 1)) == 0)
    return found


def shared_out(grid: Sequence[Numbers], launch: Launch, limits: DeviceLimits) -> list[Numbers]:
    """Work-items of a group over the dimensions of global maps (codegen/terms/launch_sizes.py)."""
    fair = np.maximum(limits.warp, np.floor(product(grid) / limits.compute_units))
    items = np.minimum(launch.group_size, fair)
    several = sum((g > 1).astype(int) for g in grid) > 1
    x = np.minimum(grid[0], np.where(several & (items > 32), 32, items))
    y = np.minimum(grid[1], np.floor(items / x))
    z = np.minimum(grid[2], np.floor(items / (x * y)))
    return [np.minimum(grid[0], np.floor(items / (y * z))), y, z]
