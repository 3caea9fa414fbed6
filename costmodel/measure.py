"""Measuring candidates: build, launch, check against the interpreter, time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from egglift.codegen.execute import Executable, Timing
from egglift.codegen.imperative import Plan
from egglift.codegen.runtime import Device, Operand
from egglift.costmodel.check import Expected, expect, flatten
from egglift.ir.errors import BuildError, EggliftError, WrongResult
from egglift.ir.patterns import Expr

#: seconds of timing for one candidate: no more helps, and less only where the budget is short
TIMING = 0.3
#: the part of a budget in which candidates are built: what is built should be timed, too
BUILDING = 0.5


@dataclass(frozen=True)
class Measurement:
    """What became of one candidate.

    status: "ok", or why it cannot be chosen: "build" (the compiler refused it), "launch" (it did not run),
    "wrong" (its result disagrees with the interpreter's), "inaccurate" (it agrees but for rounding errors that an
    order of summation like its own makes), "implausible" (its times cannot be true),
    "skipped" (the budget ran out).  reason: one line, empty when ok.  executable: there when it was built.
    """

    plan: Plan
    status: str
    reason: str = ""
    timing: Timing | None = None
    executable: Executable | None = None
    build_seconds: float = 0.0

    @property
    def seconds(self) -> float | None:
        """The median time; None unless it was measured."""
        return self.timing.seconds if self.timing else None


@dataclass(frozen=True)
class _Trial:
    """What all candidates of one measurement share.  inputs: on the device.  begun_by: when the last is built."""

    device: Device
    expected: Expected
    inputs: Mapping[str, Sequence[Operand]]
    options: Sequence[str]
    begun_by: float
    deadline: float
    budget: float
    rounded: bool


def measure(
    plans: Sequence[Plan],
    program: Expr,
    device: Device,
    *,
    budget_seconds: float | None = None,
    seed: int = 0,
    floor_seconds: float = 0.0,
    options: Sequence[str] = (),
    expected: Expected | None = None,
    rounded: bool = False,
    report: Callable[[int, Measurement], None] | None = None,
) -> list[Measurement]:
    """Builds, checks and times each of `plans`, candidates for `program`: one Measurement each, in order.

    They are built and checked several at a time, then timed one by one on an otherwise idle device.
    budget_seconds: no candidate is begun after half of that time, nor timed after it, the first aside.
    floor_seconds: what the hardware cannot undercut.  expected: computed from `program` and `seed` unless given.
    rounded: the program's own order of operations is asked for, and what it loses by rounding is right.
    report: called with each.
    """
    budget = float("inf") if budget_seconds is None else budget_seconds
    start = time.perf_counter()
    begun_by, deadline = start + BUILDING * budget, start + budget
    expected = expect(program, seed) if expected is None else expected
    inputs = {
        name: [device.upload(leaf) for leaf in flatten(value)] for name, value in expected.inputs.items()
    }
    trial = _Trial(device, expected, inputs, options, begun_by, deadline, budget, rounded)
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        checked = list(pool.map(lambda i: _checked(plans[i], trial, i == 0), range(len(plans))))
    results: list[Measurement] = []
    for i, candidate in enumerate(checked):
        result = candidate
        if candidate.status == "ok":
            result = _timed(candidate, trial, len(plans) - i, floor_seconds, any(r.timing for r in results))
        results.append(result)
        if report:
            report(i, result)
    return results


def _checked(plan: Plan, trial: _Trial, first: bool) -> Measurement:
    """One candidate built and checked; never raises for what is the candidate's fault.

    It runs on a queue of its own: PoCL compiles at the first launch, and a shared queue would wait for it.
    """
    start = time.perf_counter()
    if start > trial.begun_by and not first:
        return _skipped(plan, trial)
    executable, built = None, 0.0
    try:
        executable = trial.device.sibling().build(plan, trial.options)
        built = time.perf_counter() - start
        found = executable.run(_used(plan, trial), poison=True, rows=trial.expected.rows)
        problem = trial.expected.disagreement(found)
        status = "ok"
        if problem:
            status = "inaccurate" if trial.expected.only_rounded(found) else "wrong"
        if status == "inaccurate" and trial.rounded:
            problem, status = "", "ok"
    except BuildError as error:
        return Measurement(plan, "build", _line(error))
    except WrongResult as error:
        problem, status = _line(error), "wrong"
    except EggliftError as error:
        return Measurement(plan, "launch", _line(error), None, executable, built)
    executable = replace(executable, device=trial.device) if executable else None
    return Measurement(plan, status, problem or "", None, executable, built)


def _timed(checked: Measurement, trial: _Trial, left: int, floor: float, others: bool) -> Measurement:
    """A right candidate with its time; the first is timed whatever the budget says."""
    remaining = trial.deadline - time.perf_counter()
    if remaining <= 0 and others:
        return _skipped(checked.plan, trial)
    budget = min(TIMING, max(remaining / left, 0.05))
    assert checked.executable is not None
    try:
        timing = checked.executable.time(_used(checked.plan, trial), budget=budget, floor=floor)
    except EggliftError as error:
        return replace(checked, status="implausible", reason=_line(error))
    return replace(checked, timing=timing)


def _skipped(plan: Plan, trial: _Trial) -> Measurement:
    return Measurement(plan, "skipped", f"the budget of {trial.budget:g} s ran out before it")


def _used(plan: Plan, trial: _Trial) -> dict[str, Sequence[Operand]]:
    """The inputs that a plan reads; a candidate may have found that it does not need all of them."""
    return {name: trial.inputs[name] for name in plan.inputs}


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
