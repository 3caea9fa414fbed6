"""`optimize`: from a program to the fastest equal kernel.  The pipeline is the architecture: read it below."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack, overload

from egglift.admission import admit
from egglift.candidate import Candidate, best_first
from egglift.cluster import Cluster
from egglift.codegen.device.device import FAST_MATH, Device, open_device
from egglift.costmodel.links.links import Links, load_links
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measuring import DEADLINE, SAMPLE, Measuring
from egglift.costmodel.measurement.own_sample import Sample
from egglift.costmodel.measurement.worker_pool import begun
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.egraph.rules.limits import Limits
from egglift.few_steps import few_steps
from egglift.granted import for_laws, granted
from egglift.ir.deadline import left, until
from egglift.ir.deep import deeply
from egglift.ir.errors import ArgumentError, EggliftError
from egglift.ir.inner_program import inner
from egglift.ir.keywords import explain
from egglift.ir.lengths_liked import choices_of_lengths, with_like
from egglift.ir.lifting import as_program
from egglift.ir.pairs import paired
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr, Iterate
from egglift.ir.run_time_lengths import lengths_of, liked
from egglift.ir.text import brief, dumps
from egglift.kernel import Kernel, kernel_of, runs
from egglift.length_kernel import LengthKernel
from egglift.memory import journal, recall, remember
from egglift.optimize_lengths import candidates_for_lengths, general_program
from egglift.options import Asked, Laws, Options, texts, useful
from egglift.processes.interrupts import Interrupts
from egglift.progress_bar import shown
from egglift.research import left_out
from egglift.steps import time_steps
from egglift.suspects import suspicion
from egglift.timing import measured
from egglift.wishes import Wishes

if TYPE_CHECKING:
    from egglift.distribution.kernel import DistributedKernel
    from egglift.search import Searched

#: parts of a budget for the search: at most, and of it for laws where schedules have found something
SEARCHING, NEARLY_ALL = (0.7, 0.5), 0.9
#: seconds for a call, however short its budget: something must be found to be returned
LEAST = 1.0


@overload
def optimize(
    expr: Any,
    device: object = None,
    *,
    devices: None = None,
    measure: str = "sample",
    budget: float | None = None,
    reassociate: bool = True,
    fast_math: bool = False,
    allow_tf32: bool = False,
    rules: Sequence[str] = (),
    without: Sequence[str] = (),
    only: Sequence[str] | None = None,
    require: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    group_size: Sequence[int] | int | None = None,
    parallel: int | None = None,
    candidates: int | None = None,
    limits: Limits | None = None,
    cache: bool = True,
    measurements: int = SAMPLE,
    isolate: bool = True,
    deadline: float = DEADLINE,
    verbose: bool | None = None,
    on_interrupt: str = "raise",
    sample: Mapping[str, Any] | None = None,
) -> Kernel:
    """On one device."""


@overload
def optimize(
    expr: Any,
    *,
    devices: Sequence[object] | str,
    distribution: Mapping[str, str] | str | None = None,
    memory: int | None = None,
    **options: Unpack[Asked],
) -> DistributedKernel:
    """On several devices."""


def optimize(
    expr: Any,
    device: object = None,
    *,
    devices: Sequence[object] | str | None = None,
    distribution: Mapping[str, str] | str | None = None,
    memory: int | None = None,
    measure: str = "sample",
    budget: float | None = None,
    reassociate: bool = True,
    fast_math: bool = False,
    allow_tf32: bool = False,
    rules: Sequence[str] = (),
    without: Sequence[str] = (),
    only: Sequence[str] | None = None,
    require: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    group_size: Sequence[int] | int | None = None,
    parallel: int | None = None,
    candidates: int | None = None,
    limits: Limits | None = None,
    cache: bool = True,
    measurements: int = SAMPLE,
    isolate: bool = True,
    deadline: float = DEADLINE,
    verbose: bool | None = None,
    on_interrupt: str = "raise",
    sample: Mapping[str, Any] | None = None,
) -> Kernel | DistributedKernel:
    """The fastest equal OpenCL program for `expr` on `device`, as a callable; on several, where `devices` names them.

    device: a pyopencl Device, Context or CommandQueue, "cpu", "gpu", a part of a device's name, or None (the
    environment variable EGGLIFT_DEVICE, else the first GPU, else PoCL).
    devices: several of these, "all" there are, or the address of a dask scheduler, whose workers compute
    ("tcp://host:8786"): each computes a part (docs/devices.md).  distribution: how they have
    the inputs, by name: "block", "overlap", "copy" or "single"; one of these words is for all that it is possible for;
    None: the model decides, also whether more than one device pays.  memory: bytes that each of them may use; what does
    not fit is computed in blocks, one after the other.
    measure: "sample" times the best few
    candidates, each checked against the interpreter; "none" trusts the analytic model: its choice is the only
    candidate, for which little is generated, unless something is asked of the kernel (sizes, candidates and the like).
    budget: seconds for the whole call, search, builds, checks and timing: with few the model's choice may come back
    unchecked, with a RuntimeWarning; less than a second is taken for one.  None: the search takes its time, and
    measuring at most 8 s unless none is right by then.
    reassociate: may the order of floating-point operations change?  fast_math: may the compiler use less exact
    functions, and take numbers for finite and denormal ones for zero (-cl-fast-relaxed-math)?
    allow_tf32: may the matrix units of a GPU multiply f32s?  They round the factors of products to 11 bits (tf32); sums
    stay f32.  `explain` says where they do.
    rules: further laws, as .egg text.  without: names of laws that are left out; only: of those that rewrite the
    program, besides the ones that lower it; "schedules" is the name of all schedules of stages.  RuleError lists the
    laws.
    require: laws that the kernel must need: without any of them it is not found.  sizes: lengths of tiles, by the
    names in `kernel.chosen.parameters`; group_size: work-items of a group, in all, or for each dimension; parallel:
    dimensions of the grid, 1, 2 or 3; candidates: how many, the best by the model, are looked at.  Where none is so,
    ArgumentError says what there is.
    limits: when saturation stops (`el.Limits(rows=..., seconds=...)`).
    cache: use and keep records of earlier results.  Each measurement is kept at once: Ctrl-C loses none.  The
    environment variable EGGLIFT_CACHE is the folder, "off" for none; else it is the user's cache folder.
    measurements: how many candidates are built, checked and timed.  More are tried only if none of these can be chosen.
    isolate: measure in a process of its own.  A candidate that crashes the driver, or takes more than `deadline`
    seconds, then ends that process only, and is recorded with the reason.
    verbose: None: a line on stderr shows how far it has come, if that is a terminal; True: lines, wherever it goes;
    False: nothing.  The loggers below "egglift" are told in any case.
    on_interrupt: "raise": Ctrl-C ends the call; "best": it ends search and measuring, and the best so far is returned.
    sample: values of inputs, of all or some, by name, with which candidates are checked and timed; others are drawn.
    For indices, lengths of groups and conditions on data, where drawn numbers stand for none of yours.  ArgumentError
    where one does not fit.
    """
    start = perf_counter()
    measuring = Measuring(measurements, budget, isolate, deadline)
    laws = Laws(reassociate, texts(rules), tf32=allow_tf32, limits=limits or Limits())
    if without or only is not None:
        laws = replace(laws, disabled=left_out(laws.rules, without, only))
    wishes = Wishes.of(require, sizes, group_size, parallel, candidates)
    if require:
        laws = for_laws(laws, wishes)
    program = as_program(expr)
    own = Sample.of(program, sample)
    options = Options(laws, measure, measuring, fast_math, wishes, cache, on_interrupt, own)
    if devices is not None:
        if own.data:
            raise ArgumentError("sample is for one device: of several, each has a part of the inputs")
        _require_real(program)
        end = float("inf") if budget is None else start + max(budget, LEAST)
        with shown(verbose):
            return deeply(lambda: _several(program, devices, distribution, memory, options, end))
    if distribution is not None or memory is not None:
        raise ArgumentError("distribution and memory are for devices=[...]: name the devices")
    opened = open_device(device)
    admit(liked(inner(program)), opened)
    profile = load_profile(opened)
    options = replace(options, laws=useful(options.laws, profile))
    with until(float("inf") if budget is None else start + max(budget, LEAST)), shown(verbose):
        pipeline = _over_lengths if lengths_of(program) else _pipeline
        return deeply(lambda: pipeline(program, opened, profile, options))


def _require_real(program: Expr) -> None:
    if paired(program) is not program:
        raise ArgumentError(
            f"{brief(program)} has complex numbers, which are computed on one device: leave devices= out, or give each "
            "device the real and imaginary parts as arrays of their own"
        )


def _several(
    program: Expr,
    spec: Any,
    distribution: Mapping[str, str] | str | None,
    memory: int | None,
    options: Options,
    end: float,
) -> DistributedKernel:
    """The kernel of several devices; each device's own are made as for one."""
    from egglift.distribution.building import Request, distributed_kernel
    from egglift.distribution.opening import open_devices

    def single(part: Expr, device: Device, known: Any) -> Kernel:
        """The kernel of one of them; known: that of the same program on a device of the same kind."""
        if known is not None:
            return kernel_of(part, device, known.candidates, options)
        admit(part, device)
        profile = load_profile(device)
        return _pipeline(part, device, profile, replace(options, laws=useful(options.laws, profile)))

    again = time_steps(program)
    cluster = Cluster.at(spec, computed, options) if isinstance(spec, str) and "://" in spec else None
    opened = cluster.devices if cluster else open_devices(spec)
    request = Request(program, opened, distribution, memory, options.laws.reassociate)
    if again is not None and isinstance(again.whole, Iterate) and len(again.states) == 1:
        request = replace(request, again=(again.program, again.state.name, again.whole))
    if cluster:
        request = replace(request, distribution=distribution or "block", remote=True)
        return distributed_kernel(request, cluster.kernel, Links())
    return distributed_kernel(request, single, load_links(opened), end)


