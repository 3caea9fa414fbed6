"""Arrays that each iteration of a loop writes before it reads: each iteration gets one of its own (privatisation).

for (q...) { for (p...) s[p] = ...; ... s[p] ... }   ->   s'[q][p] instead of s[p]; after the loop, s[p] = s'[last][p]
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from egglift.frontend.accesses import read_by
from egglift.frontend.dependence import conflict, is_covered
from egglift.frontend.nest import Affine, CExpr, Index, Loop, Read, Statement, form_of, loops_in, rewritten
from egglift.frontend.variables import Variable
from egglift.ir.types import I64


def privatized(
    statements: Sequence[Statement], variables: Mapping[str, Variable], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[list[Statement], dict[str, Variable], dict[str, tuple[int, ...]]]:
    """The statements with arrays of iterations, and all variables and their lengths."""
    work = _Privatization(list(statements), dict(variables), dict(shapes))
    for loop in dict.fromkeys(d for s in statements for d in s.loops):
        for name in dict.fromkeys(s.target.array for s in work.statements if loop in s.loops):
            if work.is_private(name, loop):
                work.expand(name, loop)
    return work.statements, work.variables, work.shapes


class _Privatization:
    def __init__(
        self, statements: list[Statement], variables: dict[str, Variable], shapes: dict[str, tuple[int, ...]]
    ) -> None:
        self.statements, self.variables, self.shapes = statements, variables, shapes
        self._numbers = itertools.count()

    def is_private(self, name: str, loop: Loop) -> bool:
        """Is an array written and read again and again by a loop, but never read before it is written?"""
        inside = [s for s in self.statements if loop in s.loops]
        writes = [s for s in inside if s.target.array == name]
        reads = [(a.statement, a.read) for s in inside for a in read_by(s) if a.read.array == name]
        if loop in self.variables[name].loops or not reads:
            return False
        for w in writes:
            if loop in loops_in(*w.target.at) or any(loop in g.loops for g in w.guards):
                return False
            if any(form_of(e) is None for e in w.target.at):
                return False
        again = any(conflict(w, w.target, s, r, (), loop) for w in writes for s, r in reads)
        return again and all(is_covered(s, r, writes, loop) for s, r in reads)

    def expand(self, name: str, loop: Loop) -> None:
        """Gives each iteration of a loop an array of its own."""
        old = self.variables[name]
        new = replace(
            old, name=f"{old.title}%{next(self._numbers)} of {loop.name}", loops=(*old.loops, loop), given=False
        )
        at = len(old.loops)
        self.variables[new.name] = new
        self.shapes[new.name] = (*self.shapes[name][:at], loop.extent, *self.shapes[name][at:])

        def own(e: CExpr) -> CExpr | None:
            if not isinstance(e, Read) or e.array != name:
                return None
            inner = tuple(rewritten(x, own) for x in e.at)
            return Read(new.name, (*inner[:at], Index(Affine(0, ((loop, 1),)), I64), *inner[at:]), e.type, e.place)

        found, after = [], dict[Read, Statement]()
        for s in self.statements:
            if loop not in s.loops:
                found.append(s)
                continue
            if s.target.array == name:
                after.setdefault(s.target, self._copied(s, new, loop, at))
            target = rewritten(s.target, own)
            assert isinstance(target, Read)
            found.append(replace(s, target=target, value=rewritten(s.value, own)))
        self.statements = sorted([*found, *after.values()], key=lambda s: s.order)

    def _copied(self, s: Statement, new: Variable, loop: Loop, at: int) -> Statement:
        """What the last iteration has written, where the array was."""
        place = s.loops.index(loop)
        used = loops_in(*s.target.at) | {d for g in s.guards for d in g.loops}
        loops = (*s.loops[:place], *(d for d in s.loops[place + 1 :] if d in used))
        last = Index(Affine(loop.extent - 1), I64)
        value = Read(new.name, (*s.target.at[:at], last, *s.target.at[at:]), s.target.type, s.target.place)
        order = (*s.order[:place], s.order[place] + 0.5, *s.order[place + 1 : len(loops) + 1])
        return Statement(loops, s.guards, s.target, value, (*order, *[0.0] * (len(loops) + 1 - len(order))))
