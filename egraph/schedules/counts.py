"""What a kernel does, while it is counted: loads, instructions, and rounds of loads that are on their way together.

The counts are those of costmodel/model/operation_counts.py for the code that a schedule becomes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.opencl.vectors import HALVED
from egglift.costmodel.closed.traffic import warp_axes
from egglift.costmodel.closed.work import Access, Axis, Bools, Env, Numbers, Work, number, product
from egglift.costmodel.model.coalescing import DIVERGED
from egglift.costmodel.model.operation_counts import FIRST_CACHE, NEAR
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.elements import Element, Place
from egglift.egraph.schedules.nest import Digit, digits_of, launched
from egglift.egraph.schedules.schedule import Keep, Schedule
from egglift.egraph.schedules.stage_elements import Source, StageElements, elements_of, number_of
from egglift.egraph.stages.stage import Dim, Stage

#: elements apart in memory, of neighbours along a digit
Strides: TypeAlias = dict[Digit, Numbers]
TOGETHER, WIDE = 16, 64  # bytes that work-items copy at once: with neighbours, and by themselves
GUARD = 0.2  # instructions of a test for an edge: tiles inside have code without


@dataclass(frozen=True)
class Round:
    """Loads from global memory that are on their way together: in which loops, how many bytes, how far they go, and
    how often; ahead: are they there when a work-item comes to need them?"""

    loops: tuple[Digit, ...]
    bytes: Numbers
    far: float
    times: Numbers
    ahead: Numbers


def is_multiple(x: Numbers, w: int) -> Bools:
    """Where whole numbers are multiples of a power of two: a product and a rounding, which remainders take long for."""
    parts = x * (1 / w)
    found: Bools = parts == np.floor(parts)
    return found


class Counts:
    """A kernel under a schedule of a stage, for all assignments of an environment."""

    def __init__(
        self, stage: Stage, schedule: Schedule, env: Env, launch: Launch, profile: Profile, limits: DeviceLimits
    ) -> None:
        self.stage, self.schedule, self.env, self.profile, self.limits = stage, schedule, env, profile, limits
        self.launch = launch
        self.elements: StageElements = elements_of(stage, profile)
        phases = self.elements.phases
        self.sources = list(phases[0].sources if phases else self.elements.after)
        self.gpu = profile.kind == "gpu"
        self.wide = TOGETHER if self.gpu else profile.simd_bytes  # bytes of one instruction
        self.reduced = frozenset(d for phase in self.elements.phases for d in phase.dims)
        self.matrix = any(loop.kind == "matrix" for loop in schedule.loops)
        self.together = schedule.for_warp_groups
        self.digits = digits_of(schedule, env, self.reduced, not self.gpu)
        self.work = launched(self.digits, schedule, env, launch, limits)
        self.work.own_target = self.together
        self.packed: list[Work] = []
        self.through_local: Keep | None = None  # where results are kept before they are copied out
        self.rounds: list[Round] = []
        self.local: dict[int, dict[Digit, Numbers]] = {}  # operands in local memory: strides of digits
        self.twice = number(0)  # is local memory there twice, in turn?
        self.taken: set[int] = set()  # operands in registers
        self.blocked: dict[str, Strides] = {}  # copies in global memory that lie block by block

    def own(self, digits: Sequence[Digit]) -> Numbers:
        """How often one work-item comes to what is inside these loops."""
        return product(d.own(self.work) for d in digits)

    def clamped(self, times: Numbers, width: Numbers, size: int, dim: Dim) -> None:
        """Vectors along a dimension are read one by one in tiles that reach beyond its edge."""
        self.work.issue = self.work.issue + times * self._edge(dim) * (width - np.ceil(width * size / self.wide))

    def _edge(self, dim: Dim) -> Numbers:
        """The part of the tiles along a dimension that reach beyond its edge."""
        return sum(((whole < 1) / np.maximum(1, d.count) for d, whole in self._padded((dim,))), number(0))

    def inside(self, dims: Collection[Dim]) -> Numbers:
        """The part of the indices of padded dimensions that there are."""
        return product(whole for _, whole in self._padded(dims))

    def _padded(self, dims: Collection[Dim]) -> Iterator[tuple[Digit, Numbers]]:
        for d in self.digits:
            if d.loop.digit == 0 and d.loop.dim in dims and d.loop.dim not in self.reduced:
                yield d, number_of(d.loop.dim) / (d.count * d.step)

    def overhead(self, outer: Sequence[Digit]) -> None:
        """Counting and testing of a rolled loop."""
        last = outer[-1]
        if last.role == "loop" and self.reduced and not (self.together and last.loop.kind == "matrix"):
            self.work.issue = self.work.issue + 2 * self.own([d for d in outer if d.role != "lane"]) * (last.count > 1)

    def axes(self, digits: Sequence[Digit], stride: Strides) -> tuple[Axis, ...]:
        zero, found = number(0), list[Axis]()
        for d in digits:
            found.append(Axis(d.role, np.maximum(d.count, 1), stride.get(d, zero), d.dim))
            if d.role == "group" and np.any((rounds := d.own(self.work)) > 1):
                found.append(Axis("loop", rounds, stride.get(d, zero) * self.work.groups[d.dim]))
        return tuple(found)

    def strides(self, source: Source, place: Place, extra: Sequence[Digit] = ()) -> Strides:
        """Elements apart in global memory, digit by digit."""
        if place.buffer in self.blocked:
            return self.blocked[place.buffer]
        apart = dict(zip(source.dims, place.strides, strict=True))
        return {d: apart[d.loop.dim] * d.step for d in (*self.digits, *extra) if d.loop.dim in apart}

    def addresses(self, digits: Sequence[Digit], stride: Strides) -> Numbers:
        """Instructions to compute an address in a loop: half of one for every rolled loop that moves it."""
        found = number(0)
        for d in digits:
            if d.role == "loop" and d in stride:
                found = found + 0.5 * ((d.count > 1) & (stride[d] != 0))
        return found

    def outside(self, digits: Sequence[Digit], stride: Strides) -> tuple[Bools, Numbers]:
        """Where no loop of a CPU's work-item is around an access, and the instructions of its address there."""
        loops = product([d.count for d in digits if d.role in ("loop", "unrolled")])
        terms = sum((0.5 * ((d.count > 1) & (stride[d] != 0)) for d in digits if d in stride), number(0))
        alone: Bools = (loops <= 1) & (not self.gpu)
        return alone, np.where(alone, terms, 0)

    def _vector(
        self, tile: Sequence[Digit], others: Sequence[Digit], stride: Strides, size: int, limit: int
    ) -> Numbers:
        """Neighbours in memory that one work-item moves at once: a power of two that divides the last digit."""
        found = number(1)
        last, zero = tile[-1], number(0)
        for w in (2, 4, 8, 16):
            if w * size > limit:
                break
            fits = is_multiple(last.count, w) & (stride.get(last, zero) == 1)
            for d in (*tile[:-1], *others) if self.gpu else ():
                if d in stride:
                    fits = fits & (is_multiple(stride[d], w) | (d.count <= 1))
            if not fits.any():  # nor is there a wider one
                break
            found = np.where(fits, w, found)
        return found

    def issue(self, times: Numbers, width: Numbers, size: int, address: Numbers) -> None:
        self.work.issue = self.work.issue + times * (np.ceil(width * size / self.wide) + address)

    def load(
        self,
        space: str,
        place: Place,
        where: Sequence[Digit],
        tile: Sequence[Digit],
        stride: Strides,
        plain: bool,
        share: Numbers = number(1),
        kept: bool = False,
        guarded: Numbers = number(0),
    ) -> None:
        """Reads by every work-item of a tile of its own, `where` it is in the nest.

        kept: to registers; guarded: the part of tiles whose elements are tested, and taken one by one.
        """
        size = place.scalar
        others = [d for d in where if d not in tile]
        width = number(1)
        if plain and tile:
            wide = WIDE if space == "local" or not self.gpu else TOGETHER
            width = self._vector(tile, others, stride, size, wide)
        parts = number(1)  # vectors that one is put together of
        if not self.gpu and not kept and tile and tile[-1].role == "lane":  # lanes stay one vector, however wide it is
            near = stride.get(tile[-1], number(0))
            parts = np.where((near == 2) & (tile[-1].count >= HALVED), 2, parts)
            width = np.where((near == 1) | (parts == 2), tile[-1].count, 1)
            tile = tile if np.any(stride.get(tile[-1], number(0)) != 0) else tile[:-1]
        times = self.own(where) * self.own(tile) / width * place.times
        # at constant distances from one address, which is computed once
        offsets = self.own([d for d in (*where, *tile) if d.role in ("unrolled", "lane")]) / width
        address = (self.addresses(where, stride) + (4 * self.twice if space == "local" else 0)) / np.maximum(1, offsets)
        self.issue(times * share, width * (2 * parts - 1), size, address)
        alone, once = self.outside((*where, *tile), stride)
        if alone.any():  # lanes one by one take more instructions there
            lanes = np.where(width > 1, 1, self.own([d for d in tile if d.role == "lane"]))
            more = once / lanes + 0.5 * (alone & (lanes > 1))
            self.work.issue = self.work.issue + times * share * more
        if kept and tile and tile[-1].role != "lane" and not self.gpu:  # each lane is taken out of the vector
            self.work.issue = self.work.issue + np.where(width > 1, times * share * width, 0)
        edge = number(0)
        if space == "global" and tile and place.buffer not in self.blocked:
            self.clamped(times * share, width, size, tile[-1].loop.dim)
            beyond = np.maximum(self._edge(tile[-1].loop.dim), guarded)
            edge = edge if self.gpu else np.where(width > 1, beyond, 0)
        axes = [*self.axes(where, stride), *(replace(x, alone=True) for x in self.axes(tile, stride))]
        if tile:  # the last digit goes by vectors
            axes[-1] = replace(axes[-1], count=axes[-1].count / width, stride=axes[-1].stride * width)
        where_from = (space, place.buffer, place.elements, size)
        whole = Access(*where_from, parts * width * size, times, False, tuple(axes), share * (1 - edge), place.offset)
        self.work.accesses.append(whole)
        if np.any(edge > 0):  # one by one
            apart = [replace(x, role="unrolled") if x.role == "lane" else x for x in axes]
            apart[-1] = replace(apart[-1], count=apart[-1].count * width, stride=apart[-1].stride / width)
            one = replace(whole, width=number(size), times=times * width, axes=tuple(apart), share=share * edge)
            self.work.accesses.append(one)
        if place.constant and self.gpu:
            steps = warp_axes(self.work, whole, self.profile.warp)
            further = product([np.where(step != 0, count, 1) for count, step in steps]) - 1
            self.work.issue = self.work.issue + times * share * width * DIVERGED * further
        if space == "global":
            self.round(where, self.own(tile) * place.times * size, place)

    def round(
        self,
        where: Sequence[Digit],
        bytes: Numbers,
        place: Place,
        times: Numbers = number(1),
        ahead: Numbers = number(0),
    ) -> None:
        loops = tuple(d for d in where if d.role == "loop")
        together = self.own([d for d in where if d.role in ("unrolled", "lane")])
        far = NEAR if place.elements * place.scalar <= FIRST_CACHE else 1.0
        self.rounds.append(Round(loops, bytes * together, far, times, ahead))

    def compute(
        self, element: Element, times: Numbers, lanes: Numbers | None = None, guarded: Numbers | None = None
    ) -> None:
        cost = self.cost(element, number(1) if lanes is None else lanes, guarded)
        self.work.issue = self.work.issue + times * cost

    def guarded(self, source: Source) -> Numbers:
        """The part of a CPU's tiles that have tests for edges in them: the first and the last of each dimension."""
        inner = number(1)
        for d in self.digits:
            if d.loop.digit == 0 and d.loop.dim in source.dims and d.loop.dim not in self.reduced:
                inner = inner * (1 - np.minimum(1, 2 / np.maximum(1, d.count)))
        return (1 - inner) * (source.element.guards > 0 and not self.gpu)

    def cost(self, element: Element, lanes: Numbers, guarded: Numbers | None = None) -> Numbers:
        """Instructions for an element, or for so many side by side."""
        tests = number(GUARD * element.guards)
        if guarded is not None and not self.gpu:  # a tile at an edge is seldom at another one too
            tests = 2 * guarded * (element.guards > 0)
        found = tests * lanes
        for cost, size in element.calls:
            found = found + cost * np.where(lanes > 1, np.ceil(lanes * size / self.profile.simd_bytes), 1)
        return found

    def often(self) -> Numbers:
        """Steps of the innermost rolled loop."""
        found, steps = number(1), number(1)
        for d in self.digits:
            if d.role != "lane":
                steps = steps * d.own(self.work)
            found = np.where((d.role == "loop") & (d.count > 1), steps, found)
        return found

    def idle(self) -> None:
        """Work-items beyond a CPU's grid do nothing."""
        work = self.work
        for d in self.digits:
            if d.role == "item" and not self.gpu:
                work.share = work.share * np.minimum(1, d.count / (work.groups[d.dim] * work.local[d.dim]))
        if np.any(work.share < 1):
            work.issue, work.chain = work.issue * work.share, work.chain * work.share
            work.often = work.often * work.share
            work.accesses = [replace(a, share=a.share * work.share) for a in work.accesses]

    def waits(self) -> None:
        """Loads that are on their way together, and how often a work-item waits for some."""
        groups: dict[tuple[int, ...], list[Round]] = {}
        turns = self.own([d for d in self.digits if d.role == "group"])  # more than one of a grid that is too large
        for r in self.rounds:
            groups.setdefault(tuple(map(id, r.loops)), []).append(r)
        for same in groups.values():
            often, far = turns * self.own(same[0].loops), max(r.far for r in same)
            at_once = sum((np.where(r.times > 1, 0, r.bytes) for r in same), number(0))
            ahead = np.logical_or.reduce(np.broadcast_arrays(*(r.ahead == 1 for r in same)))
            self.work.wait(np.where(ahead, 1, often), far, at_once)
            for times in {id(r.times): r.times for r in same}.values():  # of one copy in a loop of its own
                bytes = sum((r.bytes for r in same if r.times is times), number(0))
                self.work.wait(np.where(ahead, 1, often) * times, far, np.where(times > 1, bytes, 0))
