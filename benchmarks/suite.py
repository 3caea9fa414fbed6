"""The benchmark suite: programs beside their peers on the same device in the same run, and the physical floor.

    python -m benchmarks run [--suite vectors] [--device NAME] [--against numpy,numexpr,numba,torch] [--out FOLDER]

Writes FOLDER/NAME.json, FOLDER/NAME.md and FOLDER/NAME.png.  The device is calibrated first: the floor is what a
program must move over the bandwidth that was measured, of the cache where all of it stays there between calls.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import egglift as el
from benchmarks.baselines import torch_seconds
from benchmarks.carried import traffic
from benchmarks.demo import best, difference
from benchmarks.peers import peer
from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.codegen.runtime import Device, open_device
from egglift.costmodel.calibrate import calibrate
from egglift.costmodel.profile import Profile
from egglift.ir.lifting import as_program

#: names of suites: programs, each with a size
SUITES: dict[str, tuple[str, ...]] = {
    "vectors": tuple(
        f"{name}:1048576"
        for name in ("scal", "axpy", "vec_sum", "asum", "dot", "nrm2", "arg_max", "black_scholes", "ten_maps")
    ) + ("gemv:1024", "softmax_rows:1000"),
    "products": (
        "matmul-f32:512,512,512", "matmul-f32:1000,1003,997", "gemm-nt:512,512,512", "linear_relu:512,512,512",
        "pair_distances-squared:1000,1003,17", "nbody:1000", "mri_q:1000,1003", "gaussian_kernels:1000,1003",
    ),
    "stencils": tuple(
        f"{name}:1000,1003" for name in ("jacobi_2d-5", "jacobi_2d-9", "gaussian_blur-9", "gaussian_blur-25", "sobel",
        "gradient", "game_of_life", "hotspot_2d", "srad-1", "stencil_2d")
    ) + ("jacobi_3d-7:256,256,256", "heat_3d:256,256,256", "acoustic:256,256,256"),
}  # fmt: skip
SUITES["all"] = tuple(dict.fromkeys(p for suite in SUITES.values() for p in suite))
PEERS = ("numpy", "numexpr", "numba", "torch")
#: what the literature calls the programs
LIFT = {
    "scal": "scal", "asum": "asum", "dot": "dot", "gemv": "gemv", "black_scholes": "BlackScholes", "mri_q": "MRI-Q",
    "nbody": "N-Body(NV-SDK)", "matmul-f32": "MM", "jacobi_2d-5": "Jacobi2D5pt", "jacobi_2d-9": "Jacobi2D9pt",
    "gaussian_blur-25": "Gaussian", "gradient": "Gradient", "hotspot_2d": "Hotspot2D", "srad-1": "SRAD1",
    "stencil_2d": "Stencil2D", "jacobi_3d-7": "Jacobi3D7pt", "heat_3d": "Heat", "acoustic": "Acoustic",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One program: seconds of the chosen kernel, of the floor and of the peers; `lift`: ratios that Lift reports."""

    program: str
    size: str
    seconds: float
    optimize: float
    floor: float
    bound: str
    structure: str
    peers: dict[str, float] = field(default_factory=dict)
    lift: tuple[float, float] | None = None
    result: str = "equal"


def measured(e: Entry, size: Size, device: Device, profile: Profile, against: Sequence[str]) -> Line:
    """Optimises, checks and times one program, and its peers on the same inputs."""
    program, inputs = e.program(*size), e.inputs(*size, np.random.default_rng(size))
    start = time.perf_counter()
    kernel = el.optimize(program, device, budget=20.0, cache=False)
    took = time.perf_counter() - start
    want = e.reference(**inputs)
    problem = difference(program, want, kernel(**inputs))
    floor, bound = _floor(traffic(as_program(program)), profile)
    return Line(
        e.name, size_text(size), kernel.profile(**inputs).seconds, took, floor, bound, kernel.chosen.structure,
        dict(_peers(e, inputs, against)), published(e.name), problem or "equal",
    )  # fmt: skip


def _floor(moved: int, profile: Profile) -> tuple[float, str]:
    """Seconds that moving so many bytes takes, and from where to where."""
    if moved <= profile.cache_bytes:
        return moved / profile.cache_bandwidth, "cache"
    return moved / profile.bandwidth, "memory"


