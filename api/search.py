"""From a program to candidates: saturation, extraction, and a search for sizes.  No device is needed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from time import perf_counter

from egglift.candidate import Candidate
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.sizes import Point, Search, varied
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.solutions import Found
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import Graph
from egglift.egraph.saturation.saturate import Saturated, saturate
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.bounds import parts_seconds, served_by_stages, traffic_seconds
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.steps import Steps as MadeAgain
from egglift.garbage import old_objects_stay
from egglift.ir.deadline import TooLate, granted, left, require_time, until
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr, Iterate
from egglift.ir.plain_numbers import duration
from egglift.ir.progress import tell, tick
from egglift.ir.text import brief
from egglift.ir.traverse import subterms
from egglift.iterated import ahead, as_many, iterated, plain_loops
from egglift.options import SCHEDULES, Laws
from egglift.parts import Parts, in_parts, together

AT_BEST = 1.25  # times as slow as the least traffic may the best schedule be for the laws not to be searched
PROMISING = 2.0  # times as slow as the best schedule may a structure be at its most plausible sizes, to be refined
REFINED = 4  # structures, the best at their most plausible sizes, whose sizes are searched
#: seconds of extraction, after which a program is compiled as it stands, and of pricing, which then ends early
EXTRACTION, PRICING = 20.0, 30.0
LAST = 10.0  # seconds to compile a program as it stands where nothing else is found and the time is up
LONG = 1000  # nodes of a program beyond which fewer structures and assignments are priced: kernels take as long
FEW_STEPS = 8  # steps of an iteration that laws take several at a time
NOTHING = Account("", ())
PARTS = 4  # of a program, for which half as many are; for twice as many parts a third, and so on
REFINED_FIRST, TRIES_FIRST = 2, 12  # the same where only the model's choice is wanted: structures, and kernels of each
TRIES = 16  # kernels that are generated and priced for each of these, at least 4 assignments


def searched(
    program: Expr, profile: Profile, limits: DeviceLimits, laws: Laws, several: bool = True
) -> list[Candidate]:
    """All candidates for a device of that profile, not measured.

    several: are such wanted that measuring chooses from, or the model's choice alone?
    """
    found = Searched(program, profile, limits, laws, several)
    found.by_all_ways()
    found.complete()
    return found.candidates


@dataclass
class Searched:
    """A search for candidates of a program, for a device of that profile: what it has found so far.

    What is not found in time (ir/deadline.py) is left out.
    """

    program: Expr
    profile: Profile
    limits: DeviceLimits
    laws: Laws
    several: bool = True
    by_laws: list[Candidate] = field(default_factory=list)
    by_schedules: list[Candidate] = field(default_factory=list)
    by_steps: list[Candidate] = field(default_factory=list)
    naive: list[Candidate] = field(default_factory=list)

    def by_all_ways(self, enough: float = float("inf")) -> None:
        """enough: the time after which laws are not searched if there are schedules."""
        with suppress(TooLate), old_objects_stay():
            self.by_schedules = self._by_schedules(self.program)
            self._tell("schedules of stages are priced")
            for c in self._of_loops(self.program):
                self.by_steps.append(c)
            with until(enough if self.by_schedules else float("inf")):
                self._by_laws()

    @property
    def candidates(self) -> list[Candidate]:
        """What is known so far."""
        return [*self.naive, *self.by_laws, *self.by_steps, *self.by_schedules]

    def complete(self) -> None:
        """The program as it stands is the last candidate; CodegenError where it is the only one, and has no kernels.

        It is none where only the model's choice is wanted, and there is one.
        """
        if not self.naive and (self.several or not self.candidates):
            self.naive = naive(self.program, self.profile, self.limits, optional=bool(self.candidates))
            self._tell("the search is over")

    def _of_step(self, program: Expr, several: bool = True) -> list[Candidate]:
        """What is found for a step of an iteration, or for what goes before it, or follows it.

        several: are several wanted, where such are wanted at all?
        """
        several = several and self.several
        found = by_schedules(program, self.profile, self.limits, self.laws, several=several)
        found += self._of_loops(program)
        best = min((c.estimate for c in found), default=float("inf"))
        with suppress(TooLate):  # what there is by then is taken
            if not served(program, best, self.profile, self.laws):
                found += explored(program, self.profile, self.limits, self.laws, best, several)
        return found

    def _by_schedules(self, program: Expr) -> list[Candidate]:
        return by_schedules(program, self.profile, self.limits, self.laws, several=self.several)

    def _of_loops(self, program: Expr) -> Iterator[Candidate]:
        """What is found for a program with a loop over arrays, as it comes."""
        program = plain_loops(program)
        yield from self._of_many(program)
        yield from iterated(program, self._of_step, self.profile)

    def _of_many(self, program: Expr) -> list[Candidate]:
        """What is found for a program with a loop over arrays whose elements never meet: a loop each for them."""
        many = as_many(program)
        if many is None:
            return []
        found = [c for e in ahead(many, self.profile) for c in naive(e, self.profile, self.limits, optional=True)]
        found += self._of_step(many)
        return [replace(c, structure=f"side by side: {c.structure}", form=None) for c in found]

    def _by_laws(self) -> None:
        if self.by_steps and not self.laws.rules and not _unfolds(self.program):
            return
        best = min((c.estimate for c in self.by_schedules), default=float("inf"))
        if not served(self.program, best, self.profile, self.laws):
            self.by_laws = explored(self.program, self.profile, self.limits, self.laws, best, self.several)
            self._tell("laws on patterns are searched")

    def _tell(self, what: str) -> None:
        best = min((c.estimate for c in self.candidates), default=float("inf"))
        tell("search", what, candidates=len(self.candidates), best_by_the_model=duration(best))


def served(program: Expr, best: float, profile: Profile, laws: Laws) -> bool:
    """Is the `best` schedule of a program so near to what no program is faster than that the laws need no search?

    Nor do they where it has several stages that reduce: what laws find for the whole is kernels of one stage each, too.

    Never with a user's own laws: they may know better.
    """
    if laws.rules or best == float("inf"):
        return False
    work, least = best - profile.launch, traffic_seconds(program, profile)
    if least <= work <= AT_BEST * least:
        return True
    return served_by_stages(program, work, profile, laws.reassociate)


def explored(
    program: Expr,
    profile: Profile,
    limits: DeviceLimits,
    laws: Laws,
    best: float = float("inf"),
    several: bool = True,
) -> list[Candidate]:
    """What is found for a program as a whole; for one of many shared producers, what is found for its parts.

    One between is searched both ways.  best: the estimate of what is known already.
    """
    parts = in_parts(program, weights(profile))
    if parts is None:
        return equal_programs(program, profile, limits, laws, best=best, several=several)
    limit = best * (AT_BEST if several else 1.0)
    far = parts_seconds(parts.programs, profile) >= limit
    if best < float("inf"):
        if far and not parts.few:
            return []
        if all(_served_alone(part, profile, limits, laws) for part in dict.fromkeys(parts.programs)):
            return []
    found = [] if far else _of_parts(parts, profile, limits, laws, limit, several)
    if parts.few or (not found and best == float("inf")):
        found += equal_programs(program, profile, limits, laws, best=best, several=several)
    return found


def _of_parts(
    parts: Parts, profile: Profile, limits: DeviceLimits, laws: Laws, limit: float, several: bool
) -> list[Candidate]:
    """What is found for the parts of a program, put together; nothing where that takes longer than the limit, by what
    is found of some and what the others take at least."""
    rows, left = dict[Expr, list[Candidate]](), list(parts.programs)
    different = sorted(dict.fromkeys(parts.programs), key=lambda part: sum(1 for _ in subterms(part)))
    for i, part in enumerate(different, 1):
        tick("parts", f"{i} of {len(different)}")
        rows[part] = equal_programs(part, profile, limits, laws, len(different), several=several)
        rows[part] = rows[part] or naive(part, profile, limits, optional=True)
        left = [x for x in left if x != part]
        known = sum(min((c.estimate for c in rows[x]), default=float("inf")) for x in parts.programs if x in rows)
        if not rows[part] or known + (parts_seconds(left, profile) if left else 0.0) >= limit:
            return []
    return together(parts, [rows[part] for part in parts.programs], profile)


def equal_programs(
    program: Expr,
    profile: Profile,
    limits: DeviceLimits,
    laws: Laws,
    parts: int = 1,
    best: float = float("inf"),
    several: bool = True,
) -> list[Candidate]:
    """What saturation, extraction and the search for sizes find, by rising estimate in every rank.

    parts: of a whole, this program among them: each is searched the less, the more there are.  best: the estimate of
    what is known already.
    """
    whole = saturate(program, limits=laws.limits, **laws.of_book)
    if laws.rules and whole.stopped != "fixpoint":
        warnings.warn(_why(whole), RuntimeWarning, stacklevel=5)
    graph = whole.graph
    tell("saturation", whole.stopped, rows=whole.rows, nodes=graph.size)
    try:
        structures = Extractor(graph, weights(profile), seconds=min(EXTRACTION / parts, left())).run()
    except TimeoutError:
        require_time()
        why = f"the program is too large to be searched: {graph.size} nodes of equal programs in {duration(EXTRACTION)}"
        warnings.warn(f"{why}; it is compiled as it stands, write it in parts", RuntimeWarning, stacklevel=5)
        return []
    tell("extraction", structures=len(structures))
    return choose_sizes(structures, graph, profile, limits, parts, best, several)


def _served_alone(part: Expr, profile: Profile, limits: DeviceLimits, laws: Laws) -> bool:
    """Are schedules of a part so good that the laws need no search for it?"""
    found = by_schedules(part, profile, limits, laws, patterns=False, several=False)
    return bool(found) and served(part, found[0].estimate, profile, laws)


@dataclass(frozen=True)
class _ByBook:
    """What the laws on patterns find for a stage of a program."""

    profile: Profile = field(compare=False)
    limits: DeviceLimits
    laws: Laws

    def __call__(self, part: Expr, best: float) -> list[Choice]:
        if served(part, best, self.profile, self.laws):
            return []
        found = equal_programs(part, self.profile, self.limits, self.laws, best=best)[:REFINED]
        return [
            Choice(c.structure, c.term, _sizes(c), c.launch, estimate(c.plan, self.profile), NOTHING) for c in found
        ]


def by_schedules(
    program: Expr, profile: Profile, limits: DeviceLimits, laws: Laws, patterns: bool = True, several: bool = True
) -> list[Candidate]:
    """What schedules of a program's stages give, by rising estimate; nothing where it has no index notation.

    patterns: of single stages, also what laws on patterns find.  several: are several wanted, or the model's choice?
    """
    if SCHEDULES in laws.disabled:
        return []

    by_book = _ByBook(profile, limits, laws) if patterns else None
    return [
        Candidate(
            c.sign,
            c.term,
            _parameters(c.sizes, c.launch),
            c.launch,
            limits,
            c.seconds,
            c.estimate.sentence(),
            account=c.account,
            steps=c.made if isinstance(c.made, MadeAgain) else None,
        )
        for c in scheduled(program, profile, limits, laws.reassociate, by_book, laws.tf32, several)
    ]


def _parameters(sizes: Sequence[tuple[str, int]], launch: Launch) -> dict[str, int]:
    return {**dict(sizes), "group_size": launch.group_size, "max_groups": launch.max_groups}


def _sizes(c: Candidate) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((k, n) for k, n in c.parameters.items() if k not in ("group_size", "max_groups")))


def _why(whole: Saturated) -> str:
    """Why a user's laws did not come to their end, and what that means."""
    if whole.forced:
        met = "crashed" if whole.forced == "crash" else f"ran out of {whole.forced}"
        return f"saturation {met} within an iteration of laws in `rules`: what was found before it is used"
    busiest = max(whole.laws, key=lambda law: law.matches, default=None)
    hint = f"; {busiest.name} matched most often, {busiest.matches} times" if busiest else ""
    why = f"saturation stopped at its limit of {whole.stopped} with {whole.rows} rows{hint}"
    return f"{why}: what was found until then is used"


