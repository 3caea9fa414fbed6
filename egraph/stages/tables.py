"""Functions of one small integer as tables: computed once for each of its 256 values, and looked up.

    pow (x[0,1] / 255) 2.2   ->   t[0] = pow (0 / 255) 2.2, 0 < 256;   t[x[0,1]]

Where nothing but that one number goes in, and what is computed of it takes long.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod

from egglift.egraph.stages.stage import Names, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import replaced, subterms
from egglift.ir.types import I8, I32, U8, Scalar, leaves

VALUES = 256
#: how far the least value of a type lies below 0
BELOW = {U8: 0, I8: 128}
#: functions that take longer than to look something up
DEAR = frozenset(("exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "erf", "pow", "atan2", "floordiv", "mod"))
#: values that are looked up, below which a table is no gain: it takes a launch
FEWEST = 1 << 12


def may_have_tables(program: Expr) -> bool:
    """Does a program read small integers, and compute what takes long?"""
    small = any(t in BELOW for x in subterms(program) if isinstance(x, p.Input) for _, t in leaves(x.type))
    return small and _is_dear(program)


def with_tables(stages: Iterable[Stage]) -> list[Stage]:
    """The stages, each after the tables that it looks up; equal tables once."""
    found, known = list[Stage](), dict[Expr, p.Input]()
    for s in stages:
        work = _Tables(s.names, prod(map(number, s.dims)), known)
        new = s.with_bodies(work.looked_up)
        found += [*work.tables, new]
    return found


@dataclass
class _Tables:
    """What bodies over so many indices look up; known: the arrays of tables, by what each is of `_VALUE`."""

    names: Names
    indices: int
    known: dict[Expr, p.Input]
    tables: list[Stage] = field(default_factory=list)

    def looked_up(self, body: Expr, indices: int | None = None) -> Expr:
        """`body` with its largest parts that are worth a table looked up, in reductions too."""
        indices = self.indices if indices is None else indices
        new: dict[Expr, Expr] = {}
        for x, what in self.names.of(body):
            if isinstance(what, Reduction):
                within = indices * prod(map(number, what.dims))
                init, element = self.looked_up(what.init, indices), self.looked_up(what.element, within)
                new[x] = self.names.reduced(replace(what, init=init, element=element))
        body = substituted(body, new)
        return replaced(body, self._looked_up) if indices >= FEWEST else body

    def _looked_up(self, e: Expr) -> Expr | None:
        found = list(self.names.of(e))
        if len(found) != 1 or not isinstance(type_of(e), Scalar) or not _is_dear(e):
            return None
        ((x, what),) = found
        t = type_of(x)
        if not (isinstance(what, Read) and what.dims and isinstance(t, Scalar) and t in BELOW):
            return None
        table = self._table(substituted(e, {x: p.Input("%value", t)}), t)
        view = at_depth(len(what.dims) - 1, what.view, lambda row: p.Gather(_places(row, BELOW[t]), table))
        return self.names.read(Read(view, what.dims))

    def _table(self, of_value: Expr, t: Scalar) -> p.Input:
        """The array of a function of `%value` at all values of a type."""
        if of_value not in self.known:
            d = self.names.dim(VALUES)
            place = self.names.read(Read(p.Iota(VALUES, I32), (d,)))
            value = p.Cast(t, _plus(place, -BELOW[t]))
            body = substituted(of_value, {p.Input("%value", t): value})
            self.tables.append(Stage(f"%table{len(self.known)}", (d,), body, self.names))
            self.known[of_value] = p.Input(self.tables[-1].name, self.tables[-1].type)
        return self.known[of_value]


def _is_dear(e: Expr) -> bool:
    return any(isinstance(t, p.Apply) and t.op in DEAR for t in subterms(e))


def _places(row: Expr, below: int) -> Expr:
    """The places in a table of the values in a row."""
    return p.Map(_plus(p.Cast(I32, p.Arg(element_type(row))), below), row) if below else row


def _plus(x: Expr, n: int) -> Expr:
    return p.Apply("add", (x, p.Literal(n, I32))) if n else x
