"""Stages: array programs in index notation.

A stage yields an array over its dimensions.  Its element at an index is a closed scalar body, which reads arrays at
dimensions and holds reductions, each over dimensions of its own:

    map (\\row. map (\\col. reduce (+) 0 (map (*) (zip row col))) (transpose B)) A
    = [ sum_2 A[0, 2] * (transpose B)[1, 2]  for 0 < m, for 1 < n ]

In a body, what is read and what is reduced stand as inputs with names that no user can give (`%r0`, `%s0`): a body is
an ordinary scalar expression, and equal reads and equal reductions are equal nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.check import type_of
from egglift.ir.kept import hashed_once
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.traverse import exchanged, inputs_in, replaced
from egglift.ir.types import Array, Scalar, Type


@hashed_once
@dataclass(frozen=True)
class Dim:
    """One dimension of an index space: `extent` indices.  Two are the same if their numbers are."""

    number: int
    extent: Size


def number(d: Dim) -> int:
    """How many indices a dimension of a program has, whose lengths are numbers."""
    assert isinstance(d.extent, int)
    return d.extent


@hashed_once
@dataclass(frozen=True)
class Read:
    """`view[d0, d1, ...]`: an element of a closed array, whose outer axes are at `dims`."""

    view: Expr
    dims: tuple[Dim, ...]

    def along(self, dim: Dim, f: Callable[[Expr], Expr], dims: tuple[Dim, ...]) -> Read:
        """What is read with a layout pattern on the axis at `dim`, which makes the axes at `dims` of it.

        A[0, 1].along(1, split 4, (2, 3)) -> (map (split 4) A)[0, 2, 3]
        """
        if dim not in self.dims:
            return self
        at = self.dims.index(dim)
        return Read(at_depth(at, self.view, f), (*self.dims[:at], *dims, *self.dims[at + 1 :]))

    def at(self, new: Mapping[Dim, Dim]) -> Read:
        """What is read, at other dimensions for some."""
        return self if new.keys().isdisjoint(self.dims) else Read(self.view, tuple([new.get(d, d) for d in self.dims]))

    @property
    def type(self) -> Type:
        """The type of the element."""
        t = type_of(self.view)
        for _ in self.dims:
            assert isinstance(t, Array)
            t = t.element
        return t


@dataclass(frozen=True)
class Reduction:
    """`fold step init [element for dims]`, in the order of `dims`; in any order if `op` is given.

    step: a body over <accumulator, element>; op: the associative operator that it is of; init: closed, or the result of
    a reduction over other elements, which this one goes on with; element: a body, scalar or a tuple.
    """

    step: Expr
    init: Expr
    dims: tuple[Dim, ...]
    element: Expr
    op: p.Operator | None

    @property
    def type(self) -> Type:
        """The type of the result."""
        return type_of(self.init)


@dataclass(frozen=True)
class Combined:
    """A reduction of all that is kept of a scan, from the neutral element: op is associative and commutative."""

    op: p.Operator

    @property
    def init(self) -> Expr:
        """The neutral element."""
        assert self.op.neutral is not None
        return self.op.neutral


@dataclass(frozen=True)
class Across:
    """A reduction of what is kept of several scans, from the neutral element, at each index of the last dimension.

    dims: those of these scans, which the array then has not; op: associative and commutative.  finish: a body over the
    dimensions that are left, of `result`.
    """

    dims: tuple[Dim, ...]
    op: p.Operator
    finish: Expr

    @property
    def init(self) -> Expr:
        """The neutral element."""
        assert self.op.neutral is not None
        return self.op.neutral

    @property
    def result(self) -> p.Input:
        """What stands for the result of the reduction in `finish`."""
        return p.Input("%across", type_of(self.init))


@dataclass(frozen=True)
class Scanned:
    """What a stage does with its elements along its last dimension: `[init + x0, init + x0 + x1, ...]`.

    op: associative; init: a body over the other dimensions.  after: a body over all dimensions, of `result`, that is
    kept of each; None: `result` itself.  axis: which axis of the array is the last dimension's; None: the last one.
    combined: how what is kept is reduced along the last dimension, which the array then has not.  backwards: does it
    begin at the last index, `[.., init + xn + x(n-1), init + xn]`?  across: how what is kept of several is reduced.
    """

    op: p.Operator
    init: Expr
    after: Expr | None = None
    axis: int | None = None
    combined: Combined | None = None
    backwards: bool = False
    across: Across | None = None

    @property
    def type(self) -> Type:
        """The type of what is carried."""
        return type_of(self.init)

    @property
    def result(self) -> p.Input:
        """What stands for the scan's own value in `after`."""
        return p.Input("%scanned", self.type)


