"""`optimize`: from a program to the fastest equal kernel.  The pipeline is the architecture: read it below."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from time import perf_counter
from typing import Any

from egglift.admission import admit
from egglift.candidate import Candidate
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import FAST_MATH, Device, open_device
from egglift.codegen.kernel.imperative import Launch, Limits
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.measurement.measure import opened as bench_for
from egglift.costmodel.measurement.measure import race
from egglift.costmodel.measurement.remote_bench import DEADLINE
from egglift.costmodel.measurement.worker_pool import worker_for
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.costmodel.records.journal import Journal
from egglift.costmodel.search.sizes import Point, Search, varied
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.solutions import Found
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import Graph
from egglift.egraph.saturation.saturate import Saturated, saturate
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.choices import Choice, scheduled
from egglift.ir.deep import deeply
from egglift.ir.errors import ArgumentError, CodegenError, EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.ir.traverse import subterms
from egglift.kernel import Kernel
from egglift.memory import journal, recall, remember
from egglift.steps import Steps, time_steps

REFINED = 4  # structures, the best at their most plausible sizes, whose sizes are searched
#: seconds of extraction, after which a program is compiled as it stands, and of pricing, which then ends early
EXTRACTION, PRICING = 20.0, 30.0
LONG = 1000  # nodes of a program beyond which fewer structures and assignments are priced: kernels take as long
TRIES = 16  # kernels that are generated and priced for each of these, at least 4 assignments
SAMPLE = 8  # candidates measured by measure="sample" unless another number is asked for
POOL = 2  # times as many are in the race: a corrected model may bring in one that it put behind the first
MANY_UNITS = 16  # fewer compute units are busy without sharing out single reductions, as these laws do
SPLITTING = ("split-k", "split-row")
NOTHING = Account("", ())
SCHEDULES = "schedules"  # switches off, among laws that are disabled, schedules of stages


def optimize(
    expr: Any,
    device: object = None,
    *,
    measure: str = "sample",
    budget: float | None = None,
    reassociate: bool = True,
    fast_math: bool = False,
    rules: Sequence[str] = (),
    cache: bool = True,
    measurements: int = SAMPLE,
    isolate: bool = True,
    deadline: float = DEADLINE,
) -> Kernel:
    """The fastest equal OpenCL program for `expr` on `device`, as a callable.

    device: a pyopencl Device, Context or CommandQueue, a part of a device's name, or None (the environment
    variable EGGLIFT_DEVICE, else the first GPU, else PoCL).  measure: "sample" times the best few candidates,
    each checked against the interpreter; "none" trusts the analytic model.  budget: seconds for measuring.
    reassociate: may the order of floating-point operations change?  fast_math: may the compiler use less exact
    functions, and take numbers for finite and denormal ones for zero (-cl-fast-relaxed-math)?
    rules: further laws, as .egg text.
    cache: use and keep records of earlier results.  Each measurement is kept at once: Ctrl-C loses none.
    measurements: how many candidates are built, checked and timed.  More are tried only if none of these can be chosen.
    isolate: measure in a process of its own.  A candidate that crashes the driver, or takes more than `deadline`
    seconds, then ends that process only, and is recorded with the reason.
    """
    if measure not in ("sample", "none"):
        raise ArgumentError(f'measure is "sample" or "none", not {measure!r}')
    if measurements < 1:
        raise ArgumentError(f"measurements is 1 or more, not {measurements}")
    if deadline <= 0:
        raise ArgumentError(f"deadline is a positive number of seconds, not {deadline:g}")
    if budget is not None and not budget >= 0:
        raise ArgumentError(f"budget is a number of seconds, 0 or more, not {budget!r}")
    if isinstance(rules, str):
        raise ArgumentError("rules is a sequence of texts: write rules=[text]")
    program, opened = as_program(expr), open_device(device)
    admit(program, opened)
    profile = load_profile(opened)
    options = choices(measure, budget, measurements, profile, reassociate, fast_math, rules)
    return deeply(lambda: _pipeline(program, opened, profile, options, cache, isolate, deadline))


def _pipeline(
    program: Expr,
    device: Device,
    profile: Profile,
    options: dict[str, Any],
    cache: bool,
    isolate: bool,
    deadline: float,
) -> Kernel:
    """Remembered, or searched and measured."""
    if cache and (known := remembered(program, device, options, isolate, deadline)) is not None:
        return kernel_of(program, device, known, options)
    if options["measure"] == "sample" and isolate:
        worker_for(device)  # it starts while the program is searched

    laws = {"reassociate": options["reassociate"], "rules": options["rules"], "disabled": options["disabled"]}
    candidates = searched(program, profile, device.limits, laws)
    if options["measure"] == "sample":
        candidates = _timed(candidates, program, device, options, cache, isolate, deadline)
    candidates = sorted(candidates, key=lambda c: c.seconds)
    if cache:
        remember(program, device, options, candidates)
    return kernel_of(program, device, candidates, options)


def _timed(
    candidates: Sequence[Candidate],
    program: Expr,
    device: Device,
    options: Mapping[str, Any],
    cache: bool,
    isolate: bool,
    deadline: float,
) -> list[Candidate]:
    """Those that are worth it measured, as `options` say; with `cache`, what was measured before is taken over."""
    flags, budget = FAST_MATH if options["fast_math"] else (), options.get("budget")
    subject = Subject(dumps(program), options=flags, rounded=not options["reassociate"])
    kept = journal(subject, device, budget) if cache else None
    return measured(candidates, subject, device, kept, budget, options.get("measurements", SAMPLE), isolate, deadline)


def remembered(
    program: Expr, device: Device, options: Mapping[str, Any], isolate: bool = True, deadline: float = DEADLINE
) -> list[Candidate] | None:
    """What an earlier call found; what this user's egglift did not write so is measured before it is trusted."""
    known = recall(program, device, options)
    if known is None:
        return None
    if known.own:
        return known.candidates
    usable = [c for c in known.candidates if c.seconds < float("inf")]
    best = [replace(c, measured=None, status="model", reason="") for c in sorted(usable, key=lambda c: c.seconds)[:1]]
    try:
        checked = _timed(best, program, device, options, False, isolate, deadline)
    except EggliftError:
        return None
    if not any(c.status == "ok" for c in checked):
        warnings.warn("a record in the cache is wrong: the program is optimised again", RuntimeWarning, stacklevel=3)
        return None
    remember(program, device, options, checked)
    return checked


