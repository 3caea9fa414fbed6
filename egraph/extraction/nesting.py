"""Who executes a program, which levels may follow inside ([Hagedorn2018] figure 5), and what their iterations cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil

from egglift.egraph.extraction import access_costs
from egglift.egraph.extraction.access_costs import Row, ViewPrice
from egglift.egraph.extraction.weights import Weights
from egglift.ir.patterns import Level

GRID_LEVELS = ("global", "workgroup")
UNROLLED = 32  # loops over registers so long are unrolled


@dataclass(frozen=True, eq=False)
class Executor:
    """Who executes.  kind: grid, workgroup, global, group, local, warp, item, lane; `dim` levels are still to come.

    into: the memory that results go to.  There is one object for every executor: see `executor`.
    """

    kind: str
    dim: int
    into: str

    def writing(self, space: str) -> Executor:
        """The same executor, its results going elsewhere."""
        return executor(self.kind, self.dim, space)


@cache
def executor(kind: str, dim: int, into: str) -> Executor:
    """The executor of that description; the same object for the same description."""
    return Executor(kind, dim, into)


GRID = executor("grid", 0, "global")
GROUP = executor("group", 0, "global")
ITEM = executor("item", 0, "global")
LANE = executor("lane", 0, "global")
LANES = executor("lanes", 0, "global")  # reads for the lanes of a vector what its work-item has staged
NOBODY = executor("pure", 0, "global")  # reads where nothing can be computed beforehand


def below(level: Level, who: Executor) -> Executor | None:
    """The executor of the bodies of a map at `level` under `who`; None where it may not stand."""
    match who.kind, level.kind:
        case "grid", "workgroup" | "global":
            pass
        case ("workgroup", "workgroup") | ("global", "global") | ("local", "local"):
            if level.dim != who.dim - 1:
                return None
        case "group", "local":
            pass
        case "group", "warp":
            return executor("warp", 0, who.into)
        case "warp", "lane":
            return ITEM.writing(who.into)
        case "item" | "lane", "seq" | "unroll":
            return who
        case "item", "vec":
            return LANE.writing(who.into)
        case _:
            return None
    if level.dim:
        return executor(level.kind, level.dim, who.into)
    return (GROUP if level.kind == "workgroup" else ITEM).writing(who.into)


def element(v: Row, level: Level, w: Weights) -> ViewPrice:
    """What the body is given.  Neighbouring lanes and work-items should read neighbouring elements."""
    each, memory = v.each, access_costs.rounded(w.global_)
    if level.kind == "vec":
        plain, less = 2 * max(w.global_lane, w.global_), max(0.0, w.global_ - w.global_lane)
        each = access_costs.across(
            v,
            apart=lambda p: p / w.vector_ops if p > plain else p * w.apart,
            together=lambda p: p - less if p >= memory else p,  # one access is by the whole vector
            near=False,
        )
    elif w.warp > 1 and level.dim == 0 and level.kind in ("global", "local", "lane"):
        each = access_costs.across(v, lambda p: p * w.apart if p >= w.global_lane / 2 else p, near=True)
    return access_costs.argument(each)


def iterations(level: Level, n: int, cost: float, spread: float, who: Executor, w: Weights) -> tuple[float, float]:
    """Cost and spread of `n` iterations at `level` under `who`: parallel ones are spread out, others add up."""
    match level.kind:
        case "workgroup" | "global" | "local" | "warp" | "lane":
            return _closed(cost, spread * n, level, who, w)
        case "vec":
            return cost * max(1.0, n * w.vector_ops), 1.0
        case "unroll":
            return n * cost, 1.0
        case "seq" if who.into == "private" and n <= UNROLLED:
            return n * cost, 1.0
    return n * (cost + w.loop), 1.0


def _closed(cost: float, spread: float, level: Level, who: Executor, w: Weights) -> tuple[float, float]:
    """Where a nest of parallel maps ends, what was spread over executors becomes time."""
    width = {"workgroup": w.groups, "global": w.items, "local": w.group, "warp": w.group}.get(level.kind)
    if width is None or who.kind not in ("grid", "group"):
        return cost, spread
    if w.warp > 1:  # what is there shares the device: an eighth of what fills it keeps it busy
        return cost * max(spread, width / 8) / width, 1.0
    return cost * ceil(spread / width), 1.0
