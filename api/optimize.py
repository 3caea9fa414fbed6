"""`optimize`: from a program to the fastest equal kernel.  The pipeline is the architecture: read it below."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from egglift.admission import admit
from egglift.candidate import Candidate
from egglift.codegen.compile import compile_term
from egglift.codegen.imperative import Launch, Limits
from egglift.codegen.runtime import FAST_MATH, Device, open_device
from egglift.costmodel.analytic import estimate
from egglift.costmodel.check import expect
from egglift.costmodel.measure import Measurement
from egglift.costmodel.measure import measure as time_plans
from egglift.costmodel.profile import Profile, load_profile
from egglift.costmodel.search import Point, Search, varied
from egglift.egraph.extract import Extractor
from egglift.egraph.found import Found
from egglift.egraph.frozen import Graph
from egglift.egraph.saturate import saturate
from egglift.egraph.weights import weights
from egglift.ir.deep import deeply
from egglift.ir.errors import ArgumentError, CodegenError, EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.kernel import Kernel
from egglift.memory import recall, remember
from egglift.steps import Steps, time_steps

REFINED = 4  # structures, the best at their most plausible sizes, whose sizes are searched
TRIES = 16  # kernels that are generated and priced for each of these, at least 4 assignments
SAMPLE = 8  # candidates measured by measure="sample"
MANY_UNITS = 16  # fewer compute units are busy without sharing out single reductions, as these laws do
SPLITTING = ("split-k", "split-row")


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
) -> Kernel:
    """The fastest equal OpenCL program for `expr` on `device`, as a callable.

    device: a pyopencl Device, Context or CommandQueue, a part of a device's name, or None (the environment
    variable EGGLIFT_DEVICE, else the first GPU, else PoCL).  measure: "sample" times the best few candidates,
    each checked against the interpreter; "none" trusts the analytic model.  budget: seconds for measuring.
    reassociate: may the order of floating-point operations change?  fast_math: may the compiler use less exact
    functions, and take numbers for finite and denormal ones for zero (-cl-fast-relaxed-math)?
    rules: further laws, as .egg text.
    cache: use and keep records of earlier results.
    """
    if measure not in ("sample", "none"):
        raise ArgumentError(f'measure is "sample" or "none", not {measure!r}')
    if budget is not None and not budget >= 0:
        raise ArgumentError(f"budget is a number of seconds, 0 or more, not {budget!r}")
    if isinstance(rules, str):
        raise ArgumentError("rules is a sequence of texts: write rules=[text]")
    program, opened = as_program(expr), open_device(device)
    admit(program, opened)
    options = {"measure": measure, "reassociate": reassociate, "fast_math": fast_math, "rules": tuple(rules)}
    if measure == "sample":
        options["budget"] = budget  # what little time found is no answer to a call with more
    return deeply(lambda: _pipeline(program, opened, options, cache))


def _pipeline(program: Expr, device: Device, options: dict[str, Any], cache: bool) -> Kernel:
    profile = load_profile(device)
    unused = SPLITTING if profile.compute_units < MANY_UNITS else ()
    options["disabled"] = unused
    if cache and (known := remembered(program, device, options)) is not None:
        return _kernel(program, device, known, options)

    laws = {"reassociate": options["reassociate"], "rules": options["rules"], "disabled": unused}
    candidates = found(program, profile, device, laws)
    if steps := time_steps(program):
        candidates += [w for c in found(steps.program, profile, device, laws) if (w := _again(steps, c, profile))]
    candidates = [*naive(program, profile, device, optional=bool(candidates)), *candidates]
    if options["measure"] == "sample":
        candidates = measured(
            candidates, program, device, options["budget"], options["reassociate"], options["fast_math"]
        )
    candidates = sorted(candidates, key=lambda c: c.seconds)
    if cache:
        remember(program, device, options, candidates)
    return _kernel(program, device, candidates, options)


def remembered(program: Expr, device: Device, options: Mapping[str, Any]) -> list[Candidate] | None:
    """What an earlier call found; what this user's egglift did not write so is measured before it is trusted."""
    known = recall(program, device, options)
    if known is None:
        return None
    if known.own:
        return known.candidates
    usable = [c for c in known.candidates if c.seconds < float("inf")]
    best = [replace(c, measured=None, status="model", reason="") for c in sorted(usable, key=lambda c: c.seconds)[:1]]
    try:
        checked = measured(
            best, program, device, options.get("budget"), options["reassociate"], options["fast_math"]
        )
    except EggliftError:
        return None
    if not any(c.status == "ok" for c in checked):
        warnings.warn("a record in the cache is wrong: the program is optimised again", RuntimeWarning, stacklevel=3)
        return None
    remember(program, device, options, checked)
    return checked


