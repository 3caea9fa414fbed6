"""Low-level programs of stages that scan, but for how long rows are cut (stages/scans.py).

one row a work-item:    mapGlobal0 (scanSeq ..)
one row in registers:   mapGlobal0 (scanSeq (toPrivate ..)): loaded before it is scanned
one row a lane:         mapGlobal0 (mapVec (scanSeq ..)) over blocks of rows: of what lies across, on a CPU
one row a group:        work-items reduce a run each, their totals are scanned by doubling, and each run from its carry
linked groups:          the same for parts of one row: what precedes a part, its group adds up of the totals before it
rows a group:           the same for short rows, the totals of each of which one work-item scans
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.egraph.schedules.scans_side_by_side import states_by_items
from egglift.egraph.schedules.structures import Tile
from egglift.egraph.stages.as_pattern import computed, reads_of
from egglift.egraph.stages.short_arrays import laid_out
from egglift.egraph.stages.stage import Combined, Read, Scanned, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, merged, permuted
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.tile_kinds import REDUCED_RUN, ROWS_IN_LANES, SCANNED_ROWS, SCANNED_RUN
from egglift.ir.traverse import applied
from egglift.ir.tuples import parts_of
from egglift.ir.types import Tuple, Type, leaves

SHORT = 512  # elements of rows of which a group scans several
ALONE = 1 << 14  # elements that a GPU's work-item scans, where others have as many to do
HELD = 32  # elements of a row that a GPU's work-item holds in its registers
HELD_BYTES = 256  # of these
AHEAD = 8  # elements of a row that are loaded before it is gone on with
FEWEST = 256  # rows that are worth a work-item each, of a GPU


@dataclass(frozen=True)
class ScanStructure:
    """A low-level program of a scan, whose sizes are symbols."""

    sign: str
    term: Expr
    tiles: dict[str, Tile]


def scan_structures(stage: Stage, kind: str, limits: DeviceLimits, associative: bool) -> Iterator[ScanStructure]:
    """Structures for a device of that kind ("gpu" or "cpu"); associative: may what is scanned be combined in chunks?

    There is always one, however slow.
    """
    if stage.scan is not None and stage.scan.across is not None:
        yield ScanStructure("side by side", states_by_items(stage), {})
        return
    work = Rows(stage)
    items = kind == "cpu" or (work.count >= FEWEST and work.length <= ALONE)
    groups = kind == "gpu" and associative and work.bytes <= limits.local_bytes
    blocks = kind == "gpu" and associative and work.length <= SHORT and work.count >= FEWEST
    if items or not (groups or blocks):
        yield work.by_items()
    if kind == "gpu" and work.length <= HELD and work.read_bytes <= HELD_BYTES and work.count >= FEWEST:
        yield work.in_registers()
    if kind == "gpu" and items and work.combined is not None and work.length > HELD:
        yield work.by_items_ahead()
    if kind == "cpu" and work.count > 1:
        yield work.by_lanes()
    if blocks:
        yield work.in_blocks()
    if groups:
        yield work.by_groups()


class Rows:
    """The rows of a stage that scans: arrays of what is scanned, and of what is read beside it."""

    def __init__(self, stage: Stage) -> None:
        assert stage.scan is not None
        self.stage, self.scan = stage, stage.scan
        self.batch, self.length = stage.dims[:-1], number(stage.dims[-1])
        self.count = prod(map(number, self.batch))
        names, after = stage.names, self.scan.after
        read = [x for x, what in names.of(after) if isinstance(what, Read)] if after else []
        self.others: list[Expr] = [x for x in read if x != stage.body]
        own = stage.body.items if isinstance(stage.body, p.Tup) else (stage.body,)
        #: of what is scanned, what is not the same for all elements: only that is kept of a row
        self.own = tuple(x for x in own if reads_of(names, x)) or (stage.body,)
        self.items = (*self.own, *self.others)
        element = p.Tup(self.items) if len(self.items) > 1 else self.items[0]
        rows = computed(names, stage.dims, element)
        rows = merged(rows, 0, len(self.batch)) if self.batch else p.Split(self.length, rows)
        self.rows = at_depth(1, rows, backwards) if self.scan.backwards else rows
        self.begins, self.combined = _begins(stage, self.scan), self.scan.combined

    @property
    def bytes(self) -> int:
        """Of a row that is in local memory, with its result."""
        result = self.scan.type if self.scan.after is None else type_of(self.scan.after)
        written = 0 if self.combined else self.length
        return self.read_bytes + written * sum(scalar.size for _, scalar in leaves(result))

    @property
    def read_bytes(self) -> int:
        """Of a row, and of what is read beside it."""
        read = map(type_of, self.items)
        return self.length * sum(scalar.size for t in read for _, scalar in leaves(t))

    # ------------------------------------------------------------------------------------ structures

    def by_items(self) -> ScanStructure:
        """One row a work-item."""
        return self._whole("rows", self._mapped(self._paired(self.rows), self._in_order, Level("global", 0)), {})

    def by_items_ahead(self) -> ScanStructure:
        """One row a work-item, which loads some elements before it goes on with them."""

        def ahead(init: Expr, row: Expr) -> Expr:
            assert self.combined is not None
            return self._reduced(self.combined, init, row, AHEAD)

        return self._whole("rows ahead", self._mapped(self._paired(self.rows), ahead, Level("global", 0)), {})

    def in_registers(self) -> ScanStructure:
        """One row a work-item, all of it loaded before it is scanned."""
        found = self._mapped(
            self._paired(self.rows), lambda z, row: self._in_order(z, p.To("private", row)), Level("global", 0)
        )
        return self._whole("rows in registers", found, {})

    def by_lanes(self) -> ScanStructure:
        """One row a lane of a vector."""
        v = Sym(name := f"{ROWS_IN_LANES.letter}0")
        blocks = p.Split(v, p.PadUp(v, self._paired(self.rows)))
        lanes = self._mapped(p.Arg(element_type(blocks)), self._in_order, Level("vec"))
        found = p.Take(self.count, p.Join(p.Map(lanes, blocks, Level("global", 0))))
        return self._whole("rows in lanes", found, {name: Tile(name, ROWS_IN_LANES.letter, self.count)})

    def in_blocks(self) -> ScanStructure:
        """Some rows a group, some work-items each."""
        size, run = Sym("B0"), self._run()
        tiles = {"B0": Tile("B0", SCANNED_ROWS.letter, self.count), run.name: run}
        blocks = p.Split(size, p.PadUp(size, self._paired(self.rows)))
        found = p.Map(self._block(p.Arg(element_type(blocks)), Sym(run.name)), blocks, Level("workgroup", 0))
        return self._whole("rows in blocks", p.Take(self.count, p.Join(found)), tiles)

    def by_groups(self) -> ScanStructure:
        """One row a group."""
        run = self._run()
        found = self._mapped(
            self._paired(self.rows), lambda z, row: self._by_group(z, row, Sym(run.name)), Level("workgroup", 0)
        )
        return self._whole("runs of rows", found, {run.name: run})

    def linked(self, init: Expr) -> ScanStructure:
        """Chunks, one a group: what precedes one is known from the groups before it."""
        rows, run = prod(map(number, self.batch[1:])), self._run(even=True)
        arg = p.Arg(Tuple((self.scan.type, element_type(self.rows))))
        before, row = p.Get(0, arg), p.Get(1, arg)
        runs, totals = self._in_runs(row, Sym(run.name))
        op, neutral, last = self.scan.op.body, self.scan.op.neutral, SizeOp("-", self._runs(Sym(run.name)), 1)
        assert neutral is not None
        up_to = p.ScanDoubling(op, neutral, totals)
        starts = p.Pad(1, 0, "constant", p.Map(op, p.Distl(before, p.Take(last, up_to))), before)
        body = p.Tup((p.At(last, up_to), self._of_group(starts, runs)))
        return self._whole("linked runs of rows", p.ScanLinked(op, body, init, self.rows, rows), {run.name: run})

    # ------------------------------------------------------------------------------------ parts

    def _run(self, even: bool = False) -> Tile:
        """The elements in a row that a work-item of a group scans.  even: without filling, which would be reduced."""
        kind = REDUCED_RUN if even or self.combined is not None else SCANNED_RUN
        return Tile(f"{kind.letter}0", kind.letter, self.length)

    def _paired(self, rows: Expr) -> Expr:
        """Rows, each with what it begins with if that is not the same for all."""
        return rows if self.begins is None else p.Zip((self.begins, rows))

    def _mapped(self, rows: Expr, f: Callable[[Expr, Expr], Expr], level: Level) -> Expr:
        """`f` of what a row begins with, and the row."""
        arg = p.Arg(element_type(rows))
        body = f(self.scan.init, arg) if self.begins is None else f(p.Get(0, arg), p.Get(1, arg))
        return p.Map(body, rows, level)

    def _whole(self, sign: str, found: Expr, tiles: dict[str, Tile]) -> ScanStructure:
        """The rows as the stage's array."""
        for d in reversed(self.batch[1:]):
            found = p.Split(d.extent, found)
        if self.combined is not None:
            return ScanStructure(sign, found if self.batch else p.At(0, found), tiles)
        array = permuted(found if self.batch else p.Join(found), self.stage.dims, self.stage.array_dims)
        if self.scan.backwards:
            array = at_depth(self.stage.array_dims.index(self.stage.dims[-1]), array, backwards)
        return ScanStructure(sign, laid_out(array, self.stage), tiles)

    def _in_order(self, init: Expr, row: Expr) -> Expr:
        """A row by one work-item."""
        if self.combined is not None:
            return self._reduced(self.combined, init, row)
        carried = p.Arg(Tuple((self.scan.type, element_type(row))))
        acc, element = p.Get(0, carried), p.Get(1, carried)
        scanned = applied(self.scan.op.body, acc, self._scanned(element))
        return p.ScanSeq(p.Tup((scanned, self._after(scanned, element))), init, row)

    def _reduced(self, combined: Combined, init: Expr, row: Expr, ahead: int = 1) -> Expr:
        """What is kept of the scan of a row by one work-item, reduced.  ahead: elements that are loaded at a time."""
        both = Tuple((self.scan.type, type_of(combined.init)))
        step = p.Arg(Tuple((both, element_type(row))))
        (acc, before), element = (p.Get(i, p.Get(0, step)) for i in range(2)), p.Get(1, step)
        scanned = applied(self.scan.op.body, acc, self._scanned(element))
        reduced = applied(combined.op.body, before, self._after(scanned, element))
        body, begin = p.Tup((scanned, reduced)), p.Tup((init, combined.init))
        if ahead == 1:
            return p.Get(1, p.Fold(body, begin, row))
        whole = self.length // ahead * ahead
        blocks = p.Split(ahead, p.Take(whole, row))
        block = p.Arg(Tuple((both, element_type(blocks))))
        found = p.Fold(p.Fold(body, p.Get(0, block), p.To("private", p.Get(1, block)), unroll=True), begin, blocks)
        return p.Get(1, p.Fold(body, found, p.Drop(whole, row)) if self.length > whole else found)

    def _by_group(self, init: Expr, row: Expr, run: Size) -> Expr:
        """A row by a group: runs, their totals, what precedes each, and its scan."""
        runs, totals = self._in_runs(row, run)
        up_to = p.Take(SizeOp("-", self._runs(run), 1), p.ScanDoubling(self.scan.op.body, init, totals))
        return self._of_group(p.Pad(1, 0, "constant", up_to, init), runs)

    def _in_runs(self, row: Expr, run: Size) -> tuple[Expr, Expr]:
        """A row in local memory, in runs, and their totals."""
        runs = p.To("local", p.Split(run, p.PadUp(run, row)), 1)
        return runs, p.To("local", p.Map(self._total(element_type(runs)), runs, Level("local", 0)))

    def _of_group(self, starts: Expr, runs: Expr) -> Expr:
        """What a group keeps of its runs, of which it knows what precedes each."""
        found = self._from(starts, runs)
        if self.combined is not None:
            return p.Tree(self.combined.op.body, self.combined.init, found)
        return p.Take(self.length, p.Join(found))

    def _block(self, rows: Expr, run: Size) -> Expr:
        """A block of rows by a group: the totals of a row's runs are few, and scanned by one work-item."""
        count = self._runs(run)
        each, starts = rows, None
        if self.begins is not None:
            t = element_type(rows)
            starts, each = (p.Map(p.Get(i, p.Arg(t)), rows) for i in range(2))
        cut = p.Map(p.Split(run, p.PadUp(run, p.Arg(element_type(each)))), each)
        runs = p.To("local", p.Join(cut), 1)
        totals = p.To("local", p.Map(self._total(element_type(runs)), runs, Level("local", 0)))
        by_rows: Expr = p.Split(count, totals)
        by_rows = by_rows if starts is None else p.Zip((starts, by_rows))
        before = p.To("local", self._mapped(by_rows, self._before, Level("local", 0)))
        scanned = p.Split(count, self._from(p.Join(before), runs))
        if self.combined is not None:
            of_row = p.Fold(self.combined.op.body, self.combined.init, p.Arg(element_type(scanned)))
            return p.Map(of_row, scanned, Level("local", 0))
        return p.Map(p.Take(self.length, p.Join(p.Arg(element_type(scanned)))), scanned)

    def _runs(self, run: Size) -> Size:
        """How many runs a row has."""
        return SizeOp("/", SizeOp("+", self.length, SizeOp("-", run, 1)), run)

    def _total(self, run: Type) -> Expr:
        """The body that combines the elements of a run, of which there is one at least."""
        own = self._column(p.Arg(run))
        return p.Fold(self.scan.op.body, p.At(0, own), p.Drop(1, own))

    def _before(self, init: Expr, totals: Expr) -> Expr:
        """What precedes each of the runs of a row."""
        carried = p.Arg(Tuple((self.scan.type, element_type(totals))))
        return p.ScanSeq(p.Tup((self.scan.op.body, p.Get(0, carried))), init, totals)

    def _from(self, starts: Expr, runs: Expr) -> Expr:
        """Runs, each scanned from what precedes it, in local memory."""
        begun = p.Zip((starts, runs))
        pair = p.Arg(element_type(begun))
        scanned = p.Map(self._in_order(p.Get(0, pair), p.Get(1, pair)), begun, Level("local", 0))
        return p.To("local", scanned, 0 if self.combined else 1)

    # ------------------------------------------------------------------------------------ elements

    def _scanned(self, element: Expr) -> Expr:
        """What is scanned of an element."""
        parts, body = self._parts(element), self.stage.body
        if not isinstance(body, p.Tup) or self.own == (body,):
            return parts[0]
        if self.items == body.items:
            return element
        known = dict(zip(self.own, parts, strict=False))
        return p.Tup(tuple(known.get(x, x) for x in body.items))

    def _parts(self, element: Expr) -> list[Expr]:
        """The items of an element of a row."""
        return parts_of(element, len(self.items))

    def _column(self, row: Expr) -> Expr:
        found = self._scanned(p.Arg(element_type(row)))
        return row if isinstance(found, p.Arg) else p.Map(found, row)

    def _after(self, scanned: Expr, element: Expr) -> Expr:
        """What is kept."""
        if self.scan.after is None:
            return scanned
        new = dict(zip(self.others, self._parts(element)[len(self.own) :], strict=True))
        own: dict[Expr, Expr] = {self.stage.body: self._scanned(element)}
        return substituted(self.scan.after, {**new, **own, self.scan.result: scanned})


def _begins(stage: Stage, scan: Scanned) -> Expr | None:
    """What each row begins with; None where that is closed: the same for all."""
    if not reads_of(stage.names, scan.init):
        return None
    outer = stage.dims[:-1]
    return merged(computed(stage.names, outer, scan.init), 0, len(outer))
