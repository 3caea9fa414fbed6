"""A pass over statements: loops of steps for matrix units become products of fragments, which a warp holds together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TypeAlias

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import value_variables
from egglift.codegen.kernel.fragment_loads import (
    ACROSS,
    DOWN,
    MatrixLoads,
    columns_of,
    matrix_loads,
    moved,
    refused,
    rows_of,
)
from egglift.codegen.kernel.fragments_ahead import Turns, copied_ahead, rotated
from egglift.codegen.kernel.imperative import Buffer, FragmentProduct, Load, ScalarValue, Statement, Store, Unit
from egglift.codegen.kernel.index import OWN, ZERO, Index, Var, index
from egglift.codegen.kernel.walk import index_values
from egglift.ir.types import BF16, F16, F32, F64, I8, I32, U32, Scalar

#: Lane l of a warp holds columns 2 (l % 4) and the next one of rows l / 4 and l / 4 + 8 of the totals.  "tf32" rounds
#: factors of f32 to 11 bits; the others take them as they are
UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("f64", F64, F64, 16, 8, 16, "m16n8k16.row.col.f64.f64.f64.f64"),
        Unit("f16", F16, F32, 16, 8, 16, "m16n8k16.row.col.f32.f16.f16.f32"),
        Unit("bf16", BF16, F32, 16, 8, 16, "m16n8k16.row.col.f32.bf16.bf16.f32"),
        Unit("tf32", F32, F32, 16, 8, 8, "m16n8k8.row.col.f32.tf32.tf32.f32"),
        Unit("i8", I8, I32, 16, 8, 32, "m16n8k32.row.col.s32.s8.s8.s32"),
    )
}
#: types whose numbers are factors as they are, though a program casts them to what they are computed in
CAST = tuple(unit.scalar for unit in UNITS.values() if unit.packed > 1)
Place: TypeAlias = tuple[Buffer, int]
Pair: TypeAlias = tuple[ScalarValue, ScalarValue]


def fragment_products(
    body: Iterable[Statement], local: tuple[int, int, int], units: Sequence[str], names: Callable[[str], str]
) -> list[Statement]:
    """`body`, of a kernel with `local` work-items in a group, where marked loops are products of fragments.

    for k in 16, for i in 2, for j in 2:   ->   a[0..7] = row i % 2, step 4 (i / 2) + l0 of this lane's own rows
      total[2*i + j] += x[k, i] * y[k, j]       b[0..3] = step 4 i + l0 of column l1 % 8 of the warp's columns
                                                total[0..3] += a * b

    CodegenError where the loop is none that a unit can do.
    """
    return _Pass(local, units, names).block(body, alone=False)


@dataclass(frozen=True)
class _Pass:
    local: tuple[int, int, int]
    units: Sequence[str]
    names: Callable[[str], str]

    def block(self, statements: Iterable[Statement], alone: bool) -> list[Statement]:
        """alone: do not all work-items of a group come here?"""
        result: list[Statement] = []
        for s in statements:
            match s:
                case im.Loop(matrix=True):
                    if alone:
                        raise refused("stands where not all lanes of a warp come")
                    result += self.product(s)
                case im.Loop() if not alone and (found := copied_ahead(s)) and (turns := self.turns(found.matrix)):
                    result += rotated(found, turns)
                case im.Loop(until=until):
                    apart = until is not None and _is_own(until[0])
                    result.append(replace(s, body=tuple(self.block(s.body, alone or apart))))
                case im.If(conditions, inside, _, otherwise):
                    apart = alone or any(_is_own(e) for e, _ in conditions)
                    body, other = (tuple(self.block(b, apart)) for b in (inside, otherwise))
                    result.append(replace(s, body=body, otherwise=other))
                case _:
                    result.append(s)
        return result

    def product(self, loop: im.Loop) -> Iterator[Statement]:
        """The steps of a loop, so many at once as a unit takes."""
        fragments = self.fragments(loop)
        steps = fragments.turns * fragments.unit.steps
        if loop.trips == steps:
            yield from fragments.multiplied(ZERO)
        else:
            turn = Var(self.names("i"), loop.trips // steps, "loop")
            yield im.Loop(turn, turn.count, tuple(fragments.multiplied(index(turn) * steps)), unroll=True)

    def turns(self, loop: im.Loop) -> Turns | None:
        """The steps of a loop, for two sets of registers; None where these would not be used in turn."""
        fragments = self.fragments(loop)
        count = loop.trips // fragments.unit.steps
        return fragments.in_turn(count) if count % 2 == 0 else None

    def fragments(self, loop: im.Loop) -> _Fragments:
        """What a loop adds up; CodegenError where no unit does, for this group."""
        sums = _sums(loop)
        unit = sums[0].unit
        if unit is None or unit.name not in self.units or any(s.unit is not unit for s in sums):
            what = f"products of {sums[0].factor} in {sums[0].total}"
            raise refused(f"adds up {what}, which this device has no matrix units for")
        if self.local[0] != ACROSS or self.local[1] % DOWN:
            raise refused(f"wants groups of {ACROSS} times a multiple of {DOWN} work-items, not of {self.local}")
        for s in sums:
            if loop.trips % unit.steps or len(s.rows) % 2 or len(s.columns) % 2:
                sizes = f"{len(s.rows)} x {len(s.columns)} results of a work-item, and {loop.trips} steps"
                raise refused(f"has {sizes}, which are no multiples of 2, 2 and {unit.steps}")
        ids = (Var("l0", self.local[0], "local", 0), Var("l1", self.local[1], "local", 1))
        return _Fragments(unit, sums, loop.var, ids, loop.trips, self.names)


def _is_own(e: Index) -> bool:
    return any(v.role in OWN for v in e.variables())


# ---------------------------------------------------------------------------------------- what a loop adds up


@dataclass(frozen=True)
class _Sums:
    """`totals[i, j] += rows[i] * columns[j]`, all of it that one step does."""

    rows: tuple[ScalarValue, ...]
    columns: tuple[ScalarValue, ...]
    totals: Mapping[tuple[ScalarValue, ScalarValue], Place]

    @property
    def total(self) -> Scalar:
        """The type of the sums, as they are computed."""
        return next(iter(self.totals.values()))[0].scalar.computed

    @property
    def factor(self) -> Scalar:
        return self.rows[0].type

    @property
    def unit(self) -> Unit | None:
        return next((u for u in UNITS.values() if (u.scalar, u.total) == (self.factor, self.total)), None)


def _sums(loop: im.Loop) -> list[_Sums]:
    """What one step adds up: of each kind of rows with each kind of columns, as several results have."""
    step = _Step()
    step.run(loop.body, {})
    for kind in (_array, _kind):
        found = _by_kind(step.added, kind)
        if found and all(len(s.totals) == len(s.rows) * len(s.columns) for s in found):
            break
    else:
        raise refused("does not add up one product for each of its rows and columns")
    if sum(len(s.totals) for s in found) != len(step.added):
        raise refused("does not add up different products")
    return found


def _by_kind(added: Mapping[Place, ScalarValue], kind: Callable[[ScalarValue], str]) -> list[_Sums]:
    """What is added to places, by the kinds of its rows and columns."""
    kinds: dict[tuple[str, str], dict[Pair, Place]] = {}
    for place, value in added.items():
        row, column = _sides(value)
        kinds.setdefault((kind(row), kind(column)), {})[row, column] = place
    found = []
    for totals in kinds.values():
        rows, columns = (tuple(dict.fromkeys(pair[i] for pair in totals)) for i in (0, 1))
        found.append(_Sums(rows, columns, totals))
    return found


def _array(v: ScalarValue) -> str:
    """The same for values that are made alike from the same arrays."""
    return _alike(v, lambda at: "")


def _kind(v: ScalarValue) -> str:
    """The same for values that differ in places at a constant distance only."""
    return _alike(v, lambda at: f"{(at - at.constant).key}")


def _alike(v: ScalarValue, place: Callable[[Index], str]) -> str:
    """The same for values that are made alike from arrays at places that are the same to `place`."""
    match v:
        case Load(buffer, at):
            return f"{id(buffer)}[{place(at)}]"
        case im.IndexValue(at, t):
            return f"{t}({place(at)})"
        case im.Call(op, args, t):
            return f"{t} {op}({', '.join(_alike(a, place) for a in args)})"
    return repr(v)


def _sides(value: ScalarValue) -> tuple[ScalarValue, ScalarValue]:
    """What work-items of a row share, and what those of a column do, as the factors of a product."""
    sides: tuple[list[ScalarValue], list[ScalarValue]] = [], []
    for factor in _factors(value):
        dims = {v.dim for v in value_variables(factor) if v.role == "local"}
        if dims - {1} and 1 in dims:
            raise refused("has a factor that depends on both its row and its column")
        sides[bool(dims - {1})].append(factor)
    if not all(sides):
        raise refused("multiplies nothing of its rows with something of its columns")
    first, second = (reduce(lambda a, b: im.Call("mul", (a, b), a.type), side) for side in sides)
    return _uncast(first, second)


def _uncast(first: ScalarValue, second: ScalarValue) -> tuple[ScalarValue, ScalarValue]:
    """Factors of one type of few bits that are cast to that of their sums: as they are."""
    match first, second:
        case im.Call("cast", (a,), _), im.Call("cast", (b,), _) if a.type == b.type and a.type in CAST:
            return a, b
    return first, second


def _factors(value: ScalarValue) -> Iterator[ScalarValue]:
    match value:
        case im.Call("mul", (a, b)):
            yield from _factors(a)
            yield from _factors(b)
        case _:
            yield value


@dataclass
class _Step:
    """A step with its inner loops gone through: what registers of its own hold, what names stand for, and what is added
    to which place."""

    own: dict[Place, ScalarValue] = field(default_factory=dict)
    named: dict[str, ScalarValue] = field(default_factory=dict)
    added: dict[Place, ScalarValue] = field(default_factory=dict)
    declared: set[Buffer] = field(default_factory=set)

    def run(self, body: Iterable[Statement], at: Mapping[Var, int]) -> None:
        for s in body:
            match s:
                case im.Comment():
                    pass
                case im.Declare(buffer):
                    self.declared.add(buffer)
                case im.Let(name, value, None):
                    self.named[name] = self._value(value, at)
                case im.Loop(var, trips, inner, until=None):
                    for i in range(int(trips)):
                        self.run(inner, {**at, var: i})
                case Store(lane=None):
                    self._store(s, at)
                case Store(lane=lane) if lane is not None:
                    for i in range(int(lane.count)):
                        self._store(s, {**at, lane: i})
                case _:
                    raise refused("does more than to add up products")

    def _store(self, s: Store, at: Mapping[Var, int]) -> None:
        place, value = self._place(s.buffer, s.at.substitute(at)), self._value(s.value, at)
        if s.buffer in self.declared:
            self.own[place] = value
            return
        match value:
            case im.Call("add", (Load(buffer, old), x)) if self._is(place, buffer, old) and place not in self.added:
                self.added[place] = x
            case im.Call("add", (x, Load(buffer, old))) if self._is(place, buffer, old) and place not in self.added:
                self.added[place] = x
            case _:
                raise refused("does more than to add to its results")

    def _value(self, v: ScalarValue, at: Mapping[Var, int]) -> ScalarValue:
        match v:
            case Load(buffer, i):
                if index_values(i):
                    raise refused("looks up where to read")
                i = i.substitute(at)
                return self.own[self._place(buffer, i)] if buffer in self.declared else Load(buffer, i)
            case im.Call(_, args, _):
                return replace(v, args=tuple(self._value(a, at) for a in args))
            case im.IndexValue(i, _):
                return replace(v, at=i.substitute(at))
            case im.Name(name) if name in self.named:
                return self.named[name]
            case im.Const():
                return v
        raise refused("reads what may not be there")

    @staticmethod
    def _place(buffer: Buffer, at: Index) -> Place:
        if at.terms or buffer.space != "private" or buffer.lanes > 1:
            raise refused("writes to what is no register")
        return buffer, at.constant

    @staticmethod
    def _is(place: Place, buffer: Buffer, at: Index) -> bool:
        return not at.terms and place == (buffer, at.constant)


# ---------------------------------------------------------------------------------------- fragments


@dataclass(frozen=True)
class _Fragments:
    """The products of one loop.

    Work-item (l0, l1, l2) is lane l0 + 4 (l1 % 8) of its warp.  So its own rows and columns of the totals are those
    that the unit gives its lane, whichever pairs of its rows, and of its columns, stand for the unit's.
    """

    unit: Unit
    sums: Sequence[_Sums]
    step: Var
    ids: tuple[Var, Var]
    trips: int
    names: Callable[[str], str]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The rows that all sums take, in pairs."""
        return list(dict.fromkeys(pair for s in self.sums for pair in _pairs(s.rows)))

    @cached_property
    def rows(self) -> MatrixLoads | None:
        """How rows are read as matrices, if they can be."""
        lines = [(rows_of(a, self.ids), rows_of(b, self.ids)) for a, b in self.pairs]
        return matrix_loads(self.unit, self.step, self.ids, lines)

    @cached_property
    def columns(self) -> MatrixLoads | None:
        """How columns are read as matrices, if they can be."""
        lines = [(columns_of(pair, self.ids),) for s in self.sums for pair in _pairs(s.columns)]
        return matrix_loads(self.unit, self.step, self.ids, lines)

    @cached_property
    def turns(self) -> int:
        """Products one after the other that go together: a warp reads four matrices at once, of two of them."""
        return 2 if (self.rows or self.columns) and self.trips % (2 * self.unit.steps) == 0 else 1

    def multiplied(self, start: Index) -> Iterator[Statement]:
        """The steps of some turns from `start` on."""
        yield im.Comment(f"matrix unit: {self.unit.rows} x {self.unit.columns} x {self.unit.steps}")
        left = self._registers("a", self.rows, 2 * len(self.pairs))
        right = self._registers("b", self.columns, 1)
        yield im.Declare(left)
        yield im.Declare(right)
        for i, pair in enumerate(self.pairs):
            yield from self._rows(left, i, pair, start)
        for s in self.sums:
            for columns in _pairs(s.columns):
                yield from self._column(right, columns, start)
                for turn in range(self.turns):
                    for rows in _pairs(s.rows):
                        at = turn * len(self.pairs) + self.pairs.index(rows)
                        factors = self._factors(left, at, 2), self._factors(right, turn, 1)
                        yield FragmentProduct(self.unit, _places(s, rows, columns), *factors)

    def in_turn(self, count: int) -> Turns:
        """`count` products one after the other, whose fragments two sets of registers take in turn."""
        alone = replace(self, trips=self.unit.steps)  # each is loaded for itself
        columns = sum(len(s.columns) // 2 for s in self.sums)
        left = [alone._registers("a", alone.rows, 2 * len(self.pairs)) for _ in range(2)]
        right = [alone._registers("b", alone.columns, columns) for _ in range(2)]
        loads = [tuple(alone._loaded(left[i % 2], right[i % 2], index(i * self.unit.steps))) for i in range(count)]
        products = [tuple(alone._products(left[i % 2], right[i % 2])) for i in range(count)]
        return Turns(tuple(map(im.Declare, (*left, *right))), loads, products)

    def _loaded(self, left: Buffer, right: Buffer, start: Index) -> Iterator[Statement]:
        """The fragments of one product: all rows and all columns."""
        for i, pair in enumerate(self.pairs):
            yield from self._rows(left, i, pair, start)
        lines = [columns_of(pair, self.ids) for s in self.sums for pair in _pairs(s.columns)]
        each = self._each(right, 1)
        if self.columns is None:
            for i, line in enumerate(lines):
                yield from self._taken(right, i * each, (line(index(self.ids[1]) % DOWN),), start)
            return
        for i in range(0, len(lines), 2):
            some = lines[i : i + 2]
            into = [Load(right, index(each * i + k)) for k in range(each * len(some))]
            yield self.columns.read(into, some, start, whole=True)

    def _products(self, left: Buffer, right: Buffer) -> Iterator[Statement]:
        """All rows by all columns."""
        yield im.Comment(f"matrix unit: {self.unit.rows} x {self.unit.columns} x {self.unit.steps}")
        first = 0
        for s in self.sums:
            columns = _pairs(s.columns)
            for rows in _pairs(s.rows):
                factors = self._factors(left, self.pairs.index(rows), 2)
                for i, pair in enumerate(columns):
                    places = _places(s, rows, pair)
                    yield FragmentProduct(self.unit, places, factors, self._factors(right, first + i, 1))
            first += len(columns)

    def _registers(self, name: str, loads: MatrixLoads | None, lines: int) -> Buffer:
        """What a lane has of lines for all turns: numbers; or registers of 4 bytes, where those are loaded."""
        n = self.turns * lines * self.unit.steps // ACROSS
        if loads is None:
            return Buffer(self.names(name), "private", self.unit.scalar, n)
        return Buffer(self.names(name), "private", U32, n // self.unit.packed)

    def _each(self, buffer: Buffer, lines: int) -> int:
        """Elements of a buffer that are one product's."""
        n = lines * self.unit.steps // ACROSS
        return n // self.unit.packed if buffer.scalar == U32 else n

    def _factors(self, buffer: Buffer, number: int, lines: int) -> tuple[Load, ...]:
        n = self._each(buffer, lines)
        order = range(n) if buffer.scalar == U32 else self._order(lines)
        return tuple(Load(buffer, index(number * n + i)) for i in order)

    def _rows(self, left: Buffer, number: int, pair: Pair, start: Index) -> Iterator[Statement]:
        """A pair of rows, of all turns."""
        places = [(turn * len(self.pairs) + number) * self._each(left, 2) for turn in range(self.turns)]
        for turn, at in enumerate(places):
            first = start + turn * self.unit.steps
            if self.rows is None:
                yield from self._taken(left, at, pair, first)
            else:
                into = [Load(left, index(at + i)) for i in range(4)]
                yield self.rows.read(into, [rows_of(row, self.ids) for row in pair], first)

    def _column(self, right: Buffer, columns: Pair, start: Index) -> Iterator[Statement]:
        """A pair of columns, of all turns."""
        lines = columns_of(columns, self.ids)
        if self.columns is not None:
            yield self.columns.read([Load(right, index(i)) for i in range(2 * self.turns)], (lines,), start)
            return
        for turn in range(self.turns):
            own = lines(index(self.ids[1]) % DOWN)
            yield from self._taken(right, turn * self._each(right, 1), (own,), start + turn * self.unit.steps)

    def _taken(self, into: Buffer, at: int, lines: Sequence[ScalarValue], start: Index) -> Iterator[Statement]:
        """The lane's elements of lines, two rows or a column, are copied: of neighbouring steps at once if they lie so.

        A lane has steps l0, l0 + 4, ...; or where registers hold several steps, as many as that gives from there on:
        all that are its own, if nothing is read as matrices; else as many as a register holds, as matrices have them.
        """
        n, packed = self.unit.steps // ACROSS, self.unit.packed
        near = n if packed > 1 and not (self.rows or self.columns) else packed
        first, apart = start + index(self.ids[0]) * near, ACROSS * near
        if near > 1 and all(isinstance(v, Load) and v.at.coefficient(self.step) == 1 for v in lines):
            for i, v in enumerate(lines):
                for k in range(0, n, near):
                    lane = Var(self.names("v"), near, "lane")
                    step = first + apart * (k // near) + index(lane)
                    yield Store(into, index(lane) + (at + n * i + k), moved(v, {self.step: step}), lane)
            return
        for i, place in enumerate(sorted(self._order(len(lines)))):
            line, k = divmod(place, n) if packed > 1 else (i % len(lines), i // len(lines))
            step = first + apart * (k // near) + k % near
            yield Store(into, index(at + place), moved(lines[line], {self.step: step}))

    def _order(self, lines: int) -> list[int]:
        """Where the elements are, in the order of the unit: a register's worth of each line in turn."""
        n, packed = self.unit.steps // ACROSS, self.unit.packed
        if packed == 1:
            return list(range(lines * n))
        return [n * line + k + i for k in range(0, n, packed) for line in range(lines) for i in range(packed)]


def _places(sums: _Sums, rows: Pair, columns: Pair) -> tuple[Load, ...]:
    places = [sums.totals[row, column] for row in rows for column in columns]
    return tuple(Load(buffer, index(at)) for buffer, at in places)


def _pairs(values: Sequence[ScalarValue]) -> list[Pair]:
    return list(zip(values[::2], values[1::2], strict=True))
