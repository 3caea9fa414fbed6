"""Is a tree of statements well formed?  Tests ask after every pass; see tests/conftest.py.

Every name is declared once, before its use and around it; memory is accessed within its size where that can be told;
barriers stand where all work-items of a group come; types and lanes agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import Condition
from egglift.codegen.kernel.distribution import WARP, Shape
from egglift.codegen.kernel.imperative import Buffer, ScalarValue, Statement
from egglift.codegen.kernel.index import OWN, Index, Var, assuming
from egglift.codegen.kernel.walk import index_values, subvalues
from egglift.ir.errors import TypeMismatch
from egglift.ir.lengths import about, unrecorded
from egglift.ir.scalars import result_type

#: those that OpenCL gives a value, by dimension
IDS = ("local", "global", "warp", "workgroup")
Named: TypeAlias = Buffer | im.Let | Var


class Malformed(AssertionError):
    """A tree of statements that no printer should see: a fault of the pass that left it."""


def verify(body: Iterable[Statement], shape: Shape, outside: Collection[Buffer]) -> None:
    """Malformed says what is wrong with the statements of a kernel, and where.

    shape: by how many work-items and groups it is executed.  outside: the buffers that it has without declaring them.
    """
    names: dict[str, Named] = {}
    for buffer in outside:
        _declare(names, buffer.name, buffer)
    with unrecorded():  # what is asked here is not what the kernel was made by
        _Block(shape, names).statements(body)


def _declare(names: dict[str, Named], name: str, what: Named) -> None:
    if name in names:
        raise Malformed(f"{name} is declared where there is a {name} already")
    names[name] = what


@dataclass(frozen=True)
class _Block:
    """A block: what has been declared in and around it, and who comes here.

    bounded: variables that conditions around keep from some of their values.  apart: does not every work-item of the
    group come here?  alone: or is it in a step, which work-items go through by themselves?
    """

    shape: Shape
    names: dict[str, Named]
    bounded: frozenset[Var] = frozenset()
    alone: bool = False
    apart: bool = False
    varying: set[str] = field(default_factory=set)  # names of Lets that differ between work-items

    def statements(self, body: Iterable[Statement]) -> None:
        """Check the statements of this block, in order."""
        for s in body:
            match s:
                case im.Declare(buffer):
                    _declare(self.names, buffer.name, buffer)
                case im.Let():
                    self._let(s)
                case im.Store():
                    self._store(s)
                case im.Loop():
                    self._loop(s)
                case im.If():
                    self._if(s)
                case im.FragmentProduct() | im.AwaitProducts() if self.apart:
                    raise Malformed("a warp multiplies where not all of its lanes come")
                case im.FragmentProduct(totals=totals, rows=rows, columns=columns):
                    self._values((*totals, *rows, *columns), None, "totals += rows * columns")
                case im.AwaitProducts(totals):
                    self._values(totals, None, "await products")
                case im.FragmentLoad() if self.apart:
                    raise Malformed("a warp reads matrices where not all of its lanes come")
                case im.FragmentLoad(into=into, source=source, lane=lane):
                    self._values(into, None, "matrices")
                    self._values((source,), lane, "matrices")
                case im.LookBack() if self.alone or self.apart:
                    raise Malformed("a group looks back where not all of its work-items come")
                case im.LookBack(total=total, carried=carried, init=init, combine=combine):
                    self._values((*total, *carried, *init), None, "look back")
                    self._inside(combine, (), alone=True)
                case im.Barrier() if self.alone:
                    raise Malformed("a barrier stands where not all work-items of a group come")

    def _inside(self, body: Iterable[Statement], conditions: Iterable[Condition], *own: Var, alone: bool) -> None:
        """Check a block in this one, with variables of its `own`, where `conditions` hold."""
        names = dict(self.names)
        for v in own:
            _declare(names, v.name, v)
        bounded = self.bounded.union(*(e.variables() for e, _ in conditions))
        apart = self.apart or any(self._differs(e) for e, _ in conditions)
        block = replace(self, names=names, bounded=bounded, alone=self.alone or alone, apart=apart)
        with assuming(*((e, e.range[0], n - 1) for e, n in conditions if e.range[0] < n)):
            block.statements(body)

    # ------------------------------------------------------------------------------------ statements

    def _let(self, s: im.Let) -> None:
        self._values((s.value,), s.lane, f"const {s.name}")
        _declare(self.names, s.name, s)
        if any(map(self._is_own, subvalues((s.value,)))):
            self.varying.add(s.name)

    def _store(self, s: im.Store) -> None:
        where = f"{s.buffer.name}[{s.at.key}] = ..."
        self._values((s.value,), s.lane, where)
        self._access(s.buffer, s.at, s.lane, where)
        if s.buffer.space == "constant":
            raise Malformed(f"{where}: a literal array is written")
        if s.asynchronous and not (s.buffer.space == "local" and _is_global(s.value)):
            raise Malformed(f"{where}: an asynchronous copy is not from global to local memory")
        if s.value.type != s.buffer.scalar:
            raise Malformed(f"{where}: a {s.value.type} is stored where elements are {s.buffer.scalar}")

    def _loop(self, s: im.Loop) -> None:
        if about(s.trips) == 0:  # of a length: nothing is done, on nothing
            return
        where = f"for {s.var.name} < {s.trips}"
        if s.var.role != "loop" or s.var.count != s.trips:
            raise Malformed(f"{where}: its variable is a {s.var.role} below {s.var.count}")
        conditions = (s.until,) if s.until else ()
        block = replace(self, names={**self.names, s.var.name: s.var})
        for e, _ in conditions + ((s.ends,) if s.ends else ()):
            block._index(e, None, where)
        if s.ends and block._differs(s.ends[0]):
            raise Malformed(f"{where}: it ends for some work-items of a group before it does for others")
        self._inside(s.body, conditions, s.var, alone=any(block._differs(e) for e, _ in conditions))

    def _if(self, s: im.If) -> None:
        lanes = {v for e, _ in s.conditions for v in e.variables() if v.role == "lane"}
        if lanes and not (len(lanes) == 1 and not s.otherwise and all(_is_lane_store(b, lanes) for b in s.body)):
            raise Malformed("lanes are chosen by an `if` around more than stores of these lanes")
        for e, n in s.conditions:
            self._index(e, next(iter(lanes), None), f"if ({e.key} < {n})")
        alone = not s.conditions or any(self._differs(e) for e, _ in s.conditions)
        if all(e.range[0] < n and e.range[1] >= 0 for e, n in s.conditions):  # else nobody ever comes there
            self._inside(s.body, s.conditions, alone=alone)
        if s.otherwise:  # where one of the conditions does not hold: nothing is known of any
            unknown = frozenset(v for e, _ in s.conditions for v in e.variables())
            apart = self.apart or alone
            replace(self, bounded=self.bounded | unknown, apart=apart)._inside(s.otherwise, (), alone=alone)

    # ------------------------------------------------------------------------------------ values

    def _values(self, values: Iterable[ScalarValue], lane: Var | None, where: str) -> None:
        """Check values and all that they are computed from."""
        for v in subvalues(values, lambda v: v.args if isinstance(v, im.Call) else ()):
            match v:
                case im.Load(buffer, at):
                    self._access(buffer, at, lane, where)
                case im.Name(name, t):
                    self._name(name, t, lane, where)
                case im.IndexValue(at, t):
                    self._index(at, lane, where)
                    if not t.is_integer:
                        raise Malformed(f"{where}: an index is taken for a {t}")
                case im.Guarded():
                    self._guarded(v, lane, where)
                case im.Call(op, args, t) if op != "cast":
                    _call(op, args, t, where)

    def _guarded(self, v: im.Guarded, lane: Var | None, where: str) -> None:
        """Check a choice, each part where it is evaluated."""
        self._index(v.at, lane, where)
        if v.inside.type != v.outside.type:
            raise Malformed(f"{where}: a choice between {v.inside.type} and {v.outside.type}")
        chosen = replace(self, bounded=self.bounded | v.at.variables())
        with assuming((v.at, 0, v.n - 1)):
            chosen._values((v.inside,), lane, where)
        chosen._values((v.outside,), lane, where)

    def _name(self, name: str, t: object, lane: Var | None, where: str) -> None:
        let = self.names.get(name)
        if not isinstance(let, im.Let):
            raise Malformed(f"{where}: {name} is used where it is not declared")
        if let.value.type != t:
            raise Malformed(f"{where}: {name} is used as {t}, and declared as {let.value.type}")
        if let.lane is not None and (lane is None or lane.count != let.lane.count):
            raise Malformed(f"{where}: {name} has a value for each lane, which this statement has not")

    # ------------------------------------------------------------------------------------ memory

    def _access(self, buffer: Buffer, at: Index, lane: Var | None, where: str) -> None:
        """Check the access to an element."""
        if self.names.get(buffer.name) is not buffer:
            raise Malformed(f"{where}: {buffer.name} is used where it is not declared")
        if buffer.lanes > 1 and (lane is None or lane.count != buffer.lanes):
            raise Malformed(f"{where}: {buffer.name} is kept for {buffer.lanes} lanes, which this statement has not")
        self._index(at, lane, where)
        if _within(at.range, buffer) is not True and (
            _within(at.widest, buffer) is False or self._takes_all_values(at)
        ):
            low, high = at.range
            raise Malformed(f"{where}: {buffer.name}[{at.key}] is in {low}..{high}, of {buffer.size} elements")

    def _takes_all_values(self, at: Index) -> bool:
        """Are the bounds of `at` met for sure?  It is linear, and no variable is kept from any of its values.

        The ids of one dimension depend on each other: what is asked of a group is asked of its work-items.
        """
        own = [v.dim for v in at.variables() if v.role in IDS]
        asked = {v.dim for v in self.bounded if v.role in IDS}
        mixed = "global" in {v.role for v in at.variables()} and len(own) > len(set(own))
        free = self.bounded.isdisjoint(at.variables()) and asked.isdisjoint(own)
        return free and not mixed and all(isinstance(a, Var) for a, _ in at.terms)

    def _index(self, at: Index, lane: Var | None, where: str) -> None:
        """Check that the variables of an index have a value here, and the numbers that were loaded for it."""
        for v in at.variables():
            if v.role == "launch":
                continue  # an argument
            own = v == lane if v.role == "lane" else self.names.get(v.name) == v if v.role == "loop" else self._is_id(v)
            if not own:
                raise Malformed(f"{where}: {v.name}, a {v.role} below {v.count}, has no value here")
        if loaded := index_values(at):
            self._values(loaded, lane, where)

    def _is_id(self, v: Var) -> bool:
        """Is it the id of a work-item or group of this launch?"""
        local, groups = self.shape.local[v.dim], self.shape.groups[v.dim]
        counts = {"global": local * groups, "workgroup": groups, "local": WARP if v.name == "lane" else local}
        counts["warp"] = local // WARP
        return counts.get(v.role) == v.count

    def _differs(self, at: Index) -> bool:
        """May an index differ between the work-items of a group?"""
        own = any(v.role in OWN for v in at.variables())
        return own or any(map(self._is_own, subvalues(index_values(at))))

    def _is_own(self, v: ScalarValue) -> bool:
        """Is it, itself, a value that may differ between the work-items of a group?"""
        match v:
            case im.Load(buffer, at):
                return buffer.space == "private" or any(x.role in OWN for x in at.variables())
            case im.IndexValue(at) | im.Guarded(at):
                return any(x.role in OWN for x in at.variables())
            case im.Name(name):
                return name in self.varying
        return False


def _is_global(v: ScalarValue) -> bool:
    return isinstance(v, im.Load) and v.buffer.space == "global"


def _within(bounds: tuple[int, int], buffer: Buffer) -> bool | None:
    """Is an element with these bounds one of the buffer's?  None: the bounds do not tell."""
    low, high = bounds
    if low >= 0 and high < buffer.size:
        return True
    return False if high < 0 or low >= buffer.size else None


def _is_lane_store(s: Statement, lanes: Collection[Var]) -> bool:
    return isinstance(s, im.Store) and s.lane in lanes


def _call(op: str, args: tuple[ScalarValue, ...], t: object, where: str) -> None:
    try:
        given = result_type(op, tuple(a.type for a in args))
    except TypeMismatch as error:
        raise Malformed(f"{where}: {error}") from None
    if given != t:
        raise Malformed(f"{where}: {op} gives {given}, not {t}")
