"""A pass over statements: loops of steps for matrix units become products of fragments, which a warp holds together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from egglift.codegen.kernel import imperative as im
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
from egglift.codegen.kernel.fragment_sums import Pair, Sums, sums_of
from egglift.codegen.kernel.fragments_ahead import CopiedAhead, Turns, copied_ahead, rotated
from egglift.codegen.kernel.imperative import Buffer, FragmentProduct, Load, ScalarValue, Statement, Store, Unit
from egglift.codegen.kernel.index import OWN, ZERO, Index, Var, index
from egglift.codegen.kernel.warp_groups import (
    BUFFERS,
    GROUP_UNITS,
    group_products,
    multiplied_at_once,
    multiplied_meanwhile,
    shown_to_units,
)
from egglift.ir.types import U32


def fragment_products(
    body: Iterable[Statement], local: tuple[int, int, int], units: Sequence[str], names: Callable[[str], str]
) -> list[Statement]:
    """`body`, of a kernel with `local` work-items in a group, where marked loops are products of fragments.

    for k in 16, for i in 2, for j in 2:   ->   a[0..7] = row i % 2, step 4 (i / 2) + l0 of this lane's own rows
      total[2*i + j] += x[k, i] * y[k, j]       b[0..3] = step 4 i + l0 of column l1 % 8 of the warp's columns
                                                total[0..3] += a * b

    CodegenError where the loop is none that a unit can do.
    """
    return shown_to_units(_Pass(local, units, names).block(body, alone=False))


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
                    products = self.together(s)
                    result += multiplied_at_once(products) if products else self.product(s)
                case im.Loop() if not alone and (found := copied_ahead(s)) and (products := self.meanwhile(found)):
                    result += multiplied_meanwhile(found, products)
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

    def meanwhile(self, ahead: CopiedAhead) -> tuple[FragmentProduct, ...]:
        """What warp groups multiply in a step, if enough buffers are filled in turn."""
        return self.together(ahead.matrix) if ahead.open >= BUFFERS - 2 else ()

    def together(self, loop: im.Loop) -> tuple[FragmentProduct, ...]:
        """What warp groups multiply in a loop, if this device has such, and factors lie so."""
        sums = self.fragments(loop).sums
        unit = GROUP_UNITS.get(sums[0].unit.name) if sums[0].unit else None
        return () if unit is None or unit.name not in self.units else group_products(sums, loop.var, self.local)

    def turns(self, loop: im.Loop) -> Turns | None:
        """The steps of a loop, for two sets of registers; None where these would not be used in turn."""
        fragments = self.fragments(loop)
        count = loop.trips // fragments.unit.steps
        return fragments.in_turn(count) if count % 2 == 0 else None

    def fragments(self, loop: im.Loop) -> _Fragments:
        """What a loop adds up; CodegenError where no unit does, for this group."""
        sums = sums_of(loop)
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


# ---------------------------------------------------------------------------------------- fragments


@dataclass(frozen=True)
class _Fragments:
    """The products of one loop.

    Work-item (l0, l1, l2) is lane l0 + 4 (l1 % 8) of its warp.  So its own rows and columns of the totals are those
    that the unit gives its lane, whichever pairs of its rows, and of its columns, stand for the unit's.
    """

    unit: Unit
    sums: Sequence[Sums]
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


def _places(sums: Sums, rows: Pair, columns: Pair) -> tuple[Load, ...]:
    places = [sums.totals[row, column] for row in rows for column in columns]
    return tuple(Load(buffer, index(at)) for buffer, at in places)


def _pairs(values: Sequence[ScalarValue]) -> list[Pair]:
    return list(zip(values[::2], values[1::2], strict=True))
