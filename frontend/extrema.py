"""The largest or smallest with its place: `if (e < m) { m = e; at = i; }`, as a reduction of pairs.

m = e < m ? e : m, at = e < m ? i : at     ->     reduce (the smaller, of equal ones the first) (e, i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egglift.frontend.arithmetic import choice
from egglift.frontend.nest import (
    Affine,
    Apply,
    Cast,
    CExpr,
    Index,
    Loop,
    Number,
    Read,
    Statement,
    is_at_least_0,
    loops_in,
    reads_in,
    rewritten,
)
from egglift.frontend.readers import Reader
from egglift.frontend.stages import Stages, packed
from egglift.frontend.views import Operand, over
from egglift.ir import notation
from egglift.ir import reduction as r
from egglift.ir.conversions import integers
from egglift.ir.functions import where
from egglift.ir.operators import highest, lowest
from egglift.ir.types import BOOL, I32, I64, Scalar
from egglift.ir.value import Value


@dataclass(frozen=True)
class Extremum:
    """What statements look for.

    smallest: or the largest; last: of equal ones the last, or the first; element: among these, where all `tests` hold;
    value: the statement that keeps it; kept: those that keep something else with it, and what.
    """

    smallest: bool
    last: bool
    element: CExpr
    tests: tuple[CExpr, ...]
    value: Statement
    kept: tuple[tuple[Statement, CExpr], ...]

    @property
    def targets(self) -> list[Statement]:
        """All that is written."""
        return [self.value, *(s for s, _ in self.kept)]


def extremum(group: Sequence[Statement], private: Sequence[Statement]) -> Extremum | None:
    """What a group of statements looks for, if it is an extremum.  private: those of a step, which come first."""
    tests = {s.target: s.value for s in private}
    kept = [s for s in group if s not in private]
    if any(s.guards != group[0].guards for s in group) or len(tests) < len(private):
        return None
    choices = [found for s in kept if (found := _choice(s, tests)) is not None]
    if len(choices) < len(kept) or any(c != choices[0][0] for c, _ in choices):
        return None
    for k, (condition, new) in enumerate(choices):
        if (made := _of(condition, new, kept[k].target)) is None:
            continue
        others = [(s, e) for i, (s, (_, e)) in enumerate(zip(kept, choices, strict=True)) if i != k]
        if any(i > k and kept[k].target in reads_in(s.value) for i, s in enumerate(kept)):
            return None  # it is asked again, after the new one is kept
        targets = {s.target for s in kept}
        if any(x in targets for e in (made[2], *made[3], *(e for _, e in others)) for x in reads_in(e)):
            return None
        return Extremum(*made, kept[k], tuple(others))
    return None


def _choice(s: Statement, tests: Mapping[Read, CExpr]) -> tuple[CExpr, CExpr] | None:
    """`c` and `e` of `target = c ? e : target`, with what tests of this step stand for."""

    def meaning(e: CExpr) -> CExpr | None:
        match e:
            case Apply("ne", (Read() as x, Number(value=0))) if x in tests:
                known = tests[x]
                return known.x if isinstance(known, Cast) and known.x.type == BOOL else None
        return None

    match s.value:
        case Apply("where", (c, e, old)) if old == s.target:
            c, e = rewritten(c, meaning), rewritten(e, meaning)
            return None if any(x in tests for x in reads_in(c, e)) else (c, e)
    return None


def _of(c: CExpr, new: CExpr, target: Read) -> tuple[bool, bool, CExpr, tuple[CExpr, ...]] | None:
    """Is the smallest wanted, of equal ones the last, of what, and where?"""
    conjuncts = _conjuncts(c)
    for k, test in enumerate(conjuncts):
        match test:
            case Apply("lt" | "le" | "gt" | "ge" as op, (a, b)) if target in (a, b) and new in (a, b) and a != b:
                last = op in ("le", "ge")
                if last and new.type.is_float:
                    return None  # a NaN is passed over, as the worst of all numbers: which is not among equals then
                return (op in ("lt", "le")) == (a == new), last, new, (*conjuncts[:k], *conjuncts[k + 1 :])
    return None


def _conjuncts(c: CExpr) -> list[CExpr]:
    if isinstance(c, Apply) and c.op == "logical_and":
        return [x for e in c.args for x in _conjuncts(e)]
    return [c]


# ---------------------------------------------------------------------------------------- as a reduction


def look_for(x: Extremum, stages: Stages) -> None:
    """Writes what is found into the arrays of `stages`."""
    s = x.value
    region = stages.region(s)
    parallel = region.flat
    along = [d for d in s.loops if d not in parallel and d not in stages.fixed]
    element, place = _element(x), _place(along)
    carried = [e for _, e in x.kept if not _follows(e, along)]
    before = [t.target for t in x.targets]
    reader = Reader(stages, [element, place, *carried, *before, *(e for _, e in x.kept)], [*parallel, *along])

    def found(now: Sequence[Operand]) -> Value:
        here = reader.at(now)
        given = over(along, now, lambda inner: packed([reader.at(inner).of(e) for e in (element, place, *carried)]))
        for _ in along[1:]:
            given = given.join()
        best = given.reduce(_operator(x, place.type, len(carried)), _worst(x, place.type, carried))
        old = [here.of(t) for t in before]
        better = best[0] < old[0] if x.smallest else best[0] > old[0]
        if x.last:
            better = (better | (best[0] == old[0])) & (best[1] >= 0)
        rest = iter(range(2, 2 + len(carried)))
        new = [best[0]]
        for target, e in x.kept:
            at = reader.at(now, known={along[0]: best[1]}).of(e) if _follows(e, along) else best[next(rest)]
            new.append(at.cast(target.target.type))
        return packed([where(better, a, b) for a, b in zip(new, old, strict=True)])

    stages.write_all(x.targets, over(region.flat, reader.operands, found))


def _element(x: Extremum) -> CExpr:
    """What is compared: the worst of all where a test fails, and for NaNs, which C never takes."""
    e, t = x.element, x.element.type
    tests = [*x.tests, *map(is_at_least_0, x.value.guards)]
    if t.is_float:
        tests.append(Apply("eq", (e, e), BOOL))
        worst = Number(float("inf") if x.smallest else float("-inf"), t)
    else:
        worst = Number(integers(t)[1 if x.smallest else 0], t)
    for test in tests:
        e = choice(test, e, worst)
    return e


def _place(along: Sequence[Loop]) -> CExpr:
    """How many elements come before."""
    form, size = Affine(0), 1
    for d in reversed(along):
        form, size = form + Affine(0, ((d, size),)), size * d.extent
    return Index(form, I32 if size < 1 << 31 else I64)


def _follows(e: CExpr, along: Sequence[Loop]) -> bool:
    """Is an expression known from the place alone?"""
    return len(along) == 1 and not any(True for _ in reads_in(e)) and loops_in(e) <= set(along)


def _operator(x: Extremum, place: Scalar, carried: int) -> Any:
    if not carried and not x.last:
        return r.smaller if x.smallest else r.larger

    def better(a: Any, b: Any) -> Any:
        first = a[0] < b[0] if x.smallest else a[0] > b[0]
        earlier = a[1] > b[1] if x.last else a[1] < b[1]
        return tuple(where(first | ((a[0] == b[0]) & earlier), a[k], b[k]) for k in range(2 + carried))

    return r.operator(better, commutative=True, neutral=lambda t: _neutral(x, t.items), check=False)


def _neutral(x: Extremum, types: Sequence[Scalar]) -> tuple[Any, ...]:
    value = highest(types[0]) if x.smallest else lowest(types[0])
    return value, -1 if x.last else highest(types[1]), *(0 for _ in types[2:])


def _worst(x: Extremum, place: Scalar, carried: Sequence[CExpr]) -> Value:
    types = [x.element.type, place, *(e.type for e in carried)]
    return packed(
        [notation.literal(bool(v) if t == BOOL else v, t) for v, t in zip(_neutral(x, types), types, strict=True)]
    )