def found(program: Expr, profile: Profile, device: Device, laws: Mapping[str, Any]) -> list[Candidate]:
    """What saturation, extraction and the search for sizes find, by rising estimate in every rank."""
    whole = saturate(program, **laws)
    if laws["rules"] and whole.stopped != "fixpoint":
        busiest = max(whole.laws, key=lambda law: law.matches, default=None)
        hint = f"; {busiest.name} matched most often, {busiest.matches} times" if busiest else ""
        why = f"saturation stopped at its limit of {whole.stopped} with {whole.rows} rows{hint}"
        warnings.warn(f"{why}: what was found until then is used", RuntimeWarning, stacklevel=5)
    graph = whole.graph
    return choose_sizes(Extractor(graph, weights(profile)).run(), graph, profile, device)


def choose_sizes(structures: Sequence[Found], graph: Graph, profile: Profile, device: Device) -> list[Candidate]:
    """The best assignments of sizes of the best structures, by the model: one of each structure comes first."""
    searches = [(f, Search(f.term, graph.symbols, profile, device.limits)) for f in structures]
    rows = [(f, search, search.run(tries=1)) for f, search in searches]
    rows.sort(key=lambda row: row[2][0].estimate.seconds if row[2] else float("inf"))
    found = [
        [_candidate(f, p, device.limits) for p in (varied(search.run(_tries(first)), 4) if i < REFINED else first)]
        for i, (f, search, first) in enumerate(rows)
    ]
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


def _tries(first: Sequence[Point]) -> int:
    """How many assignments of a structure to price: fewer of plans with many kernels."""
    return max(4, TRIES // max(1, len(first[0].plan.kernels))) if first else TRIES


def _candidate(found: Found, point: Point, limits: Limits) -> Candidate:
    sizes = {**dict(point.sizes), "group_size": point.launch.group_size, "max_groups": point.launch.max_groups}
    model = point.estimate
    return Candidate(
        found.sign, point.term, sizes, point.launch, limits, model.seconds, model.sentence(), form=found.term
    )


def naive(program: Expr, profile: Profile, device: Device, *, optional: bool = False) -> list[Candidate]:
    """The program as it stands: outer maps over the grid, everything else in sequence.

    With `optional`, none where it has no OpenCL (an accumulator that no work-item can hold); else CodegenError.
    """
    launch = Launch()
    try:
        model = estimate(compile_term(program, launch, device.limits), profile)
    except CodegenError:
        if optional:
            return []
        raise
    return [Candidate("naive", program, {}, launch, device.limits, model.seconds, model.sentence())]


def measured(
    candidates: Sequence[Candidate],
    program: Expr,
    device: Device,
    budget: float | None,
    reassociate: bool,
    fast_math: bool = False,
) -> list[Candidate]:
    """The first few candidates with kernels of their own timed and checked; the rest as they were.

    Where none of the few is right, the next few are tried: no candidate is chosen unchecked if another can be.
    """
    waiting, done = sorted(candidates, key=lambda c: c.estimate), list[Candidate]()
    expected = expect(program)
    while waiting and not any(c.status == "ok" for c in done):
        few = _different(waiting, SAMPLE)
        waiting = [c for c in waiting if c not in few]
        results = time_plans(
            [c.plan for c in few], program, device, budget_seconds=budget, expected=expected, rounded=not reassociate,
            options=FAST_MATH if fast_math else (),
        )  # fmt: skip
        done += [_measured(c, m) for c, m in zip(few, results, strict=True)]
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


def _kernel(program: Expr, device: Device, candidates: Sequence[Candidate], options: dict[str, Any]) -> Kernel:
    usable = [c for c in candidates if c.seconds < float("inf")]
    if not usable:
        reasons = "; ".join(f"{c.structure}: {c.reason}" for c in candidates[:3])
        raise EggliftError(f"no candidate for this program runs on {device.name}: {reasons}")
    timed = [c for c in usable if c.measured is not None]
    chosen = min(timed or usable, key=lambda c: c.seconds)
    return Kernel(program, chosen, device, candidates, options)
