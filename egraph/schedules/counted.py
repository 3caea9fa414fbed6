"""What a schedule of a stage does, counted for many assignments of its sizes at once, without generating its code.

How often each place of the nest is reached is a product of digits' lengths; what is read, kept and computed there is
that of one element times a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from egglift.codegen.kernel.fragment_loads import ACROSS, DOWN
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.kernel.unroll_register_loops import SHORT
from egglift.codegen.kernel.warp_groups import BUFFERS, COLUMNS, GROUP_UNITS, WARPS
from egglift.costmodel.closed.work import Access, Axis, Env, Numbers, Work, evaluated, number, product
from egglift.costmodel.model.operation_counts import FRAGMENT_CHAIN, matrix_cost
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.counts import TOGETHER
from egglift.egraph.schedules.elements import Element
from egglift.egraph.schedules.kept_counts import kept_place
from egglift.egraph.schedules.nest import Digit
from egglift.egraph.schedules.schedule import RESULT, Keep, Loop, Schedule
from egglift.egraph.schedules.stage_elements import Source, number_of
from egglift.egraph.schedules.stored_counts import StoredCounts
from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.sharing import by_halves, commutes
from egglift.egraph.stages.stage import Dim, Stage


def counted(
    stage: Stage, schedule: Schedule, env: Env, launch: Launch, profile: Profile, limits: DeviceLimits
) -> list[Work]:
    """The kernels of a schedule, in order."""
    return _Counting(stage, schedule, env, launch, profile, limits).kernels()


def counted_tile(
    stage: Stage, schedule: Schedule, env: Env, launch: Launch, profile: Profile, limits: DeviceLimits
) -> Work:
    """What computes a stage tile by tile within the loops of another: its results are stored nowhere."""
    return _CountingTile(stage, schedule, env, launch, profile, limits).kernels()[-1]


class _Counting(StoredCounts):
    def kernels(self) -> list[Work]:
        """The main kernel, and before it those that copy operands."""
        phases, sources = self.elements.phases, self.sources
        outer: list[Digit] = []
        waiting = list(self.digits)
        for step in self.schedule.steps:
            match step:
                case Loop():
                    while waiting and waiting[0].loop is step:
                        outer.append(waiting.pop(0))
                        self.overhead(outer)
                case Keep() if step.operand == RESULT:
                    self.through_local = step
                case Keep(operand, "global"):
                    self.copied(operand)
                case Keep(operand, "local"):
                    self.staged(operand, sources[operand], step, outer, waiting)
                case Keep(operand, _):
                    self.registers(operand, sources[operand], outer, waiting)
        self.work.often = self.often()
        if phases:
            self._steps()
        self._finished()
        self.waits()
        self.idle()
        return [*self.packed, self.work]

    # ------------------------------------------------------------------------------------ steps and results

    @property
    def shared(self) -> Digit | None:
        """The loop over work-items, or lanes, that reduce parts."""
        return next((d for d in self.digits if d.loop.kind == "item" and d.loop.dim in self.reduced), None)

    def _steps(self) -> None:
        """Every step of the reductions."""
        work, accumulators = self.work, sum(self.elements.accumulators)
        first, *others = self.elements.phases
        at = next(i for i, d in enumerate(self.digits) if d.loop.dim in self.reduced and d.role != "item")
        tile = [d for d in self.digits[at:] if d.loop.dim not in self.reduced]
        lane = next((d for d in self.digits if d.role == "lane"), None)
        lanes = lane.count if lane is not None else number(1)
        own = self.own(tile) * (lanes if lane is not None and lane not in tile else 1)
        work.private = work.private + own * accumulators
        work.held = work.held + own * accumulators
        self._elements(self.sources, first.step, self.digits, self.taken, lane)
        steps = self.own([d for d in self.digits if d.loop.dim in self.reduced and d.role != "lane"])
        if self.together:  # all steps of a chunk are one product
            steps = FRAGMENT_CHAIN * steps / product(d.count for d in self.digits if d.loop.kind == "matrix")
        rest = number(0)
        for dim in first.dims:
            blocks = self.schedule.blocks(dim)
            if blocks:
                n, block = number_of(dim), evaluated(blocks[0], self.env)
                left = n - np.floor(n / block) * block
                rest = rest + left * np.prod([number_of(d) for d in first.dims if d != dim])
                self._rest(
                    first.sources, first.step, [(d, left if d == dim else number(number_of(d))) for d in first.dims]
                )
        for phase in others:
            self._rest(phase.sources, phase.step, [(d, number(number_of(d))) for d in phase.dims])
            rest = rest + np.prod([number_of(d) for d in phase.dims])
        if len(self.elements.accumulators) == 1 or (not self.gpu and first.step.in_place):
            work.chain = work.chain + (steps if self.gpu else np.where(steps > 1, steps, 0)) + rest
        if not self.gpu and self.shared is None:
            self._memory(tile, lanes, steps)
        elif not self.gpu:  # what is left over may take longer, one by one
            work.held = np.where(rest > work.often, accumulators, work.held)
            work.often = np.maximum(rest, work.often)

    def _memory(self, tile: Sequence[Digit], lanes: Numbers, steps: Numbers) -> None:
        """A CPU's accumulators: some are no registers, some are there twice, some begin anew for each of a tile."""
        work, sizes = self.work, self.elements.accumulators
        scalar = [d for d in tile if d.role != "lane"]
        inner = [d for d in self.digits[self.digits.index(tile[-1]) :] if d.loop.dim in self.reduced] if tile else []
        anew = self.own(inner) > 1
        times = self.own([d for d in self.digits if d.role != "lane" and d not in inner])
        own = self.own(scalar) * lanes * sum(sizes)
        walked = product([d.count for d in scalar if d.role == "loop"]) > 1
        moved = 2 * sum((np.ceil(lanes * n / self.wide) + 0.5 for n in sizes), number(0))
        work.held = work.held + np.where(anew, lanes * sum(sizes), 0) - np.where(walked, own, 0)
        work.issue = work.issue + np.where(walked, times * moved, 0)
        if self.elements.phases[0].step.in_place:
            work.chain = np.where(anew, work.chain - steps + self.own(inner), work.chain)
        else:  # the next ones are copied to the last ones, number by number
            work.held = work.held + np.where(anew, 0, own)
            work.issue = work.issue + np.where(anew, 0, times * lanes * len(sizes))

    def _elements(
        self, sources: Sequence[Source], step: Element, nest: list[Digit], taken: set[int], lane: Digit | None
    ) -> None:
        """One step for each element of the nest: what is not in registers is read there."""
        scalar = [d for d in nest if d is not lane]
        for i, source in enumerate(sources):
            if i not in taken and not (self.together and i in self.local):  # units read it themselves
                used = [d for d in nest if d.role == "lane" and d.loop.dim in source.dims]
                if i in self.local:  # a compiler reads once what an unrolled loop does not move
                    where = [d for d in scalar if d.role != "unrolled" or d.loop.dim in source.dims]
                    self.load("local", kept_place(i, source), where, used, self.local[i], True)
                    continue
                for place in source.element.places:
                    self.load("global", place, scalar, used, self.strides(source, place, nest), source.element.plain)
                lanes = lane.count if lane is not None else None
                self.compute(source.element, self.own(scalar), lanes, self.guarded(source))
        if self.matrix and nest is self.digits:
            return self._fragment_products(self.own(scalar))
        self.compute(step, self.own(scalar), lane.count if lane is not None else None)

    def _fragment_products(self, times: Numbers) -> None:
        """Steps on matrix units, if the sizes and the device are such that there are any."""
        unit = unit_of(self.stage)
        assert unit is not None
        if self.together:
            unit = GROUP_UNITS[unit.name]
        products = len(self.stage.phases[0]) * times
        self.work.products = self.work.products + products * matrix_cost(unit, self.profile)
        pairs = product(d.count for d in self.digits if d.role == "unrolled" and d.loop.dim != self.stage.dims[-1])
        steps = product(d.count for d in self.digits if d.loop.kind == "matrix")
        x, y, z = self.work.local
        whole = (x == ACROSS) & (np.fmod(y, DOWN) == 0) & (np.fmod(steps, unit.steps) == 0)
        lanes, at_once = self.profile.warp, number(unit.rows * unit.columns * unit.steps)
        if self.together:
            across = next(d.loop.dim for d in self.digits if d.role == "item" and d.dim == 0)
            columns = product(d.count for d in self.digits if d.loop.dim == across and d.loop.kind in ("item", "own"))
            whole = whole & (y == DOWN) & (np.fmod(z, WARPS) == 0) & (columns <= COLUMNS)
            for chunks in (d for d in self.digits if d.loop.buffers and d.loop.dim in self.reduced):
                least = 2 if self.stage.given else BUFFERS  # products of a tile that is just there are waited for
                whole = whole & (evaluated(chunks.loop.buffers, self.env) >= least) & (chunks.count > 1)
            lanes, at_once = WARPS * lanes, unit.rows * columns * steps
            self.work.fed = self.work.fed + products * (1 / unit.rows + 1 / columns) * unit.scalar.size
        self.work.issue = self.work.issue + products * lanes / at_once
        whole = whole & (np.fmod(pairs, 2) == 0) & (unit.name in self.limits.matrix_units)
        self.work.fits = self.work.fits & whole

    def _rest(self, sources: Sequence[Source], step: Element, dims: Sequence[tuple[Dim, Numbers]]) -> None:
        """Steps one by one, by every work-item for its accumulators: what blocks leave over, or a later reduction."""
        if not any(np.any(n > 0) for _, n in dims):
            return
        shared = self.shared
        nest = [d for d in self.digits if d.loop.dim not in self.reduced]
        loops = [Digit(Loop(d, 0, "sequential"), n, number(1), "loop", 0) for d, n in dims]
        at = next((i for i, d in enumerate(nest) if d.role in ("loop", "lane")), len(nest))
        nest = [*nest[:at], *loops, *nest[at:]]
        before, accesses = self.work.issue, list(self.work.accesses)
        lane = next((d for d in nest if d.role == "lane"), None)
        for i in range(len(loops)):
            self.overhead(nest[: at + i + 1])
        local, self.local = self.local, {}
        self._elements(sources, step, nest, set(), lane)
        self.local = local
        if shared is not None and shared.role == "item":
            part = 1 / shared.count
            self.work.issue = before + (self.work.issue - before) * part
            added = self.work.accesses[len(accesses) :]
            self.work.accesses[len(accesses) :] = [_with_share(a, part) for a in added]

    def _finished(self) -> None:
        """What follows the reductions, and storing the results."""
        work, elements = self.work, self.elements
        shared, part = self.shared, number(1)
        nest = [d for d in self.digits if d.loop.dim not in self.reduced]
        if shared is not None and shared.role == "item":
            part = 1 / shared.count
            self._combined(shared, nest, part)
        elif shared is not None:
            lanes = shared.count
            self._lanes_by_halves(elements.phases[0].step, lanes, self.own(nest))
            work.private = work.private + lanes * sum(elements.accumulators)
        last = nest[-1] if nest else None
        vector = last is not None and (last.role == "lane" or last.loop.after is not None) and shared is None
        tile = [last] if vector and last is not None else []
        where = nest[: len(nest) - len(tile)]
        own = self.own(where) * part
        lanes = tile[0].count if tile else number(1)
        for i, source in enumerate(elements.after):
            if elements.phases or i not in self.taken:
                used = [d for d in tile if d.loop.dim in source.dims]
                if i in self.local and not elements.phases:
                    self.load("local", kept_place(i, source), where, used, self.local[i], True)
                    continue
                for place in source.element.places:
                    stride = self.strides(source, place)
                    self.load("global", place, where, used, stride, source.element.plain, part)
                self.compute(source.element, own, lanes if used else None)
        self.compute(elements.finish, own, lanes)
        if self.through_local is not None:
            self.copied_out(self.through_local, nest)
        else:
            for i in range(len(elements.results)):
                self.stored(i, nest, where, tile, part)
        if not elements.phases:
            for i in range(1, len(nest) + 1):
                if nest[i - 1].role == "loop":
                    work.issue = work.issue + 2 * self.own(nest[:i]) * (nest[i - 1].count > 1)

    def _lanes_by_halves(self, step: Element, lanes: Numbers, times: Numbers) -> None:
        """What lanes have found of one result: halves together, if the order of the parts does not matter."""
        work = self.work
        if not commutes(self.stage):
            work.issue = work.issue + times * lanes * (self.cost(step, number(1)) + 2 * (lanes > SHORT))
            work.chain = work.chain + lanes * (len(self.elements.accumulators) == 1)
            return
        self.compute(step, times)  # with what they begin with
        while np.any(lanes > 1):
            half = np.ceil(lanes / 2)
            self.compute(step, times * (lanes > 1), np.maximum(1, lanes - half))
            lanes = half

    def _items_by_halves(self, shared: Digit, tile: Numbers, rows: Numbers) -> None:
        """Parts of each of a group's results, added by halves.  tile: results of a work-item; rows: of the group."""
        work, leaves, n = self.work, self.elements.accumulators, shared.count
        rounds = np.ceil(np.log2(np.maximum(n, 1)))
        cost = self.cost(self.elements.phases[0].step, number(1))
        work.barriers = work.barriers + rounds
        work.local_bytes = work.local_bytes + (n > 1) * np.ceil(n / 2) * rows * sum(leaves)
        row = Axis("item", n * rows / tile, number(1), shared.dim)
        for size in leaves:
            stores = Access("local", "parts", 0, size, number(size), tile * (2 * n - 1) / n, True, (row,))
            loads = Access("local", "parts", 0, size, number(size), tile * (3 * n - 2) / n, False, (row,))
            work.accesses += [stores, loads]
        work.private = work.private + 2 * sum(leaves)
        each = len(leaves) * (3 + 4.5 * (n - 1) / n) + (n - 1) / n * cost
        work.issue = work.issue + tile * each + rounds

    def _combined(self, shared: Digit, nest: list[Digit], part: Numbers) -> None:
        """What work-items have found of one result, through local memory."""
        work, leaves = self.work, self.elements.accumulators
        tile = self.own(nest)
        rows = product([d.count for d in nest if d.role == "item"]) * tile
        work.barriers = work.barriers + 1
        work.local_bytes = work.local_bytes + shared.count * rows * sum(leaves)
        step = self.cost(self.elements.phases[0].step, number(1))
        alone = all(d.role == "group" for d in nest)
        if (alone and commutes(self.stage)) or by_halves(self.stage):
            return self._items_by_halves(shared, tile, rows)
        if self.stage.body not in [x for x, _ in self.stage.names.of(self.stage.body)]:
            part = number(1)  # what follows the result is computed by all, and stored by one of them
        items = [Axis("item", d.count, tile, d.dim) for d in nest if d.role == "item"]
        for size in leaves:
            wide = np.where(tile % (TOGETHER // size) == 0, max(1, TOGETHER // size), 1)
            work.issue = work.issue + tile / wide * 1.5
            row = Axis("item", shared.count, rows, shared.dim)
            work.accesses.append(Access("local", "parts", 0, size, wide * size, tile / wide, True, (*items, row)))
            read = Access("local", "parts", 0, size, number(size), tile * shared.count, False, tuple(items), part)
            work.accesses.append(read)
        work.issue = work.issue + part * tile * shared.count * (2 + len(leaves) * 1.5 + step)
        work.private = work.private + 2 * sum(leaves)  # those of the inner fold, and of this one
        if len(leaves) == 1:
            work.chain = work.chain + shared.count * tile


def _with_share(a: Access, part: Numbers) -> Access:
    return replace(a, share=a.share * part)


class _CountingTile(_Counting):
    def stored(
        self, i: int, nest: Sequence[Digit], where: Sequence[Digit], tile: Sequence[Digit], part: Numbers
    ) -> None:
        """Nothing is."""
