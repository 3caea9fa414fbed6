"""What several devices do, step by step: a program in the form that extraction chose, read as steps.

A step computes one array, or one value, by a program for each device.  That program is the body of a `mapDevice`, for
any length of the device's block: blocks need not be equal, as `map f (concat a b) = concat (map f a) (map f b)`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache

from egglift.egraph.distribution.extraction import reads, works
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Operator
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import Size, SizeOp, Sym, evaluate, symbols
from egglift.ir.traverse import (
    bodies,
    children,
    exchanged,
    instantiate,
    is_closed,
    rebuild,
    subterms,
    with_argument,
)
from egglift.ir.types import Array, Type

#: the input of a device's program that holds what precedes its block of a scan
CARRY = "carry"
#: results of steps that are so short are worked on by whoever needs them
SMALL = 1 << 12


@dataclass(frozen=True)
class Read:
    """What devices have of one array: `how` is block, overlap or copy.

    name: of the input of a device's program.  source: the array, a view of the program's inputs and of results of steps
    before.  A block of k elements reads (k-1) * step + window rows of it, from `step` times its first element on.
    """

    name: str
    source: Expr
    how: str
    window: int = 1
    step: int = 1

    def rows(self, start: int, count: int) -> tuple[int, int]:
        """The rows of the source, from and to, that a block of `count` elements from `start` on reads."""
        first = start * self.step
        return first, first + (count - 1) * self.step + self.window

    def __str__(self) -> str:
        border = self.window - self.step
        of = " and ".join(inputs_of(self.source)) or str(self.source)
        return f"{of}: {self.how}" + (f", {border} rows more than its own" if self.how == "overlap" else "")


@dataclass(frozen=True)
class Step:
    """One array or value, computed by all devices; `kind` is map, reduce, scan or count.

    name: of the result, in later steps.  length: of what is cut into blocks.  body: a device's program, in which
    `symbol` is the length of its block.  reads: what its inputs are.  type: of the result.
    op, init: of a reduction or a scan, the operator, and what precedes the first element.
    """

    name: str
    kind: str
    length: int
    symbol: str
    body: Expr
    reads: tuple[Read, ...]
    type: Type
    op: Operator | None = None
    init: Expr | None = None

    def program(self, count: int) -> Expr:
        """The program of a device whose block has `count` elements; of a scan, its total."""
        return _sized(self.body, self.symbol, count)

    def going_on(self, count: int) -> Expr:
        """Of a scan, the program that goes on from what precedes the block, an input of the name CARRY."""
        total = self.program(count)
        assert self.op is not None and isinstance(total, p.Reduce)
        return p.Scan(self.op, p.Input(CARRY, type_of(total)), total.x)

    def programs(self, count: int) -> tuple[Expr, ...]:
        """All programs of such a device."""
        return (self.program(count), *([self.going_on(count)] if self.kind == "scan" else []))

    def of(self, source: str) -> tuple[str, ...]:
        """How devices have the input, or result of a step, of that name."""
        return tuple(dict.fromkeys(r.how for r in self.reads if source in inputs_of(r.source)))


@lru_cache(maxsize=256)  # calls ask for them again and again
def _sized(body: Expr, symbol: str, count: int) -> Expr:
    return instantiate(body, {symbol: count})


@dataclass(frozen=True)
class Steps:
    """A program of several devices: steps in order, and what is made of their results, named in `last`, at the end."""

    steps: tuple[Step, ...]
    last: Expr


def read_steps(term: Expr, symbols: Collection[str]) -> Steps:
    """The steps of a program that extraction chose; `symbols` are the lengths of blocks in it."""
    ones = dict.fromkeys(symbols, 1)
    reader = _Reader({*inputs_of(term), CARRY}, ones)
    last = instantiate(reader.lower(term), ones)
    return Steps(tuple(reader.steps), last)


@dataclass
class _Reader:
    """Steps are read from the inside out: what a step reads, or captures, and is computed is a step before it."""

    taken: set[str]
    ones: dict[str, int]  # a length for the blocks of each symbol: equations hold for any
    steps: list[Step] = field(default_factory=list)
    _lowered: dict[Expr, Expr] = field(default_factory=dict)
    taken_by_program: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.taken_by_program = frozenset(self.taken)

    def lower(self, e: Expr) -> Expr:
        """`e` with an input in the place of what steps compute."""
        if e not in self._lowered:
            self._lowered[e] = (self._step(e) or rebuild(e, self.lower, self.captured)) if works(e) else e
        return self._lowered[e]

    def source(self, e: Expr) -> Expr:
        """What a part is read from: `e` lowered, with numbers for the lengths of other steps' blocks: any will do."""
        return instantiate(self.lower(e), self.ones)

    def captured(self, body: Expr) -> Expr:
        """A body with inputs in the place of what it captures and steps compute."""
        new: dict[Expr, Expr] = {}
        stack, seen = [body], set[Expr]()
        while stack:
            t = stack.pop()
            if t in seen:
                continue
            seen.add(t)
            if not is_closed(t):
                stack.extend((*children(t), *bodies(t)))
            elif works(t) and reads(t):
                new[t] = self.lower(t)
        return exchanged(body, new) if new else body

    def fresh(self, stem: str) -> str:
        """A name that no input has."""
        name = next(n for i in range(len(self.taken) + 1) if (n := f"{stem}{i}") not in self.taken)
        self.taken.add(name)
        return name

    def _step(self, e: Expr) -> Expr | None:
        """The result of a step, if `e` is computed by one."""
        match e:
            case p.Concat(p.Join(p.Map(p.Scan(op), p.Zip((carries, _)), p.Level("device"))), _):
                return self._scan(e, op, carries)
            case p.Concat(p.Join(p.Map(body, x, p.Level("device"))), p.Join(p.Map(_, _, p.Level("device")))):
                return self._add("map", e, body, x)
            case p.Reduce(op, init, p.Concat(p.Map(body, x, p.Level("device")), p.Map(_, _, p.Level("device")))):
                return self._add("reduce", e, body, x, op, init)
            case p.Fold(_, _, p.Concat(p.Map(body, x, p.Level("device")), p.Map(_, _, p.Level("device")))):
                return self._add("count", e, body, x)
        return None

    def _scan(self, e: Expr, op: Operator, carries: Expr) -> Expr | None:
        """A scan: the totals of blocks, which `carries` scans, are what its first pass computes."""
        for t in subterms(carries):
            match t:
                case p.Scan(_, init, p.Map(body, x, p.Level("device"))):
                    return self._add("scan", e, body, x, op, init)
        return None

    def _whole(self, x: Expr) -> set[str]:
        """The inputs that every device has as a whole, of those in an array of blocks."""
        match x:
            case p.Distl(a, b):
                return {*inputs_of(self.lower(a)), *self._whole(b)}
            case p.Zip(arrays):
                return {name for a in arrays for name in self._whole(a)}
            case p.Map(body, y, None):
                return {*inputs_of(self.captured(body)), *self._whole(y)}
        return set()

    def _add(
        self, kind: str, e: Expr, body: Expr, x: Expr, op: Operator | None = None, init: Expr | None = None
    ) -> Expr | None:
        own = self.captured(body)
        blocks = _Blocks(self, {*inputs_of(own), *self._whole(x)})
        item = blocks.item(x)
        if item is None or blocks.length is None:
            return None
        program = with_argument(own, item)
        parts = {r.name: r for r in blocks.reads}
        reads_ = [parts.get(n) or Read(n, p.Input(n, t), "copy") for n, t in inputs_of(program).items()]
        first = None if init is None else self.lower(init)
        whole = type_of(instantiate(e, self.ones))
        step = Step(self.fresh("step"), kind, blocks.length, blocks.symbol, program, tuple(reads_), whole, op, first)
        if kind == "map" and not blocks.is_large(self.taken_by_program):
            return exchanged(step.program(step.length), {p.Input(r.name, type_of(r.source)): r.source for r in reads_})
        self.steps.append(step)
        return p.Input(step.name, step.type)