def _peers(e: Entry, inputs: dict[str, Any], against: Sequence[str]) -> Iterator[tuple[str, float]]:
    for kind in against:
        if kind == "numpy":
            yield kind, best(lambda: e.reference(**inputs))
        elif kind == "torch":
            if seconds := torch_seconds(e.name, inputs):
                yield kind, seconds
        elif run := peer(kind, e.name):
            yield kind, best(_call(run, inputs))


def _call(run: Callable[..., Any], inputs: dict[str, Any]) -> Callable[[], Any]:
    return lambda: run(**inputs)


def published(name: str, path: Path | None = None) -> tuple[float, float] | None:
    """The least and the largest ratio that Lift's papers report for a program, over its baselines there."""
    file = path or Path(__file__).parent / "lift_ratios.csv"
    if name not in LIFT or not file.is_file():
        return None
    with file.open() as rows:
        found = [float(r["lift_over_baseline"]) for r in csv.DictReader(rows) if r["benchmark"] == LIFT[name]]
    return (min(found), max(found)) if found else None


# ---------------------------------------------------------------------------------------- results


def markdown(lines: Sequence[Line], device: Device) -> str:
    """A table: our time, how much of the floor, how many times faster than each peer, and what Lift reports."""
    kinds = [k for k in PEERS if any(k in line.peers for line in lines)]
    head = ["program", "size", "us", "of the floor", *(f"x {k}" for k in kinds), "Lift over its baselines", "result"]
    rows = [f"{device.name}, driver {device.driver}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for line in lines:
        ratios = [f"{line.peers[k] / line.seconds:.2f}" if k in line.peers else "" for k in kinds]
        share = f"{line.floor / line.seconds:.2f} ({line.bound})"
        lift = "{:.2f} to {:.2f}".format(*line.lift) if line.lift else ""
        cells = [line.program, line.size, f"{1e6 * line.seconds:.1f}", share, *ratios, lift, line.result]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def plot(lines: Sequence[Line], out: Path) -> None:
    """Bars: how many times faster than each peer, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = [k for k in PEERS if any(k in line.peers for line in lines)]
    figure, axis = pyplot.subplots(figsize=(max(6, 0.42 * len(lines)), 3.6), constrained_layout=True)
    for i, kind in enumerate(kinds):
        own = [(n, line.peers[kind] / line.seconds) for n, line in enumerate(lines) if kind in line.peers]
        places = [n + (i - (len(kinds) - 1) / 2) * 0.8 / len(kinds) for n, _ in own]
        axis.bar(places, [r for _, r in own], 0.8 / len(kinds), label=kind, bottom=0)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set(yscale="log", ylabel="times faster than", xticks=range(len(lines)))
    axis.set_xticklabels([f"{line.program}\n{line.size}" for line in lines], rotation=90, fontsize=7)
    axis.legend(fontsize="small")
    figure.savefig(out, dpi=120)


def run(suite: str, device_name: str | None, against: Sequence[str], out: Path) -> list[Line]:
    """Runs a suite and writes its results after every program."""
    device = open_device(device_name)
    profile, lines = calibrate(device, report=lambda line: None), list[Line]()
    out.mkdir(parents=True, exist_ok=True)
    name = f"{'pocl' if profile.kind == 'cpu' else 'gpu'}_{suite}"
    for e, size in chosen(SUITES[suite], lambda e: e.sizes[-1]):
        lines.append(measured(e, size, device, profile, against))
        print(markdown(lines[-1:], device).splitlines()[-1], flush=True)
        setting = {"device": device.name, "driver": device.driver, "date": datetime.now(UTC).date().isoformat()}
        versions = {"egglift": version("egglift"), "numpy": np.__version__}
        data = setting | {"versions": versions, "results": [asdict(line) for line in lines]}
        (out / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (out / f"{name}.md").write_text(markdown(lines, device))
    try:
        plot(lines, out / f"{name}.png")
    except ImportError:
        print("no plot: matplotlib is not installed (pip install 'egglift[bench]')")
    ratios = [line.peers["numpy"] / line.seconds for line in lines if "numpy" in line.peers]
    if ratios:
        print(f"median of the ratios to NumPy: {median(ratios):.2f}; results in {out}")
    return lines
