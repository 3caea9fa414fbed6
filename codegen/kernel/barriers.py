"""Passes over statements: barriers where work-items of a group exchange data through local memory, and nowhere else.

A kernel's body is, above its steps (an `If` without conditions, see `Builder.step`), executed by all work-items of
a group alike, so a barrier may stand between any two statements there.  One is needed before a statement that
reads what another work-item may have written since the last barrier, or writes what one may have read or written.

Of a buffer with parts that are used in turn (`part * (i % 2) + ...` in the steps i of a loop), the present part and
the next ones are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from egglift.codegen.kernel.accesses import Access, accesses
from egglift.codegen.kernel.imperative import Barrier, Buffer, If, Loop, Statement
from egglift.codegen.kernel.index import Atom, Index, Remainder, Var, index
from egglift.codegen.kernel.walk import walk, with_blocks
from egglift.ir.lengths import Length, surely_less


@dataclass(frozen=True)
class Region:
    """A local buffer, or that one of its `turns` equal parts which is number `turn` modulo `turns`."""

    buffer: Buffer
    turn: Index | None = None
    turns: int = 1

    def meets(self, other: Region) -> bool:
        """May the two have elements in common?"""
        if self.buffer is not other.buffer or self.turn is None or other.turn is None or self.turns != other.turns:
            return self.buffer is other.buffer
        apart = self.turn - other.turn
        return bool(apart.terms) or apart.constant % self.turns == 0

    def after(self, var: Var) -> Region:
        """The region as it is called in the next iteration of the loop over `var`."""
        return self if self.turn is None else replace(self, turn=self.turn.substitute({var: index(var) - 1}))

    def outside(self, var: Var) -> Region:
        """The region as it is known after the loop over `var`."""
        return self if self.turn is None or var not in self.turn.variables() else Region(self.buffer)


Regions = frozenset[Region]
Statements = tuple[Statement, ...]


@dataclass(frozen=True)
class Pending:
    """What was read and written of local memory since the last barrier."""

    read: Regions = frozenset()
    written: Regions = frozenset()

    def after(self, var: Var) -> Pending:
        """As the next iteration of the loop over `var` sees it."""
        return Pending(frozenset(r.after(var) for r in self.read), frozenset(r.after(var) for r in self.written))

    def outside(self, var: Var) -> Pending:
        """As what follows the loop over `var` sees it."""
        return Pending(frozenset(r.outside(var) for r in self.read), frozenset(r.outside(var) for r in self.written))


def insert_barriers(statements: Iterable[Statement], items: int) -> tuple[Statement, ...]:
    """`statements` with the barriers that a group of `items` work-items needs.

    { s[l0] = x[l0]; }            { s[l0] = x[l0]; }
    { y[l0] = s[7 - l0]; }   ->   barrier(CLK_LOCAL_MEM_FENCE);
                                  { y[l0] = s[7 - l0]; }
    """
    return _Inserting().process(tuple(statements), Pending())[0] if items > 1 else tuple(statements)


def dissolve_steps(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """`statements` without the brackets around steps, which no pass asks for once barriers are in place.

    { s[l0] = x[l0]; }   ->   s[l0] = x[l0];
    """
    result: list[Statement] = []
    for s in statements:
        s = with_blocks(s, dissolve_steps)
        result.extend(s.body if isinstance(s, If) and not s.conditions else [s])
    return tuple(result)


@dataclass
class _Inserting:
    """One kernel's barriers.  What was found out about statements is kept: loops are gone through several times, and so
    are those inside of them, each time."""

    _touched: dict[int, tuple[Statement, Regions, Regions]] = field(default_factory=dict)
    _found: dict[tuple[int, Pending], tuple[Statements, Statements, Pending]] = field(default_factory=dict)

    def process(self, statements: Statements, pending: Pending) -> tuple[Statements, Pending]:
        """`statements` with barriers, and what is pending after them."""
        key = id(statements), pending
        if key not in self._found:  # what an id is of is kept, too: no other object gets it
            self._found[key] = statements, *self._processed(statements, pending)
        _, result, after = self._found[key]
        return result, after

    def _processed(self, statements: Statements, pending: Pending) -> tuple[Statements, Pending]:
        result: list[Statement] = []
        for s in statements:
            nested = isinstance(s, Loop) or (isinstance(s, If) and bool(s.conditions))
            if nested and self.is_apart(s):
                result.append(s)
                continue
            if isinstance(s, Barrier):
                pending = Pending()
            elif self.conflicts(s, nested, pending):
                result.append(Barrier("local"))  # before a loop, rather than in every iteration
                pending = Pending()
            if nested:
                assert isinstance(s, Loop | If)
                s, pending = self.nested(s, pending)
            else:
                read, written = self.local(s)
                pending = Pending(pending.read | read, pending.written | written)
            result.append(s)
        return tuple(result), pending

    def is_apart(self, s: Statement) -> bool:
        """Does nothing in `s` touch local memory, nor wait for others?"""
        return not any(self.local(s)) and not any(isinstance(t, Barrier) for t in walk((s,)))

    def conflicts(self, s: Statement, nested: bool, pending: Pending) -> bool:
        """Does `s` need a barrier before something in it, because of what is pending?"""
        if nested:
            assert isinstance(s, Loop | If)
            if pending == Pending():
                return False
            paths = (s.body, s.otherwise) if isinstance(s, If) else (s.body,)
            return any(self.process(b, pending)[0] != self.process(b, Pending())[0] for b in paths)
        read, written = self.local(s)
        return _meet(read | written, pending.written) or _meet(written, pending.read)

    def nested(self, s: Loop | If, pending: Pending) -> tuple[Statement, Pending]:
        """A loop, or a branch, with barriers."""
        body, after = self.process(s.body, pending)
        if isinstance(s, Loop) and not surely_less(s.trips, 2) and self.meets_itself(body, s.var, s.trips, after):
            body, after = (*body, Barrier("local")), Pending()  # a later iteration touches what this one left
        if isinstance(s, Loop):
            after = after.outside(s.var)
        if isinstance(s, If):  # the other path, which may lead past it
            otherwise, other = self.process(s.otherwise, pending)
            after = Pending(after.read | other.read, after.written | other.written)
            return replace(s, body=body, otherwise=otherwise), after
        return replace(s, body=body), after

    def meets_itself(self, body: Statements, var: Var, trips: int, pending: Pending) -> bool:
        """Do the next iterations need a barrier before them?  After some of them, all parts have had their turns."""
        turns = max((2, *(r.turns for r in (*pending.read, *pending.written))))
        for _ in range(turns if isinstance(trips, Length) else min(turns, trips - 1)):
            again, pending = self.process(body, pending.after(var))
            if again != body:
                return True
        return False

    def local(self, s: Statement) -> tuple[Regions, Regions]:
        """What a statement reads and writes of local memory."""
        if id(s) not in self._touched:
            seen = [a for a in accesses((s,)) if a.buffer.space == "local"]
            read, written = (frozenset(_region(a) for a in seen if a.write == write) for write in (False, True))
            self._touched[id(s)] = s, read, written
        return self._touched[id(s)][1:]


def _meet(some: Regions, others: Regions) -> bool:
    return any(a.meets(b) for a in some for b in others)


def _region(a: Access) -> Region:
    """The part of a buffer that all work-items access here, or the whole buffer."""
    for atom, part in a.at.terms:
        turns = a.buffer.size // part if part > 0 and a.buffer.size % part == 0 else 1
        turn = _turn(atom, turns) if turns > 1 else None
        if turn is not None:
            rest = a.at - index(atom) * part
            more = rest.constant // part
            low, high = (rest - more * part).range
            if low >= 0 and high < part and (more == 0 or turns == 2):
                return Region(a.buffer, turn + more, turns)
    return Region(a.buffer)


def _turn(a: Atom, turns: int) -> Index | None:
    """The number that `a` is modulo `turns`, if it is the same for all work-items."""
    if not all(v.role in ("loop", "workgroup") for v in a.variables()):
        return None
    match a:
        case Remainder(x, divisor) if divisor == turns:
            return x
        case Var(_, count) if count <= turns:
            return index(a)
    return None


def in_branches(body: Iterable[Statement], looped: bool = False, branch: bool = False) -> bool:
    """Does a barrier stand in a branch that is taken, or not, in every round of a loop?"""
    for s in body:
        match s:
            case Barrier() if branch:
                return True
            case Loop() if in_branches(s.body, True, branch):
                return True
            case If(conditions, inner, _, otherwise):
                taken = branch or (looped and bool(conditions))
                if in_branches(inner, looped, taken) or in_branches(otherwise, looped, taken):
                    return True
    return False