def computed(text: str, options: Options, args: tuple[Any, ...]) -> Any:
    """The value of a program's text, in a worker of a cluster: by a kernel that it finds once."""
    kernel = _of_worker.get((text, options))
    if kernel is None:
        own = replace(options, measuring=replace(options.measuring, isolate=False))  # a worker has no children
        with until(float("inf")):
            device, program = open_device(None), loads(text)
            kernel = deeply(lambda: _pipeline(program, device, load_profile(device), own))
        _of_worker[text, options] = kernel
    return kernel(*args)


_of_worker: dict[tuple[str, Options], Kernel] = {}


def _pipeline(program: Expr, device: Device, profile: Profile, options: Options) -> Kernel:
    """Remembered, or searched and measured; all that is done with complex numbers is done with pairs of floats."""
    return kernel_of(program, device, _candidates(inner(program), device, profile, options), options)


def _candidates(program: Expr, device: Device, profile: Profile, options: Options) -> list[Candidate]:
    known = remembered(program, device, options) if options.cache else None
    if known is not None and not _unchecked(known, options):
        return known
    interrupts = Interrupts(options.on_interrupt == "best")
    isolated = options.is_measured and options.measuring.isolate
    with begun(device, _measured_subject(program, options)) if isolated else nullcontext():
        candidates = known or _found(program, device, profile, options, interrupts)
        return _chosen(candidates, program, device, options, interrupts)