def choose_sizes(
    structures: Sequence[Found],
    graph: Graph,
    profile: Profile,
    limits: DeviceLimits,
    parts: int = 1,
    best: float = float("inf"),
    several: bool = True,
) -> list[Candidate]:
    """The best assignments of sizes of the best structures, by the model: one of each structure comes first.

    parts: of the program, this one among them.  best: the estimate of what is known already.
    """
    long = max(1, max((sum(1 for _ in subterms(f.term)) for f in structures), default=0) // LONG + parts // PARTS)
    few = structures[: max(2, len(structures) // long)]
    most, tries = (REFINED, TRIES) if several else (REFINED_FIRST, TRIES_FIRST)
    searches = [(f, Search(f.term, graph.symbols, profile, limits)) for f in few]
    found = []
    with until(perf_counter() + PRICING / parts):
        rows = [(f, search, search.run(tries=1)) for f, search in searches]
        rows.sort(key=lambda row: row[2][0].estimate.seconds if row[2] else float("inf"))
        for i, (f, search, first) in enumerate(rows):
            tick("sizes", f"structure {i + 1} of {len(rows)}")
            promising = i < most and not (first and first[0].estimate.seconds > PROMISING * best)
            points = varied(search.run(_tries(first, tries, long)), 4) if promising else first
            found.append([_candidate(f, p, limits) for p in points])
    found.sort(key=lambda row: row[0].estimate if row else float("inf"))
    return [c for rank in zip_longest(*found) for c in rank if c is not None]


def _unfolds(program: Expr) -> bool:
    """Is it an iteration of so few steps that laws take several at a time?"""
    return isinstance(program, Iterate) and isinstance(program.count, int) and program.count <= FEW_STEPS


def _tries(first: Sequence[Point], most: int, long: int) -> int:
    """How many assignments of a structure to price: fewer of plans with many kernels, or with `long` ones."""
    usual = max(4, most // max(1, len(first[0].plan.kernels))) if first else most
    return max(1, usual // long)


def _candidate(found: Found, point: Point, limits: DeviceLimits) -> Candidate:
    model, sizes = point.estimate, _parameters(point.sizes, point.launch)
    return Candidate(
        found.sign, point.term, sizes, point.launch, limits, model.seconds, model.sentence(), form=found.term
    )


def naive(program: Expr, profile: Profile, limits: DeviceLimits, *, optional: bool = False) -> list[Candidate]:
    """The program as it stands: outer maps over the grid, everything else in sequence.

    With `optional`, none where it has no OpenCL (an accumulator that no work-item can hold), or the time is up; else
    it has LAST seconds, and CodegenError.
    """
    launch = Launch()
    try:
        with granted(0 if optional else LAST), until(perf_counter() + PRICING):
            model = estimate(compile_term(program, launch, limits), profile)
    except (CodegenError, TooLate) as error:
        if optional:
            return []
        if isinstance(error, CodegenError):
            raise
        remedy = "allow more time, map over arrays what its bodies compute again and again, or write it in parts"
        raise CodegenError(f"{brief(program)}: no kernels within {duration(LAST)}; {remedy}") from None
    return [Candidate("naive", program, {}, launch, limits, model.seconds, model.sentence())]
