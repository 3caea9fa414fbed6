"""Iterations that need their own number: it goes on beside the arrays, and statements read it as a variable.

for (t...) { ... x[t] ... }      ->   iterate (t + 1, ... x[t] ...)
y[t] = e                         ->   y[d] = d == t ? e : y[d], for all d
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from egglift.frontend.arithmetic import cast, choice
from egglift.frontend.nest import (
    Affine,
    Apply,
    CExpr,
    Index,
    Loop,
    Number,
    Read,
    Statement,
    form_of,
    is_at_least_0,
    loops_in,
    rewritten,
)
from egglift.frontend.variables import Variable
from egglift.ir.types import BOOL, I32, I64


def counter(loop: Loop, others: Mapping[str, Variable]) -> Variable:
    """A variable that counts the iterations of a loop, beside others."""
    kind = I32 if loop.extent < 1 << 31 else I64
    return Variable(f"{loop.name}%{len(others)}", loop.name, kind, (), (), 0, False, loop.at)


def only_records(group: Sequence[Statement], loop: Loop, variables: Mapping[str, Variable]) -> bool:
    """Is what is written at places of an iteration's number read nowhere else, and is there more to an iteration?"""
    for s in group:
        own = len(variables[s.target.array].loops)
        at = s.target.at[own:]
        mine = [e for e in at if loop in loops_in(e)]
        if not mine:
            continue
        reads = {r for x in group for r in (*x.reads, x.target) if r.array == s.target.array}
        if (
            all(x.loops[-1] is loop for x in group)
            or len(mine) > 1
            or not _is_place(mine[0], loop)
            or reads != {s.target}
        ):
            return False
    return True


def _is_place(e: CExpr, loop: Loop) -> bool:
    form = form_of(e)
    return form is not None and form.loops == (loop,)


def counted(
    s: Statement, loop: Loop, count: Read, variables: Mapping[str, Variable], shapes: Mapping[str, Sequence[int]]
) -> Statement:
    """A statement that reads `count` where it needed the number of an iteration of `loop`."""
    number = _Counted(loop, count, variables)
    value, guards = s.value, [g for g in s.guards if loop not in g.loops]
    for g in s.guards:
        if loop in g.loops:
            value = choice(number.of(is_at_least_0(g)), value, s.target)
    own, loops, target = len(variables[s.target.array].loops), s.loops, s.target
    for k, e in enumerate(s.target.at[own:], own):
        if (form := form_of(e)) is not None and loop in form.loops:
            every = Loop(loop.name, shapes[target.array][k], 0, 1, loop.at)
            place = Index(Affine(0, ((every, 1),)), I64)
            target = replace(target, at=(*target.at[:k], place, *target.at[k + 1 :]))
            value = rewritten(value, lambda x, new=target: new if x == s.target else None)  # type: ignore[misc]
            value = choice(Apply("eq", (place, number.of(Index(form, I64))), BOOL), value, target)
            loops = (*loops, every)
    return Statement(loops, tuple(guards), target, number.of(value), s.order)


class _Counted:
    def __init__(self, loop: Loop, count: Read, variables: Mapping[str, Variable]) -> None:
        self._loop, self._count, self._variables = loop, count, variables

    def of(self, e: CExpr) -> CExpr:
        return rewritten(e, self._change)

    def _change(self, e: CExpr) -> CExpr | None:
        if isinstance(e, Read):
            own = len(self._variables[e.array].loops)
            return replace(e, at=(*e.at[:own], *map(self.of, e.at[own:])))
        if not isinstance(e, Index) or self._loop not in e.form.loops:
            return None
        c = dict(e.form.terms)[self._loop]
        rest = e.form - Affine(0, ((self._loop, c),))
        wide = I32 if all(-(1 << 31) <= end < 1 << 31 for end in e.form.range) else I64
        now = Apply("mul", (cast(self._count, wide), Number(c, wide)), wide) if c != 1 else cast(self._count, wide)
        others = Index(rest, wide) if rest.terms else Number(rest.constant, wide)
        return cast(now if rest == Affine(0) else Apply("add", (now, others), wide), e.type)


def uses(s: Statement, loop: Loop, variables: Mapping[str, Variable]) -> bool:
    """Does a statement need a loop's number, other than for places that each iteration has of its own?"""
    if any(loop in g.loops for g in s.guards):
        return True
    changed = _Counted(loop, Read("", (), I32, None), variables)
    return changed.of(s.value) != s.value or changed.of(s.target) != s.target
