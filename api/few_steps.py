"""Long iterations are checked and timed by few of their steps: a kernel that is launched again is the same kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from egglift.candidate import Candidate
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild, replaced, subterms

#: steps that are taken: more than laws unfold, an even number of an even one
FEW = (10, 9)
#: of as many steps as this an iteration is long
LONG = 24


@dataclass(frozen=True)
class FewSteps:
    """A program whose long iterations take few steps.  few: how many, by how many they take in the whole program."""

    program: Expr
    few: Mapping[int, int]

    def of(self, c: Candidate) -> Candidate | None:
        """The candidate with as few steps; None where it has no such iteration: it steps in another way."""
        counts = {t.count for t in subterms(c.term) if isinstance(t, p.Iterate)}
        if not set(self.few) <= counts:
            return None
        return replace(c, term=_with_counts(c.term, self.few))

    def measured(self, c: Candidate, short: Candidate, profile: Profile) -> Candidate:
        """The candidate with what was found of it: as many times the seconds as the model says that all steps take."""
        if short.measured is None:
            return replace(c, status=short.status, reason=short.reason)
        more = c.estimate / estimate(short.plan, profile).seconds
        return replace(c, status=short.status, reason=short.reason, measured=short.measured * more)


def few_steps(program: Expr) -> FewSteps | None:
    """The program with few steps of its long iterations, each of its own number; None where it has none.

    iterate 1000 f x   ->   iterate 10 f x
    """
    counts = [t.count for t in subterms(program) if isinstance(t, p.Iterate)]
    found = dict[int, int]()

    def shorter(t: Expr) -> Expr | None:
        if not isinstance(t, p.Iterate):
            return None
        few = _few(t.count, counts, found) if isinstance(t.count, int) else None
        return replace(t, x=replaced(t.x, shorter), count=t.count if few is None else few)

    short = replaced(program, shorter)
    return FewSteps(short, found) if found else None


def _few(count: int, counts: Sequence[object], found: dict[int, int]) -> int | None:
    """How many steps are taken in place of `count`; None: all, as these are not many, or taken in bodies, too."""
    if count < LONG or counts.count(count) > 1:
        return None
    few = FEW[count % 2]
    while few in counts or few in found.values():
        few += 2
    found[count] = few
    return few


def _with_counts(term: Expr, counts: Mapping[int, int]) -> Expr:
    memo: dict[Expr, Expr] = {}

    def go(t: Expr) -> Expr:
        if t not in memo:
            new = rebuild(t, go, go)
            if isinstance(new, p.Iterate) and isinstance(new.count, int):
                new = replace(new, count=counts.get(new.count, new.count))
            memo[t] = new
        return memo[t]

    return go(term)