def _unchecked(candidates: Sequence[Candidate], options: Options) -> bool:
    """Did a budget end before any of them was checked?"""
    return options.is_measured and candidates[0].status == "model"


def _found(
    program: Expr, device: Device, profile: Profile, options: Options, interrupts: Interrupts
) -> list[Candidate]:
    """Searched, not measured."""
    from egglift.search import Searched  # loads egglog, which a process that is forked later cannot use

    several = options.is_measured or options.wishes != Wishes()  # else nothing is asked of other candidates
    search = Searched(program, profile, device.limits, options.laws, several)
    with interrupts.caught():
        _search(search, options)
    if interrupts.met:
        search.complete()
    return best_first(granted(search.candidates, options.wishes, program, profile, options.laws))


def _chosen(
    candidates: list[Candidate], program: Expr, device: Device, options: Options, interrupts: Interrupts
) -> list[Candidate]:
    """Measured, and kept for later calls: what a budget leaves unchecked is not searched again, but checked."""
    if options.is_measured and not interrupts.met:
        candidates = _timed(candidates, program, device, options, interrupts)
        if _unchecked(candidates, options) and not interrupts.met:
            why = "no candidate was checked, as there was no time, or no memory, for it: the choice is the model's"
            warnings.warn(why, RuntimeWarning, stacklevel=8)
    worth = not _unchecked(candidates, options) or any(c.term != program for c in candidates)
    if (blamed := suspicion(candidates, options.laws)) is not None:
        warnings.warn(blamed, RuntimeWarning, stacklevel=8)
        worth = False  # what wrong laws found is kept from later calls: they are warned too
    if options.cache and worth and not interrupts.met:
        remember(program, device, options, candidates)
    return candidates


