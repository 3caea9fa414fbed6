"""The benchmark suite: programs beside their peers on the same device in the same run, and the physical floor.

    python -m benchmarks run [PROGRAM[:SIZE] ...] [--suite all] [--device NAME] [--against numpy,numba,clblast,...]
                             [--out FOLDER] [--cluster ADDRESS]

Writes FOLDER/NAME.json after every program, then NAME.md and the figures.  The device is calibrated first, as floors
are made of measured rates.  With --cluster the searches run on a dask cluster; what is timed is timed here, one after
the other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import figures, report
from benchmarks.baselines import torch_seconds
from benchmarks.blas import blas_seconds
from benchmarks.demo import best, difference
from benchmarks.floor import floor
from benchmarks.line import Line
from benchmarks.peers import absent, peer
from benchmarks.programs.catalogue import Entry, Size, size_text
from benchmarks.published import published
from benchmarks.setting import setting
from egglift.batch import ahead, search
from egglift.candidate import Candidate
from egglift.codegen.device.device import Device
from egglift.costmodel.calibration.calibrate import calibrate
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.text import dumps
from egglift.kernel import kernel_of
from egglift.options import Options
from egglift.processes.executors import workers
from egglift.timing import measured as timed

#: seconds of measuring for each program
BUDGET = 20.0


def measured(
    e: Entry, size: Size, device: Device, profile: Profile, against: Sequence[str], found: Sequence[Candidate] | None
) -> Line:
    """Measures the candidates of one program (searches for them where none are given), and its peers on its inputs."""
    program, inputs = as_program(e.program(*size)), e.inputs(*size, np.random.default_rng(size))
    start = time.perf_counter()
    candidates = found or search(dumps(program), profile, device.limits)
    searched = None if found else time.perf_counter() - start
    candidates = timed(candidates, Subject(dumps(program)), device, Measuring(budget=BUDGET), None)
    kernel = kernel_of(program, device, candidates, Options())
    least = floor(program, profile, e.operations(*size) if e.operations else None)
    return Line(
        e.name,
        size_text(size),
        kernel.profile(**inputs).seconds,
        least.seconds,
        least.bound,
        kernel.chosen.structure,
        searched,
        dict(_peers(e, inputs, device, against)),
        published(e.name),
        tuple((c.structure, c.estimate, c.measured) for c in candidates),
        difference(program, e.reference(**inputs), kernel(**inputs)) or "equal",
    )


def _peers(e: Entry, inputs: dict[str, Any], device: Device, against: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The peers that have the program, with their seconds; NumPy, numexpr and numba run on the host's CPU."""
    for kind in against:
        seconds: float | None = None
        if kind == "numpy":
            seconds = best(lambda: e.reference(**inputs))
        elif kind == "torch":
            seconds = torch_seconds(e.name, inputs)
        elif kind == "clblast":
            seconds = blas_seconds(e.name, inputs, device)
        elif run := peer(kind, e.name):
            seconds = best(_call(run, inputs))
        if seconds:
            yield kind, seconds


def _call(run: Callable[..., Any], inputs: dict[str, Any]) -> Callable[[], Any]:
    return lambda: run(**inputs)


# ---------------------------------------------------------------------------------------- a run


def run(
    name: str,
    jobs: Sequence[tuple[Entry, Size]],
    device: Device,
    against: Sequence[str],
    out: Path,
    cluster: str | None = None,
    ahead_by: int = 0,
    measure: bool = True,
) -> list[Line]:
    """Runs programs, each at a size, and writes `out`/`name`.json, .md and figures.

    cluster: whose workers search, as for `egglift.processes.executors`; ahead_by: processes of this machine that do,
    ahead of what is timed (0: each program is searched when its turn comes; on a CPU the search would disturb the
    timing).
    measure: the device's rates are measured first; else they are those that are known of it.

    A program without a kernel gets a line that says so; a peer that is not installed has no column.
    """
    profile, lines = calibrate(device) if measure else load_profile(device), list[Line]()
    missing = {kind: reason for kind in against if (reason := absent(kind))}
    against = [kind for kind in against if kind not in missing]
    out.mkdir(parents=True, exist_ok=True)
    facts = setting(device) | {"profile": asdict(profile), "absent peers": missing}
    with ExitStack() as stack:
        for (e, size), found in zip(jobs, _found(stack, jobs, device, profile, cluster, ahead_by), strict=True):
            lines.append(_line(e, size, device, profile, against, found))
            print(report.row(lines[-1], against), flush=True)
            data = facts | {"results": [asdict(line) for line in lines]}
            (out / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (out / f"{name}.md").write_text(report.markdown(lines, against, missing, device))
    figures.draw(lines, against, out / name)
    return lines


def _found(
    stack: ExitStack,
    jobs: Sequence[tuple[Entry, Size]],
    device: Device,
    profile: Profile,
    cluster: str | None,
    ahead_by: int,
) -> Iterator[Sequence[Candidate] | str | None]:
    """The candidates of every program from workers; None for each where there are none."""
    if cluster is None and not ahead_by:
        return iter([None] * len(jobs))
    pool = stack.enter_context(workers(cluster, ahead_by or None))
    return ahead(pool, [dumps(as_program(e.program(*size))) for e, size in jobs], profile, device.limits)


def _line(
    e: Entry,
    size: Size,
    device: Device,
    profile: Profile,
    against: Sequence[str],
    found: Sequence[Candidate] | str | None,
) -> Line:
    """The line of one program; a failure is a line, too."""
    try:
        if isinstance(found, str):
            raise EggliftError(found)
        return measured(e, size, device, profile, against, found)
    except EggliftError as error:
        return Line(e.name, size_text(size), None, 0.0, "", "", result=" ".join(str(error).split()))
