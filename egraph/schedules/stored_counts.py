"""What a schedule stores of its results, counted: straight to global memory, or by way of local memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egglift.costmodel.closed.work import Access, Axis, Numbers, evaluated, number, product
from egglift.egraph.schedules.counts import Strides
from egglift.egraph.schedules.kept_counts import KeptCounts
from egglift.egraph.schedules.nest import Digit
from egglift.egraph.schedules.schedule import Keep
from egglift.egraph.schedules.stage_elements import number_of
from egglift.egraph.stages.stage import Dim


class StoredCounts(KeptCounts):
    """A kernel, with what it stores of its results."""

    def stored(
        self, i: int, nest: Sequence[Digit], where: Sequence[Digit], tile: Sequence[Digit], part: Numbers
    ) -> None:
        """The numbers of an element's i-th array are stored: by vectors, where those of neighbours lie side by side.

        nest: all loops over results; where, tile: those outside a vector, and its lanes; part: of work-items.
        """
        (size, numbers), lanes = self.elements.results[i], tile[0].count if tile else number(1)
        stride = self.apart(nest, numbers)
        contiguous = number(0) if not tile else stride[tile[0]] == 1
        width = np.where(contiguous, lanes, 1)
        address = self.addresses(where, stride) + self.outside(nest, stride)[1]
        times = self.own(where) * lanes / width
        self.issue(times * part * numbers, width, size, address)
        there, axes = part * self.inside(self.stage.dims), self.axes(nest, stride)
        out = ("global", f"out{i}", float(self.numbers(numbers)), size, width * size * numbers, times, True)
        self.work.accesses.append(Access(*out, axes, there, places=numbers))

    def apart(self, nest: Sequence[Digit], numbers: int) -> Strides:
        """How far apart results of neighbours along each digit are, elements of so many numbers."""
        apart, far = dict[Dim, int](), numbers
        for d in reversed(self.stage.dims):
            apart[d] = far
            far = far * number_of(d)
        return {d: apart[d.loop.dim] * d.step for d in nest}

    def numbers(self, each: int) -> int:
        """How many numbers all results have, elements of so many."""
        found = each
        for d in self.stage.dims:
            found *= number_of(d)
        return found

    def copied_out(self, keep: Keep, nest: Sequence[Digit]) -> None:
        """Elements of one array go through local memory, from where they are written in turns, vector by vector."""
        ((size, numbers),) = self.elements.results
        items = next(d for d in nest if d.role == "item")
        own = [d for d in nest if d.role in ("lane", "loop")]
        vector, outer = product([d.count for d in own]), [d for d in nest if d is not items and d not in own]
        blocks, pad = self.own(outer), evaluated(keep.pad, self.env)
        block = vector * items.count
        self.work.local_bytes = self.work.local_bytes + block * (numbers + pad) * size
        self.work.barriers = self.work.barriers + np.where(blocks > 1, 2 * blocks, 1)
        local = {d: (numbers + pad) * d.step for d in (items, *own)}
        self._local(numbers, vector * numbers * blocks, size, self.axes([items, *own], local), True)
        self._in_turns(size, numbers, vector, blocks, pad, items, outer)

    def _local(self, places: int, times: Numbers, size: int, axes: tuple[Axis, ...], store: bool) -> None:
        self.work.issue = self.work.issue + times
        self.work.accesses.append(Access("local", "results", 0, size, number(size), times, store, axes))

    def _in_turns(
        self, size: int, numbers: int, vector: Numbers, blocks: Numbers, pad: Numbers, items: Digit, outer: list[Digit]
    ) -> None:
        """As many turns as an element has numbers: each of a vector of its own for every work-item."""
        times, turn = numbers * blocks, items.count * vector
        near = pad == 0
        width = np.where(near, vector, 1)
        step = vector * (numbers + pad) / numbers
        read = (Axis("item", items.count, np.floor(step), items.dim),)
        self.work.accesses.append(
            Access("local", "results", 0, size, width * size, times * vector / width, False, read)
        )
        stride = self.apart(outer, numbers)
        axes = (*self.axes(outer, stride), Axis("loop", number(numbers), turn))
        axes = (*axes, Axis("item", items.count, vector, items.dim))
        out = ("global", "out0", float(self.numbers(numbers)), size, vector * size, times, True)
        self.work.accesses.append(Access(*out, axes, self.inside(self.stage.dims)))
        vectors = np.ceil(vector * size / self.wide)
        taken_apart = np.where(near, vectors, 1.5 * vector + 4)  # a padded row is found by a division
        self.work.issue = self.work.issue + times * (vectors + taken_apart + 0.5 + 2)