@dataclass(frozen=True)
class Counted:
    """What a stage does with its elements along its last dimension: of integers, how many are 0, 1, ..., length-1; of
    pairs of an integer and a number, or a tuple of such, what the sum of the numbers beside 0 is, beside 1, ...: in
    `type`."""

    length: Size
    type: Type


@dataclass
class Names:
    """What the inputs of bodies with names of ours stand for."""

    reads: dict[str, Read] = field(default_factory=dict)
    reductions: dict[str, Reduction] = field(default_factory=dict)
    _known: dict[Read | Reduction, p.Input] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    def dim(self, extent: Size) -> Dim:
        """A new dimension."""
        return Dim(next(self._numbers), extent)

    def read(self, read: Read) -> Expr:
        """The expression that stands for a scalar that is read: the scalar itself where it is at no dimension."""
        if not read.dims:
            return read.view
        if read not in self._known:
            name = f"%r{len(self.reads)}"
            self.reads[name] = read
            self._known[read] = p.Input(name, read.type)
        return self._known[read]

    def reduced(self, reduction: Reduction) -> p.Input:
        """The expression that stands for the result of a reduction."""
        if reduction not in self._known:
            name = f"%s{len(self.reductions)}"
            self.reductions[name] = reduction
            self._known[reduction] = p.Input(name, reduction.type)
        return self._known[reduction]

    def of(self, body: Expr) -> Iterator[tuple[p.Input, Read | Reduction]]:
        """The reads and the outermost reductions in a body, each once."""
        for t in inputs_in(body):
            if t.name in self.reads:
                yield t, self.reads[t.name]
            elif t.name in self.reductions:
                yield t, self.reductions[t.name]

    def free(self, body: Expr) -> frozenset[Dim]:
        """The dimensions that a body depends on."""
        found: set[Dim] = set()
        for _, what in self.of(body):
            match what:
                case Read(_, dims):
                    found |= set(dims)
                case Reduction(_, init, dims, element):
                    found |= self.free(init) | self.free(element) - set(dims)
        return frozenset(found)

    def with_reads(self, body: Expr, f: Callable[[Read], Read], memo: dict[Expr, Expr] | None = None) -> Expr:
        """`body` with every read changed, in reductions too."""
        memo = {} if memo is None else memo
        new: dict[Expr, Expr] = {}
        for x, what in self.of(body):
            if x not in memo:
                match what:
                    case Read():
                        memo[x] = self.read(f(what))
                    case Reduction():
                        init, element = (self.with_reads(e, f, memo) for e in (what.init, what.element))
                        memo[x] = self.reduced(replace(what, init=init, element=element))
            new[x] = memo[x]
        return substituted(body, new)

    def at(self, body: Expr, new: Mapping[Dim, Dim], memo: dict[Expr, Expr] | None = None) -> Expr:
        """`body` at other dimensions for some, those that its reductions run over among them."""
        memo = {} if memo is None else memo
        moved: dict[Expr, Expr] = {}
        for x, what in self.of(body):
            if x not in memo:
                match what:
                    case Read():
                        memo[x] = self.read(what.at(new))
                    case Reduction(_, init, dims, element):
                        own = tuple(new.get(d, d) for d in dims)
                        init, element = (self.at(e, new, memo) for e in (init, element))
                        memo[x] = self.reduced(replace(what, init=init, dims=own, element=element))
            moved[x] = memo[x]
        return substituted(body, moved)

    def exchanged(self, body: Expr, new: Mapping[Expr, Expr]) -> Expr:
        """`body` that reads other arrays: at dimensions, as numbers, and in its reductions."""
        own = dict(new)
        for x, what in self.of(body):
            match what:
                case Read():
                    own[x] = self.read(replace(what, view=exchanged(what.view, new)))
                case Reduction():
                    init, element = (self.exchanged(e, new) for e in (what.init, what.element))
                    own[x] = self.reduced(replace(what, init=init, element=element))
        return exchanged(body, own)

    def within(self, body: Expr) -> Iterator[Reduction]:
        """The reductions in a body, and those within them, each once."""
        seen: set[Expr] = set()
        todo = [body]
        while todo:
            for x, what in self.of(todo.pop()):
                if isinstance(what, Reduction) and x not in seen:
                    seen.add(x)
                    yield what
                    todo += [what.init, what.element]

    def is_closed(self, body: Expr) -> bool:
        """Does a body read and reduce nothing?"""
        return not any(True for _ in self.of(body))

    def has_reductions(self, body: Expr) -> bool:
        """Does a body reduce anything?"""
        return any(isinstance(what, Reduction) for _, what in self.of(body))