def choices(
    measure: str,
    budget: float | None,
    measurements: int,
    profile: Profile,
    reassociate: bool = True,
    fast_math: bool = False,
    rules: Sequence[str] = (),
) -> dict[str, Any]:
    """What else changes the result of `optimize`: a part of the key of its record."""
    options: dict[str, Any] = {"measure": measure, "reassociate": reassociate, "fast_math": fast_math}
    options |= {"rules": tuple(rules), "disabled": unused(profile)}
    if measure == "sample":  # what little time or few candidates found is no answer to a call with more
        options |= {"budget": budget, "measurements": measurements}
    return options


def unused(profile: Profile) -> tuple[str, ...]:
    """The laws that are no use on a device of that profile."""
    return SPLITTING if profile.compute_units < MANY_UNITS else ()


def searched(program: Expr, profile: Profile, limits: Limits, laws: Mapping[str, Any]) -> list[Candidate]:
    """All candidates for a device of that profile, not measured.  No device is needed.

    laws: `saturate`'s keywords "reassociate", "rules" and "disabled".
    """
    candidates = found(program, profile, limits, laws) + by_schedules(program, profile, limits, laws)
    if steps := time_steps(program):
        candidates += [w for c in found(steps.program, profile, limits, laws) if (w := _again(steps, c, profile))]
    return [*naive(program, profile, limits, optional=bool(candidates)), *candidates]


def found(program: Expr, profile: Profile, limits: Limits, laws: Mapping[str, Any]) -> list[Candidate]:
    """What saturation, extraction and the search for sizes find, by rising estimate in every rank."""
    whole = saturate(program, **laws)
    if laws["rules"] and whole.stopped != "fixpoint":
        warnings.warn(_why(whole), RuntimeWarning, stacklevel=5)
    graph = whole.graph
    try:
        structures = Extractor(graph, weights(profile), seconds=EXTRACTION).run()
    except TimeoutError:
        why = f"the program is too large to be searched: {graph.size} nodes of equal programs in {EXTRACTION:g} s"
        warnings.warn(f"{why}; it is compiled as it stands, write it in parts", RuntimeWarning, stacklevel=5)
        return []
    return choose_sizes(structures, graph, profile, limits)


