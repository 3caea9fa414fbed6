"""What a loop for matrix units adds up: products of rows and columns, of types that a unit multiplies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeAlias

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import value_variables
from egglift.codegen.kernel.fragment_loads import refused
from egglift.codegen.kernel.imperative import Buffer, Load, ScalarValue, Statement, Store, Unit
from egglift.codegen.kernel.index import Index, Var
from egglift.codegen.kernel.walk import index_values
from egglift.ir.types import BF16, F16, F32, F64, I8, I32, TF32, Scalar

#: Lane l of a warp holds columns 2 (l % 4) and the next one of rows l / 4 and l / 4 + 8 of the totals.  "tf32" rounds
#: factors of f32 to 11 bits; the others take them as they are, "rounded tf32" on the same units
UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("f64", F64, F64, 16, 8, 16, "m16n8k16.row.col.f64.f64.f64.f64"),
        Unit("f16", F16, F32, 16, 8, 16, "m16n8k16.row.col.f32.f16.f16.f32"),
        Unit("bf16", BF16, F32, 16, 8, 16, "m16n8k16.row.col.f32.bf16.bf16.f32"),
        Unit("tf32", F32, F32, 16, 8, 8, "m16n8k8.row.col.f32.tf32.tf32.f32"),
        Unit("rounded tf32", TF32, F32, 16, 8, 8, "m16n8k8.row.col.f32.tf32.tf32.f32"),
        Unit("i8", I8, I32, 16, 8, 32, "m16n8k32.row.col.s32.s8.s8.s32"),
    )
}
#: types whose numbers are factors as they are, though a program casts them to what they are computed in
CAST = tuple(unit.scalar for unit in UNITS.values() if unit.scalar != unit.total)
Place: TypeAlias = tuple[Buffer, int]
Pair: TypeAlias = tuple[ScalarValue, ScalarValue]


@dataclass(frozen=True)
class Sums:
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


def sums_of(loop: im.Loop) -> list[Sums]:
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


def _by_kind(added: Mapping[Place, ScalarValue], kind: Callable[[ScalarValue], str]) -> list[Sums]:
    """What is added to places, by the kinds of its rows and columns."""
    kinds: dict[tuple[str, str], dict[Pair, Place]] = {}
    for place, value in added.items():
        row, column = _sides(value)
        kinds.setdefault((kind(row), kind(column)), {})[row, column] = place
    found = []
    for totals in kinds.values():
        rows, columns = (tuple(dict.fromkeys(pair[i] for pair in totals)) for i in (0, 1))
        found.append(Sums(rows, columns, totals))
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
        if {0, 1} <= dims:
            raise refused("has a factor that depends on both its row and its column")
        sides[0 in dims].append(factor)
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
