"""Measuring candidates: build, launch, check against the interpreter, time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from egglift.codegen.execute import Executable, Timing
from egglift.codegen.imperative import Plan
from egglift.codegen.runtime import Device, Operand
from egglift.costmodel.check import Expected, expect, flatten
from egglift.ir.errors import BuildError, EggliftError, WrongResult
from egglift.ir.patterns import Expr


@dataclass(frozen=True)
class Measurement:
    """What became of one candidate.

    status: "ok", or why it cannot be chosen: "build" (the compiler refused it), "launch" (it did not run),
    "wrong" (its result disagrees with the interpreter's), "implausible" (its times cannot be true),
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
    report: Callable[[int, Measurement], None] | None = None,
) -> list[Measurement]:
    """Builds, checks and times each of `plans`, candidates for `program`: one Measurement each, in order.

    budget_seconds: no candidate is begun after that time, the first aside.  floor_seconds: what the hardware
    cannot undercut.  expected: computed from `program` and `seed` unless given.  report: called with each.
    """
    start = time.perf_counter()
    share = min(max((budget_seconds or 20.0) / max(len(plans), 1) / 2, 0.05), 1.0)
    results: list[Measurement] = []
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        builds = [pool.submit(_build, device, plan, options) for plan in plans]
        expected = expect(program, seed) if expected is None else expected
        inputs: dict[str, list[Operand]] | None = None
        for i, (plan, build) in enumerate(zip(plans, builds, strict=True)):
            if i and budget_seconds is not None and time.perf_counter() - start > budget_seconds:
                build.cancel()
                result = Measurement(plan, "skipped", f"the budget of {budget_seconds:g} s ran out before it")
            else:
                inputs = inputs or _upload(device, expected)
                result = _measure_one(plan, build, expected, inputs, share, floor_seconds)
            results.append(result)
            if report:
                report(i, result)
    return results


def _build(device: Device, plan: Plan, options: Sequence[str]) -> tuple[Executable, float]:
    start = time.perf_counter()
    return device.build(plan, options), time.perf_counter() - start


def _upload(device: Device, expected: Expected) -> dict[str, list[Operand]]:
    return {name: [device.upload(leaf) for leaf in flatten(value)] for name, value in expected.inputs.items()}


def _measure_one(
    plan: Plan,
    build: Future[tuple[Executable, float]],
    expected: Expected,
    inputs: dict[str, list[Operand]],
    budget: float,
    floor: float,
) -> Measurement:
    """One candidate whose build was begun; never raises for what is the candidate's fault."""
    try:
        executable, built = build.result()
    except BuildError as error:
        return Measurement(plan, "build", _line(error))
    used = {name: inputs[name] for name in plan.inputs}
    try:
        problem = expected.disagreement(executable.run(used, poison=True))
    except WrongResult as error:
        problem = _line(error)
    except EggliftError as error:
        return Measurement(plan, "launch", _line(error), None, executable, built)
    if problem:
        return Measurement(plan, "wrong", problem, None, executable, built)
    try:
        timing = executable.time(used, budget=budget, floor=floor)
    except EggliftError as error:
        return Measurement(plan, "implausible", _line(error), None, executable, built)
    return Measurement(plan, "ok", "", timing, executable, built)


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
