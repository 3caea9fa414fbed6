"""What a schedule keeps, counted: in registers, in local memory, or as a copy in global memory."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from math import prod

import numpy as np

from egglift.codegen.kernel.fragment_loads import ACROSS, DOWN
from egglift.codegen.kernel.imperative import COPIED
from egglift.codegen.kernel.unroll_register_loops import UNROLLED
from egglift.codegen.kernel.views import CHUNK, EXCHANGED, LINE
from egglift.costmodel.closed.work import TOGETHER as SHARED_OUT
from egglift.costmodel.closed.work import Access, Axis, Numbers, Work, evaluated, number, product
from egglift.costmodel.model.operation_counts import COPIED_AHEAD
from egglift.egraph.schedules.counts import TOGETHER, Counts, Strides, is_multiple
from egglift.egraph.schedules.elements import Element, Place
from egglift.egraph.schedules.nest import Digit, launched
from egglift.egraph.schedules.schedule import Keep
from egglift.egraph.schedules.stage_elements import Source, number_of
from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.stage import Dim

FEW = 8  # trips up to which a loop of a shared copy is unrolled


class KeptCounts(Counts):
    """A kernel, with what it keeps of its operands."""

    def registers(self, operand: int, source: Source, outer: list[Digit], inner: list[Digit]) -> None:
        """Every work-item takes what it reads of an operand into registers."""
        self.taken.add(operand)
        tile = [d for d in inner if d.loop.dim in source.dims and d.role in ("loop", "lane", "unrolled")]
        if operand in self.local and self.matrix:
            return self.fragments(operand, source, outer, tile)
        if operand in self.local:
            self.load("local", kept_place(operand, source), outer, tile, self.local[operand], True)
        else:
            for place in source.element.places:
                strides, edges = self.strides(source, place), self.guarded(source)
                plain = source.element.plain or (not self.gpu and not source.element.calls)
                self.load("global", place, outer, tile, strides, plain, kept=True, guarded=edges)
            tests = self.guarded(source) * source.element.guards
            self.compute(source.element, self.own(outer) * self.own(tile), None, tests)
        self.work.private = self.work.private + self.own(tile) * source.bytes
        self.work.held = self.work.held + self.own(tile) * source.bytes

    def fragments(self, operand: int, source: Source, outer: list[Digit], tile: list[Digit]) -> None:
        """Every lane takes its part of what a warp multiplies of an operand: of steps that four lanes share out, and of
        columns those that eight lanes do, one of eight; as matrices, where rows of 16 bytes lie together."""
        apart, unit = self.local[operand], unit_of(self.stage)
        assert unit is not None
        step = next((s for d, s in apart.items() if d.loop.kind == "matrix"), number(0))
        rows = next((d for d in self.digits if d.role == "item" and d.dim == 1), None)
        own = rows is not None and rows.loop.dim in source.dims
        beside = apart[rows] if own and rows is not None else apart[tile[-1]] if tile else number(0)
        lanes = rows.count if own and rows else number(DOWN)
        part, near = 1 / ACROSS if own else 1 / DOWN, unit.steps // ACROSS if unit.packed > 1 else 1
        chunk = CHUNK // source.bytes
        alike = unit.scalar.size <= 4
        far = np.where(step == 1, beside, step)
        matrices = alike & ((step == 1) | ((beside == 1) & (unit.packed > 1))) & (np.fmod(far, chunk) == 0)
        width = np.where(step == 1, near, 1)  # steps that lie together, as vectors do, are read together
        for d, s in apart.items():
            width = np.where((d.loop.kind != "matrix") & (np.fmod(s, near) != 0), 1, width)
        turns = self._turns(unit.steps) if alike or self.copied_ahead else number(1)
        steps = np.where(matrices, 2 * unit.steps * (1 if own else turns), width / part)
        times = self.own(outer) * self.own(tile) / steps
        across = Axis("item", number(ACROSS), np.where(matrices, far, step * near), 0)
        down = Axis("item", lanes, np.where(matrices, ACROSS * far, beside), 1)
        self.work.issue = self.work.issue + times
        read = np.where(matrices & (not own), times * turns / 2, times)
        bytes = np.where(matrices, CHUNK, width * source.bytes)
        self.work.accesses.append(
            Access("local", f"local{operand}", 0, source.bytes, bytes, read, False, (down, across))
        )
        # all lines of a turn, of columns one after the other: of two turns, where one is loaded ahead
        lines = self.own([d for d in tile if d.loop.kind != "matrix"])
        one = np.where((turns == 2) & self.copied_ahead, lines / 2, 1)
        held = (lines if own else one) * turns * (unit.steps // ACROSS * source.bytes)
        self.work.private, self.work.held = self.work.private + held, self.work.held + held

    @property
    def copied_ahead(self) -> bool:
        """Are steps copied ahead, asynchronously?"""
        return any(d.loop.buffers for d in self.digits)

    def _turns(self, steps: int) -> Numbers:
        """Products one after the other whose fragments are read together."""
        count = product(d.count for d in self.digits if d.loop.kind == "matrix")
        return np.where(np.fmod(count, 2 * steps) == 0, 2, 1)

    def copied(self, operand: int) -> None:
        """A kernel copies an operand to global memory, with loops like those that read it, block by block."""
        source, name = self.sources[operand], f"packed{operand}"
        digits = [d for d in self.digits if d.loop.dim in source.dims]
        lanes = [d for d in digits if d.role == "lane"]
        order = digits if lanes else sorted(digits, key=lambda d: d.loop.dim in self.reduced)
        far, apart = number(1), dict[Digit, Numbers]()
        for d in reversed(order):
            apart[d] = far
            far = far * d.count
        self.packed.append(self._copying(operand, digits, apart))
        self.blocked[name] = apart
        elements = prod(map(number_of, source.dims))
        packed = Place(name, elements, source.bytes, (0,) * len(source.dims), 0)
        self.sources[operand] = replace(source, element=Element((packed,), (), 0, True))

    def _copying(self, operand: int, digits: list[Digit], apart: Strides) -> Work:
        """What the kernel does that copies an operand: none of its loops is unrolled."""
        source, part = self.sources[operand], copy(self)
        rolled = [replace(d, role="loop") if d.role == "unrolled" else d for d in digits]
        part.digits, part.rounds = rolled, []
        part.work = launched(rolled, self.schedule, self.env, self.launch, self.limits)
        lanes = [d for d in rolled if d.role == "lane"]
        scalar = [d for d in rolled if d.role != "lane"]
        stored = {d: apart[old] for d, old in zip(rolled, digits, strict=True)}
        for place in source.element.places:
            part.load("global", place, scalar, lanes, part.strides(source, place), source.element.plain)
        count = product([d.count for d in lanes])
        part.compute(source.element, part.own(scalar), count if lanes else None)
        part.issue(part.own(scalar), count, source.bytes, part.addresses(scalar, stored))
        far = prod(map(number_of, source.dims))
        axes = part.axes(scalar, stored)
        part.work.accesses.append(
            Access("global", f"packed{operand}", far, source.bytes, count * source.bytes, part.own(scalar), True, axes)
        )
        for i, d in enumerate(scalar):
            if d.role == "loop":
                part.work.issue = part.work.issue + 2 * part.own(scalar[: i + 1]) * (d.count > 1)
        part.work.often = part.often()
        part.waits()
        part.idle()
        return part.work

    def staged(self, operand: int, source: Source, keep: Keep, outer: list[Digit], inner: list[Digit]) -> None:
        """The group copies what it reads of an operand to local memory."""
        work, steps = self.work, self.own(outer)
        span = {d: product([x.count for x in inner if x.loop.dim == d]) for d in source.dims}
        layout = self._layout(source, span, keep)
        self.local[operand] = {d: layout[d.loop.dim] * d.step for d in inner if d.loop.dim in layout}
        ahead = next((evaluated(x.loop.prefetch, self.env) for x in reversed(outer) if x.loop.prefetch), number(0))
        ahead = np.where(product([*span.values()]) <= UNROLLED * work.group, ahead, 0)  # it waits in registers
        filled = () if source.given else reversed(outer)
        buffers = next((evaluated(x.loop.buffers, self.env) for x in filled if x.loop.buffers), number(0))
        if not np.any(work.local_bytes):
            once = np.where(buffers > 0, steps, np.where(steps > 1, 2 * steps, 1))
            work.barriers = work.barriers + np.where(ahead == 2, steps + (steps > 1), once)
            ahead_of = np.clip(buffers - 1 - self.together, 1, 2)  # one is waited for while units read another
            work.waits = work.waits + np.where(buffers > 1, steps * COPIED_AHEAD / ahead_of, 0)
        outermost = list(layout)[-1]
        size = (product([*span.values()]) if keep.swizzle else layout[outermost] * span[outermost]) * source.bytes
        work.local_bytes = work.local_bytes + size * np.where(ahead == 2, 2, np.maximum(1, buffers))
        self.twice = np.maximum(self.twice, (ahead == 2) | (buffers > 0))
        self._shared_copy(operand, source, outer, span, layout, ahead, buffers)
        row = span[next(iter(layout))] * source.bytes
        if keep.swizzle == EXCHANGED:
            work.fits = (
                work.fits
                & (np.fmod(row, LINE) == 0)
                & (np.fmod(product([*span.values()]) * source.bytes / row, 8) == 0)
            )
        elif keep.swizzle:
            work.fits = work.fits & ((np.fmod(row, LINE) == 0) | (row == LINE / 2) | (row == LINE / 4) | (row == CHUNK))

    def _layout(self, source: Source, span: dict[Dim, Numbers], keep: Keep) -> dict[Dim, Numbers]:
        """Elements apart in local memory (operand_arrays.kept): the last dimension is padded.

        Rotated rows are in the banks in which rows are that are padded by as much, exchanged ones like those by one
        chunk.
        """
        rotated = 1 if keep.swizzle == EXCHANGED else keep.swizzle
        pad = number(rotated * CHUNK // source.bytes) if rotated else evaluated(keep.pad, self.env)
        dims = list(dict.fromkeys(d.loop.dim for d in self.digits if d.loop.dim in source.dims))
        order = sorted(dims, key=lambda d: (d in self.reduced) == keep.steps_inside)
        found, far = dict[Dim, Numbers](), number(1)
        for i, d in enumerate(reversed(order)):
            found[d] = far
            far = far * span[d] + (pad if i == 0 and len(order) > 1 else 0)
        return found

    def _shared_copy(
        self,
        operand: int,
        source: Source,
        outer: list[Digit],
        span: dict[Dim, Numbers],
        layout: dict[Dim, Numbers],
        ahead: Numbers,
        buffers: Numbers,
    ) -> None:
        """Its elements, shared out over the group in the order of global memory, by vectors where they fit.

        buffers: of asynchronous copies, one instruction each, of what is not beyond an edge.
        """
        work, steps, element = self.work, self.own(outer), source.element
        elements, width = product([*span.values()]), number(1)
        first = max(element.places, key=lambda x: sum(s != 0 for s in x.strides), default=kept_place(operand, source))
        apart = dict(zip(source.dims, first.strides or [0] * len(source.dims), strict=True))
        fast, *others = sorted(source.dims, key=lambda d: abs(apart[d]))
        for w in (2, 4, 8, 16):
            one = element.plain or w <= element.whole
            near = one and apart[fast] == 1 and all(apart[d] % w == 0 for d in others)
            if near and w * source.bytes <= TOGETHER:
                enough = (elements * source.bytes >= TOGETHER * work.group) | (buffers > 0)
                fits = is_multiple(span[fast], w) & enough
                width = np.where(fits, w, width)
        streamed = buffers > 0
        if np.any(streamed):
            inside = (fast in self.reduced) | (np.fmod(number_of(fast), span[fast]) == 0)
            width = np.where(streamed & (~inside | (layout[fast] != 1)), 1, width)
            legal = element.plain & (width * source.bytes >= COPIED[0]) & self.limits.asynchronous_copies
            work.fits = work.fits & (legal | ~streamed)
        trips = np.ceil(elements / (width * work.group))
        at_once = width * work.group
        rolled = ((trips > FEW) | (elements != trips * at_once)) & (trips > 1) & (ahead == 0)
        times = steps * elements / at_once
        turns = np.where(rolled, trips, 1)
        digits = np.where(rolled, 6, 0)  # the element's index is taken apart
        offsets = np.where(rolled, 1, trips)  # from one address

        def shared(far: Mapping[Dim, Numbers | int]) -> list[Axis]:
            rest = [Axis("item", span[d], number(1) * far[d], SHARED_OUT) for d in others]
            return [Axis("item", span[fast] / width, width * far[fast], SHARED_OUT), *rest]

        for place in element.places:
            moving = self.strides(source, place)
            self.issue(times, width, place.scalar, self.addresses(outer, moving) / offsets + digits)
            self.clamped(times, width, place.scalar, fast)
            grid = self.axes([d for d in outer if d.role != "item"], moving)
            around = Axis("unrolled", trips, number(0), alone=True)
            axes = (*grid, around, *shared(dict(zip(source.dims, place.strides, strict=True))))
            work.accesses.append(
                Access(
                    "global",
                    place.buffer,
                    place.elements,
                    place.scalar,
                    width * place.scalar,
                    times,
                    False,
                    axes,
                    number(1),
                    place.offset,
                )
            )
            bytes = np.where(rolled, 1, trips) * width * place.scalar
            self.round(outer, bytes, place, turns, np.maximum(ahead, streamed))
        self.compute(element, times * np.where(width <= element.whole, 1, width))  # tested together
        whole = (layout[fast] == 1) & (width > 1)
        for d in others:  # where padding leaves vectors unaligned, they are written number by number
            whole = whole & (np.fmod(layout[d], width) == 0)
        stores = np.where(whole, 1, width * np.where(steps > 1, 1.0, 1.5)) + digits
        stores = np.where(streamed, digits, stores) + 4 * ((ahead == 2) | streamed) / offsets
        work.issue = work.issue + times * stores + np.where(rolled, 2 * steps * trips, 0)
        work.private = work.private + np.where(ahead > 0, trips * width * source.bytes, 0)
        together = np.where(whole, width, 1)
        work.accesses.append(
            Access(
                *("local", f"local{operand}", 0, source.bytes, together * source.bytes),
                *(times * width / together, True, tuple(shared(layout))),
            )
        )


def kept_place(operand: int, source: Source) -> Place:
    """An operand in local memory."""
    return Place(f"local{operand}", 0, source.bytes, (), 0)