def by_schedules(program: Expr, profile: Profile, limits: Limits, laws: Mapping[str, Any]) -> list[Candidate]:
    """What schedules of a program's stages give, by rising estimate; nothing where it has no index notation."""
    if SCHEDULES in laws["disabled"]:
        return []

    def by_book(part: Expr) -> list[Choice]:
        best = found(part, profile, limits, laws)[:REFINED]
        return [Choice(c.structure, c.term, _sizes(c), c.launch, estimate(c.plan, profile), NOTHING) for c in best]

    choices = scheduled(program, profile, limits, laws["reassociate"], by_book)
    return [
        Candidate(
            c.sign,
            c.term,
            {**dict(c.sizes), "group_size": c.launch.group_size, "max_groups": c.launch.max_groups},
            c.launch,
            limits,
            c.seconds,
            c.estimate.sentence(),
            account=c.account,
        )
        for c in choices
    ]


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


def choose_sizes(structures: Sequence[Found], graph: Graph, profile: Profile, limits: Limits) -> list[Candidate]:
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


def _candidate(found: Found, point: Point, limits: Limits) -> Candidate:
    sizes = {**dict(point.sizes), "group_size": point.launch.group_size, "max_groups": point.launch.max_groups}
    model = point.estimate
    return Candidate(
        found.sign, point.term, sizes, point.launch, limits, model.seconds, model.sentence(), form=found.term
    )


def naive(program: Expr, profile: Profile, limits: Limits, *, optional: bool = False) -> list[Candidate]:
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


def measured(
    candidates: Sequence[Candidate],
    subject: Subject,
    device: Device,
    journal: Journal | None,
    budget: float | None = None,
    measurements: int = SAMPLE,
    isolate: bool = True,
    deadline: float = DEADLINE,
) -> list[Candidate]:
    """The most promising candidates with kernels of their own checked and timed in rounds; the rest as they were.

    Where none of them is right, the next ones are tried: no candidate is chosen unchecked if another can be.
    """
    waiting, done = sorted(candidates, key=lambda c: c.estimate), list[Candidate]()
    with bench_for(device, subject, isolate=isolate, deadline=deadline) as bench:
        while waiting and not any(c.status == "ok" for c in done):
            pool = _different(waiting, POOL * measurements)
            results = race(
                [c.plan for c in pool],
                [c.estimate for c in pool],
                [c.structure for c in pool],
                bench,
                device,
                measurements=measurements,
                budget_seconds=budget,
                journal=journal,
                deadline=deadline,
            )
            tried = [pool[i] for i in results]
            waiting = [c for c in waiting if c not in tried]
            done += [_measured(pool[i], m) for i, m in results.items()]
    return done + waiting


def _different(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """The first `count` whose kernels differ: of a short array, most tilings are the same."""
    found: dict[object, Candidate] = {}
    for c in candidates:
        if len(found) == count:
            break
        launches = tuple((k.source, k.global_size, k.local_size) for k in c.plan.kernels)
        found.setdefault((launches, len(c.plan.steps)), c)
    return list(found.values())


def _measured(c: Candidate, m: Measurement) -> Candidate:
    return replace(c, measured=m.seconds, status=m.status, reason=m.reason)


def kernel_of(program: Expr, device: Device, candidates: Sequence[Candidate], options: dict[str, Any]) -> Kernel:
    """The fastest of measured candidates as a callable; EggliftError where none of them runs."""
    usable = [c for c in candidates if c.seconds < float("inf")]
    if not usable:
        reasons = "; ".join(f"{c.structure}: {c.reason}" for c in candidates[:3])
        raise EggliftError(f"no candidate for this program runs on {device.name}: {reasons}")
    timed = [c for c in usable if c.measured is not None]
    chosen = min(timed or usable, key=lambda c: c.seconds)
    return Kernel(program, chosen, device, candidates, options)
