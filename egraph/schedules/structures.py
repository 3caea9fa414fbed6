"""The structures of a stage worth pricing: runs whose loops are given to executors as the device has them.

What executes the i-th digit of a dimension is a table for each kind of device; where blocks have one element, a digit
is no loop, so the most finely cut run stands for all others.  A structure then says which dimensions are tiled, whether
a reduction goes in chunks that are kept in local memory, and whether work-items share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from egglift.egraph.schedules.lower import lower, operands
from egglift.egraph.schedules.runs import Axis, Digit, Runs, runs_of
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule, Step
from egglift.egraph.stages.merging import merged_dims, restored
from egglift.egraph.stages.sharing import can_share
from egglift.egraph.stages.stage import Dim, Stage
from egglift.ir.patterns import Expr, Level
from egglift.ir.sizes import Size, SizeOp, Sym

SEQUENTIAL, VECTOR = Level("seq"), Level("vec")
#: digits of a tiled dimension: who executes them, from the largest blocks to single elements
GPU_TILE, CPU_ROWS, CPU_COLUMNS = ("grid", "own", "item", "own"), ("grid", "own"), ("grid", "own", "vector")
#: where lanes share a reduction, a group has some results
GPU_LANES = ("grid", "item")
#: of a stage without reductions: single elements are the neighbours' of a work-item
GPU_MOVED_ROWS, GPU_MOVED_COLUMNS = ("grid", "own", "item"), ("grid", "item")
GRID = 3  # dimensions that a grid has
SHORT = 64  # lengths below are padded up to a power of two, such that blocks divide them


@dataclass(frozen=True)
class Tile:
    """A symbol for a size: its kind (costmodel/search/size_choices.py) and the length that it cuts."""

    name: str
    kind: str
    length: Size


@dataclass(frozen=True)
class Structure:
    """A low-level program of a stage, whose sizes are symbols.  sign: what it does, in short; schedule: its loops."""

    sign: str
    schedule: Schedule
    term: Expr
    tiles: dict[str, Tile] = field(compare=False)


@dataclass(frozen=True)
class Plan:
    """What a structure is made from: tiled dimensions, and how the reduction goes.

    whole: one work-item after the other element; chunks: of it, kept in local memory; parts: work-items of a group
    reduce parts each, one block of elements after the other; lanes: in turn, neighbours next to each other.
    """

    rows: Dim | None
    columns: Dim | None
    way: str = "whole"


def structures(stage: Stage, kind: str, reassociate: bool) -> Iterator[Structure]:
    """Structures for a device of that kind ("gpu" or "cpu")."""
    for plan in _plans(stage, kind, reassociate):
        found = _structure(stage, kind, plan)
        if found is not None:
            yield found


def _plans(stage: Stage, kind: str, reassociate: bool) -> Iterator[Plan]:
    columns, others = (stage.dims[-1], stage.dims[:-1]) if stage.dims else (None, ())
    rows: Sequence[Dim | None] = (others or (None,)) if stage.dims else ()
    reduced = bool(stage.reductions)
    for r in rows:
        if kind == "gpu" and reduced:
            yield Plan(r, columns, "chunks")
        if kind == "cpu" or not reduced or r is not None:
            yield Plan(r, columns)
    if kind == "gpu" and reassociate and can_share(stage):
        if columns is not None:
            yield Plan(None, columns, "parts")
        yield Plan(None, columns, "lanes")


def _structure(stage: Stage, kind: str, plan: Plan) -> Structure | None:
    """The structure of a plan, if the laws make its run."""
    batch = [d for d in stage.dims if d not in (plan.rows, plan.columns)]
    tiled = len(stage.dims) - len(batch)
    whole = merged_dims(stage, batch) if len(batch) > GRID - tiled else stage
    work = _Work(whole, kind, plan)
    steps = work.steps()
    if steps is None:
        return None
    schedule = Schedule(tuple(steps), tuple(work.cuts.items()))
    term = lower(whole, schedule)
    return Structure(
        work.sign(), schedule, restored(term, stage.dims, batch) if whole is not stage else term, work.tiles
    )


class _Work:
    def __init__(self, stage: Stage, kind: str, plan: Plan) -> None:
        self.stage, self.plan, self.gpu = stage, plan, kind == "gpu"
        chain = stage.phases
        self.reduced = tuple(dict.fromkeys(d for r in (chain[0] if chain else ()) for d in r.dims))
        self.reads = operands(stage)
        self.tiled = [d for d in (plan.rows, plan.columns) if d is not None]
        self.batch = [d for d in stage.dims if d not in self.tiled]
        self.tiles: dict[str, Tile] = {}
        self.cuts: dict[Dim, tuple[Size, ...]] = {d: self._blocks(d) for d in self.tiled}
        self.chunk = max(self.reduced, key=lambda d: d.extent if isinstance(d.extent, int) else 0, default=None)
        if self.chunk is not None and plan.way != "whole":
            self.cuts[self.chunk] = self._reduced_blocks(self.chunk)
        self.dims = [*self.batch, *self.tiled, *self._reduction_order()]
        self.runs = self._runs()

    def _reduction_order(self) -> list[Dim]:
        """The dimension that is cut first: what is cut can be exchanged with the others."""
        return [d for d in self.reduced if d == self.chunk] + [d for d in self.reduced if d != self.chunk]

    # ------------------------------------------------------------------------------------ sizes

    def _symbol(self, kind: str, d: Dim, length: Size) -> Sym:
        name = f"{kind}{self.tiled.index(d) if d in self.tiled else 9}"
        self.tiles[name] = Tile(name, kind, length)
        return Sym(name)

    def _blocks(self, d: Dim) -> tuple[Size, ...]:
        row = d == self.plan.rows
        if self.plan.way == "lanes":
            return (self._symbol("g", d, d.extent),)
        if self.gpu and not self.reduced:
            side = self._symbol("t", d, _padded(d.extent))
            return (side, SizeOp("/", side, self._symbol("o", d, side))) if row else (side,)
        block = self._symbol("m" if row else "n", d, _padded(d.extent))
        if not self.gpu:
            return (block,) if row else (block, self._symbol("v", d, block))
        own, lanes = self._symbol("q", d, block), self._symbol("c", d, block)
        return block, SizeOp("/", block, own), lanes

    def _reduced_blocks(self, d: Dim) -> tuple[Size, ...]:
        match self.plan.way:
            case "chunks":
                return (self._symbol("k", d, d.extent),)
            case "parts":
                return (self._symbol("s", d, d.extent),)
            case _:
                own = self._symbol("w", d, d.extent)
                return SizeOp("*", self._symbol("l", d, SizeOp("/", d.extent, own)), own), own

    # ------------------------------------------------------------------------------------ the run

    def _runs(self) -> Runs:
        axes = tuple(Axis(i, d in self.reduced, len(self.cuts.get(d, ()))) for i, d in enumerate(self.dims))
        return runs_of(axes, len(self.reads))

    def steps(self) -> list[Step] | None:
        """The steps of the plan's run, if it is in the class of the plain one."""
        c: int | None = self.runs.root
        found: list[Step] = []
        for step in self._wanted():
            if c is None:
                return None
            match step:
                case Keep(operand):
                    c = self.runs.after(c, operand)
                case Loop(d, i):
                    last = i == len(self.cuts.get(d, ()))
                    c = self.runs.after(c, Digit(self.dims.index(d), i, last))
            found.append(step)
        return found

    def _wanted(self) -> Iterator[Step]:
        """Grid, chunks of the reduction, what is kept, work-items, the reduction inside, a work-item's own elements."""
        cut = self.chunk if self.chunk in self.cuts else None
        for i, d in enumerate(reversed(self.batch)):
            yield Loop(d, 0, "grid", self._level("grid", 2 - i))
        for d in self.tiled:
            yield Loop(d, 0, "grid", self._level("grid", 1 if d == self.plan.rows else 0))
        way = self.plan.way
        if cut and way == "chunks":
            yield Loop(cut, 0, "sequential", None, self._symbol("f", cut, 1))
        if self.gpu and (way == "chunks" or not self.reduced):
            yield from self._kept_local()
        if cut and way in ("parts", "lanes"):
            yield Loop(cut, 1 if way == "lanes" else 0, "item", self._level("share", 0))
        yield from self._digits("item")
        yield from self._inner(cut)
        if self.reduced:
            yield from (Keep(i, "private") for i, o in enumerate(self.reads) if self._has_own(o.dims))
        if cut and way == "lanes":
            yield Loop(cut, 2, "unrolled")
        yield from self._digits("own", "vector")

    def _inner(self, cut: Dim | None) -> Iterator[Loop]:
        for d in self._reduction_order():
            kind = "unrolled" if self.gpu and d == cut and self.plan.way == "chunks" else "sequential"
            yield Loop(d, 1 if d == cut and self.plan.way != "lanes" else 0, kind)

    def _kept_local(self) -> Iterator[Keep]:
        for i, o in enumerate(self.reads):
            if self.reduced or set(self.tiled) <= set(o.dims):
                name = f"a{i}"
                self.tiles[name] = Tile(name, "a", 1)
                yield Keep(i, "local", Sym(name))

    def _has_own(self, dims: Sequence[Dim]) -> bool:
        return any(d in dims for d in self.tiled) or (self.plan.way == "lanes" and self.chunk in dims)

    def _table(self, d: Dim) -> tuple[str, ...]:
        if self.plan.way == "lanes":
            return GPU_LANES
        rows, columns = (CPU_ROWS, CPU_COLUMNS)
        if self.gpu:
            rows, columns = (GPU_TILE, GPU_TILE) if self.reduced else (GPU_MOVED_ROWS, GPU_MOVED_COLUMNS)
        return rows if d == self.plan.rows else columns

    def _digits(self, *kinds: str) -> Iterator[Loop]:
        for d in self.tiled:
            for i, kind in enumerate(self._table(d)):
                if kind in kinds:
                    level = self._level(kind, 1 if d == self.plan.rows else 0)
                    after = VECTOR if self.gpu and self.reduced and (d, i) == (self.plan.columns, 3) else None
                    yield Loop(d, i, "item" if kind == "item" else "own", level, after=after)

    def _level(self, kind: str, dim: int) -> Level:
        match kind:
            case "grid":
                return Level("workgroup" if self.gpu else "global", dim)
            case "item":
                return Level("local", 1 if self.plan.way == "lanes" else dim)
            case "share":
                return Level("local", 0 if self.plan.way == "lanes" else 1)
            case "vector":
                return VECTOR
            case _:
                return SEQUENTIAL

    def sign(self) -> str:
        """The structure in short."""
        tiled = "".join(str(self.stage.dims.index(d)) for d in self.tiled)
        return f"tile {tiled} {self.plan.way}"


def _padded(extent: Size) -> Size:
    if isinstance(extent, int) and extent < SHORT and extent % 4:
        return 1 << max(1, (extent - 1).bit_length())
    return extent
