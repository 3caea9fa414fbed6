"""Products of fragments that four warps multiply together, a warp group, from local memory as it lies there.

for i: await copies i; barrier; copy i + 3       await copies 0; barrier
       for k in 64: totals += x[k] * y[k]   ->   for i: totals += x * y, of all 64 steps, which the units go on with
                                                        await copies i + 1; barrier; copy i + 3
                                                        await products

Products of what is not copied ahead are waited for at once.  Work-items show units what they have written, or copied:

x[l0] = ..                                x[l0] = ..; show units
barrier                              ->   barrier
for k in 64: totals += x[k] * y[k]        totals += x * y, of all 64 steps; await products

A warp group has 64 rows, in lines that are exchanged (views.exchanged), and all columns of the group's tile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import is_aligned
from egglift.codegen.kernel.fragment_loads import ACROSS, DOWN
from egglift.codegen.kernel.fragment_sums import Sums
from egglift.codegen.kernel.fragments_ahead import CopiedAhead, at_step, together
from egglift.codegen.kernel.imperative import AwaitCopies, FragmentProduct, Load, Lying, ScalarValue, Statement, Unit
from egglift.codegen.kernel.index import Index, Var, index
from egglift.codegen.kernel.index_numbers import Lanes, Unknown, evaluate
from egglift.codegen.kernel.views import CHUNK, LINE, PATTERN
from egglift.codegen.kernel.walk import blocks, walk, with_blocks
from egglift.ir.types import BF16, F16, F32, TF32

#: by the unit of a warp that multiplies the same types: rows of a product, the least columns and steps
GROUP_UNITS: Mapping[str, Unit] = {
    "f16": Unit("f16 groups", F16, F32, 64, 8, 16, "f32.f16.f16"),
    "bf16": Unit("bf16 groups", BF16, F32, 64, 8, 16, "f32.bf16.bf16"),
    "rounded tf32": Unit("tf32 groups", TF32, F32, 64, 8, 8, "f32.tf32.tf32"),
}
#: bytes of local memory that a group may have where its kernel is built for its own target (opencl/own_target.py)
GROUP_BYTES = 227 << 10
#: bytes of factors that units also read where lines lie beside each other; of others, they read steps that do
TURNED = 2
#: warps of a warp group, and columns that it has at most
WARPS, COLUMNS = 4, 256
#: buffers of copies that there are at least: one that is read, one that is waited for, and one that is filled
BUFFERS = 3


def group_unit_bytes(units: Sequence[str]) -> int:
    """Bytes of local memory of a group in kernels for warp groups, if a device has such units."""
    return GROUP_BYTES if any(unit.name in units for unit in GROUP_UNITS.values()) else 0


def group_products(sums: Sequence[Sums], step: Var, local: tuple[int, int, int]) -> tuple[FragmentProduct, ...]:
    """The products of a loop over `step`, of all its steps; none where its factors do not lie for warp groups."""
    if local[0] != ACROSS or local[1] != DOWN or local[2] % WARPS or sums[0].unit is None:
        return ()
    unit = GROUP_UNITS.get(sums[0].unit.name)
    if unit is None or step.count % unit.steps:
        return ()
    found: list[FragmentProduct] = []
    for s in sums:
        made = _Product(s, step, local, unit).parts()
        if not made:
            return ()
        found += made
    return tuple(found)


def multiplied_meanwhile(ahead: CopiedAhead, products: Sequence[FragmentProduct]) -> Iterator[Statement]:
    """A loop whose products go on while the copies of its next step are waited for."""
    first, barrier, *copies = ahead.copies
    assert isinstance(first, AwaitCopies)
    yield from at_step([first, barrier], {ahead.loop.var: 0})
    awaited = together(im.AwaitProducts(p.totals) for p in products)
    body = [together((*ahead.comments, *products))]
    body += [AwaitCopies(first.open - 1), barrier, *copies, awaited]
    yield replace(ahead.loop, body=tuple(body))


def multiplied_at_once(products: Sequence[FragmentProduct]) -> Iterator[Statement]:
    """Products of what has just been written, which are waited for."""
    yield from products
    yield from (im.AwaitProducts(p.totals) for p in products)


def shown_to_units(body: Sequence[Statement]) -> list[Statement]:
    """`body`, where work-items show units of warp groups what these read, as soon as it is written, or copied."""
    read = {x.buffer for s in walk(body) if isinstance(s, FragmentProduct) and s.lying for x in _factors(s)}
    return _shown(body, read) if read else list(body)


def _factors(product: FragmentProduct) -> list[Load]:
    return [x for x in (*product.rows, *product.columns) if isinstance(x, Load)]


def _shown(body: Sequence[Statement], read: Collection[im.Buffer]) -> list[Statement]:
    found: list[Statement] = []
    for s in body:
        if any(isinstance(t, FragmentProduct | AwaitCopies) for inner in blocks(s) for t in walk(inner)):
            found.append(with_blocks(s, lambda inner: _shown(inner, read)))
            continue
        found.append(s)
        written = any(isinstance(t, im.Store) and not t.asynchronous and t.buffer in read for t in walk((s,)))
        if written or isinstance(s, AwaitCopies):
            found.append(im.ShowUnits())
    return found


@dataclass(frozen=True)
class _Product:
    """All rows by all columns of one sum.

    Work-item (l0, l1, l2) has of each 16 rows of its warp those that are l1 and l1 + 8, and of every eight columns
    2 l0 and the next one: as the unit gives them to lane l0 + 4 l1 of warp l2.
    """

    sums: Sums
    step: Var
    local: tuple[int, int, int]
    unit: Unit

    def parts(self) -> list[FragmentProduct]:
        """A product for each pair of a work-item's rows; none where factors lie otherwise."""
        rows, columns = self.rows, self.columns
        pairs = list(zip(self.sums.rows[::2], self.sums.rows[1::2], strict=False))
        totals = [self.totals(pair) for pair in pairs]
        if rows is None or columns is None or not all(totals):
            return []
        unit, lying = replace(self.unit, columns=columns.count, steps=self.step.count), (rows.lying, columns.lying)
        if unit.scalar.size != TURNED and not all(x.along for x in lying):
            return []
        first = columns.first(self.sums.columns[0], 0)
        firsts = [rows.first(row, self.own) for row, _ in pairs]
        return [FragmentProduct(unit, t, (row,), (first,), lying) for t, row in zip(totals, firsts, strict=True)]

    @property
    def own(self) -> Index:
        """Which of the warp groups that share the tile this one is."""
        return index(Var("l2", self.local[2], "local", 2)) // WARPS

    @cached_property
    def rows(self) -> _Lines | None:
        """The rows in the order of the unit: blocks of 64, one of each warp group, for each pair of own rows."""
        n, groups = len(self.sums.rows), self.local[2] // WARPS
        places = _places(self.sums.rows, self.step, (1, DOWN, self.local[2]))
        if n % 2 or places is None:
            return None
        own = places.reshape(n // 2, 2, DOWN, groups, WARPS, self.step.count)
        blocks = own.transpose(0, 3, 4, 1, 2, 5).reshape(n // 2, groups, self.unit.rows, self.step.count)
        starts = blocks[:, :, :1, :1]
        apart = int(starts[0, -1, 0, 0] - starts[0, 0, 0, 0]) // max(1, groups - 1)
        beside = np.all(starts == starts[:, :1] + apart * np.arange(groups).reshape(1, -1, 1, 1))
        one = blocks[0, 0] - blocks[0, 0, 0, 0]
        lying = _lying(one, self.unit.scalar.size) if beside and np.all(blocks - starts == one) else None
        return None if lying is None else _Lines(lying, self.unit.rows, self.step, apart).checked(self.sums.rows)

    @cached_property
    def columns(self) -> _Lines | None:
        """The columns of the tile, those that neighbours have in pairs."""
        n = len(self.sums.columns)
        places = _places(self.sums.columns, self.step, (ACROSS, 1, 1))
        if n % 2 or n * ACROSS > COLUMNS or places is None:
            return None
        lines = places.reshape(n // 2, 2, ACROSS, self.step.count).transpose(0, 2, 1, 3).reshape(-1, self.step.count)
        lying = _lying(lines - lines[0, 0], self.unit.scalar.size)
        return None if lying is None else _Lines(lying, len(lines), self.step, 0).checked(self.sums.columns[:1])

    def totals(self, rows: tuple[ScalarValue, ScalarValue]) -> tuple[Load, ...]:
        """The totals of two rows: of every pair of columns, those of the first row, then of the other."""
        found = []
        pairs = zip(self.sums.columns[::2], self.sums.columns[1::2], strict=True)
        for columns in pairs:
            found += [self.sums.totals[row, column] for row in rows for column in columns]
        return tuple(Load(buffer, index(at)) for buffer, at in found) if _are_lines(found) else ()


@dataclass(frozen=True)
class _Lines:
    """Lines of one operand, `count` for a unit.  apart: elements from those of a warp group to the next one's."""

    lying: Lying
    count: int
    step: Var
    apart: int

    def first(self, line: ScalarValue, group: Index | int) -> Load:
        """The first element of what a warp group has, from a work-item's line on."""
        assert isinstance(line, Load)
        return Load(line.buffer, _start(line.at, self.step) + index(group) * self.apart)

    def checked(self, lines: Sequence[ScalarValue]) -> _Lines | None:
        """Itself, if all begin where units can read them: of pairs of lines the first ones."""
        loads = [line for line in lines[::2] if isinstance(line, Load)]
        size = loads[0].buffer.scalar.size
        aligned = all(is_aligned(_start(x.at, self.step), PATTERN // size) for x in loads)
        return self if aligned and self.apart * size % PATTERN == 0 else None


def _are_lines(totals: Sequence[tuple[im.Buffer, int]]) -> bool:
    """Do the totals of each row follow each other in one array?"""
    buffer, first = totals[0][0], (totals[0][1], totals[2][1])
    return all(b is buffer and at == first[i // 2 % 2] + 2 * (i // 4) + i % 2 for i, (b, at) in enumerate(totals))


def _places(lines: Sequence[ScalarValue], step: Var, local: tuple[int, int, int]) -> Lanes | None:
    """Where lines are at every step, but for what is the same for all of them: by line, work-item and step.

    local: how many work-items there are in each dimension, the last one innermost.  None where lines are not all of one
    local array, or there is no telling.
    """
    loads = [v for v in lines if isinstance(v, Load)]
    if len(loads) < len(lines) or {v.buffer.space for v in loads} != {"local"} or len({v.buffer for v in loads}) > 1:
        return None
    *ids, steps = (x.reshape(-1) for x in np.indices((*local, step.count)))
    found = []
    for at in (v.at for v in loads):
        if any(v.role != "local" and v != step for v in (at - _start(at, step)).variables()):
            return None
        try:
            found.append(evaluate(at, tuple(ids), {step: steps}))
        except Unknown:
            return None
    return np.stack(found).reshape(len(loads), -1, step.count)


def _start(at: Index, step: Var) -> Index:
    """Where the first work-item begins."""
    return at.substitute({**{v: 0 for v in at.variables() if v.role == "local"}, step: 0})


def _lying(places: Lanes, size: int) -> Lying | None:
    """How lines lie, whose elements are at these places by line and step; None where it is as no unit reads them."""
    lines, steps = places.shape
    line = LINE // size
    i, s = np.meshgrid(np.arange(lines), np.arange(steps), indexing="ij")
    for along in (True, False):
        row, column = (i, s) if along else (s, i)
        far = int(places[0, line] if along and steps > line else places[line, 0] if not along and lines > line else 0)
        chunk = CHUNK // size
        at = ((column // chunk % 8) ^ (row % 8)) * chunk + column % chunk
        if np.array_equal(places, column // line * far + row * line + at) and far * size % CHUNK == 0:
            return Lying(along, far * size)
    return None
