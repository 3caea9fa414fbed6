"""`optimize`: from a program to the fastest equal kernel.  The pipeline is the architecture: read it below."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from egglift.admission import admit
from egglift.candidate import Candidate
from egglift.codegen.device.device import FAST_MATH, Device, open_device
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measuring import DEADLINE, SAMPLE, Measuring
from egglift.costmodel.measurement.worker_pool import worker_for
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.ir.deep import deeply
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.kernel import Kernel, kernel_of
from egglift.memory import journal, recall, remember
from egglift.options import Laws, Options, texts, useful
from egglift.timing import measured


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
    cache: use and keep records of earlier results.  What was measured is kept at once, and survives Ctrl-C.
    measurements: how many candidates are built, checked and timed; more only where none of them can be chosen.
    isolate: measure in a process of its own, such that a candidate that crashes the driver, or takes more than
    `deadline` seconds, is recorded as such and harms nothing.
    """
    measuring = Measuring(measurements, budget, isolate, deadline)
    options = Options(Laws(reassociate, texts(rules)), measure, measuring, fast_math, cache)
    program, opened = as_program(expr), open_device(device)
    admit(program, opened)
    profile = load_profile(opened)
    options = replace(options, laws=useful(options.laws, profile))
    return deeply(lambda: _pipeline(program, opened, profile, options))


def _pipeline(program: Expr, device: Device, profile: Profile, options: Options) -> Kernel:
    """Remembered, or searched and measured."""
    from egglift.search import searched  # loads egglog, which a process that is forked later cannot use

    if options.cache and (known := remembered(program, device, options)) is not None:
        return kernel_of(program, device, known, options)
    if options.is_measured and options.measuring.isolate:
        worker_for(device)  # it starts while the program is searched

    candidates = searched(program, profile, device.limits, options.laws)
    if options.is_measured:
        candidates = _timed(candidates, program, device, options)
    candidates = sorted(candidates, key=lambda c: c.seconds)
    if options.cache:
        remember(program, device, options, candidates)
    return kernel_of(program, device, candidates, options)


def _timed(candidates: Sequence[Candidate], program: Expr, device: Device, options: Options) -> list[Candidate]:
    """Those that are worth it measured; with the cache, what was measured before is taken over."""
    flags = FAST_MATH if options.fast_math else ()
    subject = Subject(dumps(program), options=flags, rounded=not options.laws.reassociate)
    kept = journal(subject, device, options.measuring.budget) if options.cache else None
    return measured(candidates, subject, device, options.measuring, kept)


def remembered(program: Expr, device: Device, options: Options) -> list[Candidate] | None:
    """What an earlier call found; what this user's egglift did not write so is measured before it is trusted."""
    known = recall(program, device, options)
    if known is None:
        return None
    if known.own:
        return known.candidates
    usable = [c for c in known.candidates if c.seconds < float("inf")]
    best = [replace(c, measured=None, status="model", reason="") for c in sorted(usable, key=lambda c: c.seconds)[:1]]
    try:
        checked = _timed(best, program, device, replace(options, cache=False))
    except EggliftError:
        return None
    if not any(c.status == "ok" for c in checked):
        warnings.warn("a record in the cache is wrong: the program is optimised again", RuntimeWarning, stacklevel=3)
        return None
    remember(program, device, options, checked)
    return checked