def _over_lengths(program: Expr, device: Device, profile: Profile, options: Options) -> LengthKernel:
    """The kernel of a program whose lengths are known when it is called: of those for each lengths that they like."""
    if options.wishes != Wishes():
        raise ArgumentError(
            "require, sizes, group_size, parallel and candidates are for programs whose lengths are numbers"
        )
    choices = choices_of_lengths(program)
    first, *others = (_near(with_like(program, i), device, profile, options) for i in range(choices))
    if not others:
        return first
    return LengthKernel(program, first.chosen, device, first.candidates, options, others=others)


def _near(program: Expr, device: Device, profile: Profile, options: Options) -> LengthKernel:
    """The kernel of a program whose kernels are chosen for one length each."""
    candidates = _candidates_near(inner(program), device, profile, options)
    return LengthKernel(program, runs(candidates, device), device, candidates, options)


def _candidates_near(program: Expr, device: Device, profile: Profile, options: Options) -> list[Candidate]:
    known = recall(program, device, options) if options.cache else None
    if known is not None and known.own and not _unchecked(known.candidates, options):
        return known.candidates
    own = known is not None and known.own
    candidates = known.candidates if known and own else candidates_for_lengths(program, device, profile, options)
    if options.is_measured:
        candidates = _timed(candidates, general_program(program), device, options)
    if options.cache:
        remember(program, device, options, candidates)
    return candidates


def _plain(program: Expr, device: Device, options: Options) -> Kernel:
    """A program whose lengths are numbers, with options that are checked already."""
    with until(float("inf")):
        return deeply(lambda: _pipeline(program, device, load_profile(device), options))


LengthKernel.optimised = _plain


def _search(search: Searched, options: Options) -> None:
    """Has it go as far as its part of the time."""
    seconds, now = left(), perf_counter()
    most, enough = SEARCHING if options.is_measured else (NEARLY_ALL, NEARLY_ALL)
    with until(now + most * seconds):
        search.by_all_ways(now + enough * seconds)
    if not search.candidates:  # a choice by the model is worth more than to measure the program as it stands
        search.several = False
        with until(now + NEARLY_ALL * seconds):
            search.by_all_ways()
    search.complete()


def _timed(
    candidates: Sequence[Candidate],
    program: Expr,
    device: Device,
    options: Options,
    interrupts: Interrupts = Interrupts(),
) -> list[Candidate]:
    """Those that are worth it measured; with the cache, what was measured before is taken over."""
    few = few_steps(program)
    shorter = [(few.of(c), c) for c in candidates] if few is not None else []
    pairs = [(short, c) for short, c in shorter if short is not None]
    subject = _measured_subject(program, options) if pairs else _subject(program, options)
    kept = journal(subject, device, options.measuring.budget) if options.cache else None
    if few is None or not pairs:
        return measured(candidates, subject, device, options.measuring, kept, interrupts)
    found = measured([short for short, _ in pairs], subject, device, options.measuring, kept, interrupts)
    whole, profile = {(short.term, short.launch): c for short, c in pairs}, load_profile(device)
    done = [few.measured(whole[short.term, short.launch], short, profile) for short in found]
    return best_first([*done, *(c for short, c in shorter if short is None)])


def _measured_subject(program: Expr, options: Options) -> Subject:
    """What is checked and timed: of a long iteration, few steps."""
    few = few_steps(program)
    return _subject(program if few is None else few.program, options)


def _subject(program: Expr, options: Options) -> Subject:
    """What candidates for a program are measured for."""
    flags = FAST_MATH if options.fast_math else ()
    rounded, tf32 = not options.laws.reassociate, options.laws.tf32
    return Subject(dumps(program), options=flags, rounded=rounded, tf32=tf32, sample=options.sample)


def remembered(program: Expr, device: Device, options: Options) -> list[Candidate] | None:
    """What an earlier call found; what this user's egglift did not write so is measured before it is trusted."""
    known = recall(program, device, options)
    if known is None:
        return None
    if known.own:
        return known.candidates
    best = [
        replace(c, measured=None, status="model", reason="")
        for c in best_first(known.candidates)[:1]
        if c.seconds < float("inf")
    ]
    try:
        checked = _timed(best, program, device, replace(options, cache=False))
    except EggliftError:
        return None
    if not any(c.status == "ok" for c in checked):
        warnings.warn("a record in the cache is wrong: the program is optimised again", RuntimeWarning, stacklevel=3)
        return None
    remember(program, device, options, checked)
    return checked


explain(globals())