@dataclass(frozen=True)
class Stage:
    """`name[dims] = body`; the names in `body` are explained by `names`.

    given: reads of stages that start within the loops of this one: their elements are there, not in an array.
    scan: `body` is what is scanned along the last dimension, without reductions in it.  counts: it is what is counted.
    narrow: types that are kept as they are where they are cast (operands.py).  planes: before which of the dimensions
    the numbers of its elements, short arrays, lie (planes.py); None: after all of them, side by side.
    """

    name: str
    dims: tuple[Dim, ...]
    body: Expr
    names: Names = field(compare=False, repr=False)
    given: frozenset[p.Input] = frozenset()
    scan: Scanned | None = None
    counts: Counted | None = None
    narrow: tuple[Scalar, ...] = ()
    planes: int | None = None

    @property
    def is_apart(self) -> bool:
        """Does it go along its last dimension as a whole?  Then its loops are no schedule's."""
        return self.scan is not None or self.counts is not None

    @property
    def bodies(self) -> tuple[Expr, ...]:
        """All that reads arrays: the body, and what a scan begins with."""
        if self.scan is None:
            return (self.body,)
        finish = None if self.scan.across is None else self.scan.across.finish
        parts = (self.scan.init, self.body, self.scan.after, finish)
        return tuple(part for part in parts if part is not None)

    def with_bodies(self, f: Callable[[Expr], Expr]) -> Stage:
        """The stage with all of its bodies changed."""
        if self.scan is None:
            return replace(self, body=f(self.body))
        after, across = self.scan.after, self.scan.across
        after = None if after is None else f(after)
        across = None if across is None else replace(across, finish=f(across.finish))
        scan = replace(self.scan, init=f(self.scan.init), after=after, across=across)
        return replace(self, body=f(self.body), scan=scan)

    @property
    def array_dims(self) -> tuple[Dim, ...]:
        """The dimensions in the order of the axes of the array that it yields."""
        if self.scan is not None and self.scan.combined is not None:
            return self.dims[:-1]
        across = () if self.scan is None or self.scan.across is None else self.scan.across.dims
        dims = tuple(d for d in self.dims if d not in across)
        if self.scan is None or self.scan.axis is None:
            return dims
        at, (*outer, last) = self.scan.axis, dims
        return (*outer[:at], last, *outer[at:])

    @property
    def element(self) -> Type:
        """The type of what it yields for an index; of what is counted, where it counts."""
        if self.scan is not None and self.scan.combined is not None:
            return type_of(self.scan.combined.init)
        if self.scan is not None and self.scan.across is not None:
            return type_of(self.scan.across.finish)
        return type_of(self.body if self.scan is None or self.scan.after is None else self.scan.after)

    @property
    def type(self) -> Type:
        """The type of the array that it yields."""
        t, dims = self.element, self.array_dims
        if self.counts is not None:
            t, dims = Array(self.counts.length, self.counts.type), dims[:-1]
        extents: list[Size] = [d.extent for d in dims]
        at = self.planes
        while at is not None and isinstance(t, Array):
            extents, at, t = [*extents[:at], t.length, *extents[at:]], at + 1, t.element
        for extent in reversed(extents):
            t = Array(extent, t)
        return t

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """The outermost reductions of the body."""
        return tuple(what for _, what in self.names.of(self.body) if isinstance(what, Reduction))

    @property
    def phases(self) -> tuple[tuple[Reduction, ...], ...]:
        """The reductions that begin, then those that go on with their results, ...; none without reductions."""
        return _phases(self.names, self.reductions)


def wherever(s: Stage) -> Hashable:
    """Equal for stages that go along an axis in the same way, whatever their dimensions are numbered."""
    own = {d: Dim(-1 - i, d.extent) for i, d in enumerate(s.dims)}
    scan = s.scan and replace(s.scan, init=s.names.at(s.scan.init, own))
    return tuple(d.extent for d in s.dims), s.names.at(s.body, own), scan, s.counts


def _phases(names: Names, reductions: tuple[Reduction, ...]) -> tuple[tuple[Reduction, ...], ...]:
    if not reductions:
        return ()
    begun = [r.init.name for r in reductions if isinstance(r.init, p.Input) and r.init.name in names.reductions]
    return (*_phases(names, tuple(names.reductions[name] for name in begun)), reductions)


def substituted(body: Expr, new: dict[Expr, Expr]) -> Expr:
    """`body` with some of its inputs replaced; components of tuples are their items."""
    moved = any(x is not better for x, better in new.items())
    return replaced(body, lambda e: _replacement(e, new)) if moved else body


def _replacement(e: Expr, new: dict[Expr, Expr]) -> Expr | None:
    match e:
        case p.Get(i, x):
            whole = _replacement(x, new)
            return whole.items[i] if isinstance(whole, p.Tup) else None
        case _:
            return new.get(e)
