"""A bench measures candidates for one program, one at a time: builds, checks against the interpreter, times."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from egglift.codegen.device.device import Device, Operand
from egglift.codegen.device.execute import Executable, Timing, build
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.expected_results import Expected, expect, flatten
from egglift.costmodel.measurement.own_sample import Sample
from egglift.ir.errors import BuildError, DeviceLost, EggliftError, OutOfMemory, WrongResult
from egglift.ir.parser import loads

#: seconds of timing below which few samples do
BRIEF = 0.05


@dataclass(frozen=True)
class Measurement:
    """What became of one candidate.

    status: "ok", or why it cannot be chosen: "build" (the compiler refused it), "launch" (it did not run),
    "memory" (it did not find room), "wrong" (its result disagrees with the interpreter's), "inaccurate" (it agrees
    but for rounding errors that an order of summation like its own makes), "implausible" (its times cannot be true),
    "hung" (no answer by its deadline), "crashed" (its process died), "lost" (the device stopped serving),
    "skipped" (the budget ran out).  reason: one line, empty when ok.  effort: seconds that timing might take.
    executable: there when it was built in this process.  log: what the compiler said of a kernel it refused.
    """

    plan: Plan
    status: str
    reason: str = ""
    timing: Timing | None = None
    executable: Executable | None = None
    build_seconds: float = 0.0
    effort: float = 0.0
    log: str = field(default="", repr=False)

    @property
    def seconds(self) -> float | None:
        """The median time; None unless it was measured."""
        return self.timing.seconds if self.timing else None


@dataclass(frozen=True)
class Subject:
    """What candidates are measured for: a program's text, the seed of its sample inputs, the options of builds.

    rounded: the program's own order of operations is asked for, and what it loses by rounding is right.
    tf32: matrix units may round the factors of f32 products.  sample: inputs that are given instead of drawn.
    """

    program: str
    seed: int = 0
    options: tuple[str, ...] = ()
    rounded: bool = False
    tf32: bool = False
    sample: Sample = field(default_factory=Sample)


class Bench(Protocol):
    """Where candidates are measured: in this process (`Local`), or in one that may die (remote_bench.Remote)."""

    def prepare(self, plans: Sequence[Plan], until: float, end: float = float("inf")) -> set[str]:
        """Builds `plans` side by side as far as that pays: the digests of those that it has built.

        None is begun after `until` (of time.perf_counter), and where another is built, none waited for after `end`.
        """

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        """Builds and checks `plan`, unless that was done, and times it for about `effort` seconds.

        floor: seconds that the hardware cannot undercut.
        """


class Local:
    """Measures in this process: what a candidate does to the process, it does to the caller."""

    def __init__(self, device: Device, subject: Subject, expected: Expected | None = None) -> None:
        """expected: computed from the subject unless given.  OutOfMemory where its inputs do not fit."""
        self.device, self.subject = device, subject
        self.expected = expected or _expected(subject)
        leaves = {name: flatten(value) for name, value in self.expected.inputs.items()}
        self._inputs = {name: [device.upload(x) for x in values] for name, values in leaves.items()}
        self._checked: dict[str, Measurement] = {}

    def prepare(self, plans: Sequence[Plan], until: float, end: float = float("inf")) -> set[str]:
        """In threads: drivers that hold a lock while they compile gain nothing by it, others up to half the time.

        A thread cannot be ended: what is begun is waited for.
        """

        def unless_late(plan: Plan) -> None:
            if time.perf_counter() < until:
                self.check(plan)

        with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
            list(pool.map(unless_late, plans))
        return {plan.digest for plan in plans} & self._checked.keys()

    def run(self, plan: Plan, effort: float, floor: float = 0.0) -> Measurement:
        """Never raises for what is the candidate's fault."""
        checked = self.check(plan)
        if checked.status != "ok":
            return checked
        assert checked.executable is not None
        least, warmup = (3, 1) if effort < BRIEF else (5, 2)
        try:
            timing = checked.executable.time(self._used(plan), budget=effort, floor=floor, least=least, warmup=warmup)
        except EggliftError as error:
            return replace(checked, status=_status(error, "implausible"), reason=_line(error))
        return replace(checked, timing=timing, effort=effort)

    def check(self, plan: Plan) -> Measurement:
        """`plan` built and checked, unless that was done."""
        if plan.digest not in self._checked:
            self._checked[plan.digest] = self._check(plan)
        return replace(self._checked[plan.digest], plan=plan)

    def _check(self, plan: Plan) -> Measurement:
        """Built and checked, on a queue of its own: PoCL compiles at the first launch, and others would wait for it."""
        start, built, status = time.perf_counter(), 0.0, "ok"
        executable: Executable | None = None
        try:
            executable = build(self.device.sibling(), plan, self.subject.options)
            built = time.perf_counter() - start
            results = executable.run(self._used(plan), poison=True, rows=self.expected.rows)
            problem = self.expected.disagreement(results)
            if problem:
                status = "inaccurate" if self.expected.only_rounded(results) else "wrong"
            if status == "inaccurate" and self.subject.rounded:
                problem, status = "", "ok"
        except BuildError as error:
            return Measurement(plan, "build", _line(error), log=error.log)
        except WrongResult as error:
            problem, status = _line(error), "wrong"
        except EggliftError as error:
            return Measurement(plan, _status(error, "launch"), _line(error), None, executable, built)
        executable = replace(executable, device=self.device) if executable else None
        return Measurement(plan, status, problem or "", None, executable, built)

    def _used(self, plan: Plan) -> dict[str, Sequence[Operand]]:
        """The inputs that a plan reads; a candidate may have found that it does not need all of them."""
        return {name: self._inputs[name] for name in plan.inputs}


def _expected(subject: Subject) -> Expected:
    program = loads(subject.program)
    return expect(program, subject.seed, subject.tf32, subject.sample.values(program))


def _status(error: EggliftError, otherwise: str) -> str:
    match error:
        case OutOfMemory():
            return "memory"
        case DeviceLost():
            return "lost"
    return otherwise


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