@dataclass
class _Blocks:
    """What one element of an array of blocks is: an expression over the parts that a device reads."""

    reader: _Reader
    whole: set[str]  # inputs that every device has as they are
    reads: list[Read] = field(default_factory=list)
    symbol: str = ""
    length: int | None = None

    def item(self, x: Expr) -> Expr | None:
        """A device's element of `x`; None for an array that no law has moved blocks through."""
        match x:
            case p.Split(k, p.Take(n, p.Zip(arrays))):
                items = [self.item(p.Split(k, p.Take(n, a))) for a in arrays]
                return p.Zip(tuple(i for i in items if i is not None)) if all(items) else None
            case p.Split(Sym(k), p.Take(_, source)):
                read = self.reader.source(source)
                return self._part(k, length_of(read), Read("", read, "block"))
            case p.Take(SizeOp("/"), p.Slide(u, far, p.Pad(0, _, "clamp", source))):
                (k,) = symbols(u)
                window, step = evaluate(u, {k: 1}), evaluate(far, {k: 1})
                read = self.reader.source(source)
                count = (length_of(read) - window) // step + 1
                return self._part(k, count, Read("", read, "overlap", window, step))
            case p.Zip(arrays):
                items = [self.item(a) for a in arrays]
                return p.Tup(tuple(i for i in items if i is not None)) if all(items) else None
            case p.Distl(a, b):
                other = self.item(b)
                return None if other is None else p.Tup((self.reader.lower(a), other))
            case p.Map(body, y, None):
                inner = self.item(y)
                return None if inner is None else with_argument(self.reader.captured(body), inner)
        return None

    def is_large(self, inputs: Collection[str]) -> bool:
        """Is it worth several devices: are blocks of the program's own inputs read, or long results of steps?"""
        own = any(name in inputs for r in self.reads for name in inputs_of(r.source))
        return own or (self.length or 0) > SMALL

    def _part(self, symbol: str, length: int, read: Read) -> Expr | None:
        """The input for a part of an array; None where blocks are cut in two ways."""
        if (self.length or length) != length or (self.symbol or symbol) != symbol:
            return None
        self.length, self.symbol = length, symbol
        known = next((r for r in self.reads if replace(r, name="") == read), None)
        if known is None:
            known = replace(read, name=self._name(read.source))
            self.reads.append(known)
        whole = type_of(read.source)
        assert isinstance(whole, Array)
        k: Size = Sym(symbol)
        if read.how == "overlap":
            k = SizeOp("+", SizeOp("*", SizeOp("-", k, 1), read.step), read.window)
        return p.Input(known.name, Array(k, whole.element))

    def _name(self, source: Expr) -> str:
        taken = {r.name for r in self.reads} | self.whole
        if isinstance(source, p.Input) and source.name not in taken:
            return source.name
        return self.reader.fresh("part")


def length_of(array: Expr) -> int:
    """The length of an array, a number."""
    t = type_of(array)
    assert isinstance(t, Array)
    return evaluate(t.length)
