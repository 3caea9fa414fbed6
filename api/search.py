"""From a program to candidates: saturation, extraction, and a search for sizes.  No device is needed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
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
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.options import Laws
from egglift.steps import Steps, time_steps

REFINED = 4  # structures, the best at their most plausible sizes, whose sizes are searched
#: seconds of extraction, after which a program is compiled as it stands, and of pricing, which then ends early
EXTRACTION, PRICING = 20.0, 30.0
LONG = 1000  # nodes of a program beyond which fewer structures and assignments are priced: kernels take as long
TRIES = 16  # kernels that are generated and priced for each of these, at least 4 assignments


def searched(program: Expr, profile: Profile, limits: DeviceLimits, laws: Laws) -> list[Candidate]:
    """All candidates for a device of that profile, not measured."""
    candidates = equal_programs(program, profile, limits, laws)
    if steps := time_steps(program):
        candidates += [
            w for c in equal_programs(steps.program, profile, limits, laws) if (w := _again(steps, c, profile))
        ]
    return [*naive(program, profile, limits, optional=bool(candidates)), *candidates]


def equal_programs(program: Expr, profile: Profile, limits: DeviceLimits, laws: Laws) -> list[Candidate]:
    """What saturation, extraction and the search for sizes find, by rising estimate in every rank."""
    whole = saturate(program, reassociate=laws.reassociate, rules=laws.rules, disabled=laws.disabled)
    if laws.rules and whole.stopped != "fixpoint":
        warnings.warn(_why(whole), RuntimeWarning, stacklevel=5)
    graph = whole.graph
    try:
        structures = Extractor(graph, weights(profile), seconds=EXTRACTION).run()
    except TimeoutError:
        why = f"the program is too large to be searched: {graph.size} nodes of equal programs in {EXTRACTION:g} s"
        warnings.warn(f"{why}; it is compiled as it stands, write it in parts", RuntimeWarning, stacklevel=5)
        return []
    return choose_sizes(structures, graph, profile, limits)


def _why(whole: Saturated) -> str:
    """Why a user's laws did not come to their end, and what that means."""
    if whole.forced:
        met = "crashed" if whole.forced == "crash" else f"ran out of {whole.forced}"
        return f"saturation {met} within an iteration of laws in `rules`: what was found before it is used"
    busiest = max(whole.laws, key=lambda law: law.matches, default=None)
    hint = f"; {busiest.name} matched most often, {busiest.matches} times" if busiest else ""
    why = f"saturation stopped at its limit of {whole.stopped} with {whole.rows} rows{hint}"
    return f"{why}: what was found until then is used"


def choose_sizes(structures: Sequence[Found], graph: Graph, profile: Profile, limits: DeviceLimits) -> list[Candidate]:
    """The best assignments of sizes of the best structures, by the model: one of each structure comes first."""
    long = max((sum(1 for _ in subterms(f.term)) for f in structures), default=0) // LONG
    few = structures[: max(2, len(structures) // max(1, long))]
    searches = [(f, Search(f.term, graph.symbols, profile, limits)) for f in few]
    until = perf_counter() + PRICING
    rows = [(f, search, search.run(tries=1)) for f, search in searches if perf_counter() < until]
    rows.sort(key=lambda row: row[2][0].estimate.seconds if row[2] else float("inf"))
    found = []
    for i, (f, search, first) in enumerate(rows):
        refined = i < REFINED and perf_counter() < until
        points = varied(search.run(_tries(first, long)), 4) if refined else first
        found.append([_candidate(f, p, limits) for p in points])
    found.sort(key=lambda row: row[0].estimate if row else float("inf"))
    return [c for rank in zip_longest(*found) for c in rank if c is not None]


def _again(steps: Steps, c: Candidate, profile: Profile) -> Candidate | None:
    """A candidate for one step as a candidate for all of them; None if it cannot be repeated."""
    term, form = steps.again(c.term), c.form and steps.again(c.form)
    if term is None:
        return None
    whole = replace(c, term=term, form=form)
    try:
        model = estimate(whole.plan, profile)
    except CodegenError:
        return None
    return replace(whole, estimate=model.seconds, bound=model.sentence())


def _tries(first: Sequence[Point], long: int) -> int:
    """How many assignments of a structure to price: fewer of plans with many kernels, or with `long` ones."""
    usual = max(4, TRIES // max(1, len(first[0].plan.kernels))) if first else TRIES
    return max(1, usual // max(1, long))


def _candidate(found: Found, point: Point, limits: DeviceLimits) -> Candidate:
    sizes = {**dict(point.sizes), "group_size": point.launch.group_size, "max_groups": point.launch.max_groups}
    model = point.estimate
    return Candidate(
        found.sign, point.term, sizes, point.launch, limits, model.seconds, model.sentence(), form=found.term
    )


def naive(program: Expr, profile: Profile, limits: DeviceLimits, *, optional: bool = False) -> list[Candidate]:
    """The program as it stands: outer maps over the grid, everything else in sequence.

    With `optional`, none where it has no OpenCL (an accumulator that no work-item can hold); else CodegenError.
    """
    launch = Launch()
    try:
        model = estimate(compile_term(program, launch, limits), profile)
    except CodegenError:
        if optional:
            return []
        raise
    return [Candidate("naive", program, {}, launch, limits, model.seconds, model.sentence())]
