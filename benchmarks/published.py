"""What the papers about Lift report of the same programs: its time against the baselines there."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

#: what the papers call the programs
LIFT: dict[str, tuple[str, ...]] = {
    "scal": ("scal",),
    "asum": ("asum",),
    "dot": ("dot",),
    "gemv": ("gemv", "GEMV"),
    "gesummv": ("GESUMMV",),
    "atax": ("ATAX",),
    "black_scholes": ("BlackScholes",),
    "matmul-f32": ("MM", "sgemm"),
    "gemm-nn": ("sgemm",),
    "mri_q": ("MRI-Q",),
    "nbody": ("N-Body(NV-SDK)", "N-Body(AMD-SDK)"),
    "molecular_dynamics": ("MD",),
    "kmeans": ("K-Means",),
    "record_distances": ("NN",),
    "convolution_17-given": ("Convolution",),
    "jacobi_2d-5": ("Jacobi2D5pt",),
    "jacobi_2d-9": ("Jacobi2D9pt",),
    "gaussian_blur-25": ("Gaussian",),
    "gradient": ("Gradient",),
    "hotspot_2d": ("Hotspot2D",),
    "hotspot_3d": ("Hotspot3D",),
    "srad-1": ("SRAD1",),
    "srad-2": ("SRAD2",),
    "stencil_2d": ("Stencil2D",),
    "jacobi_3d-7": ("Jacobi3D7pt",),
    "poisson": ("Poisson",),
    "jacobi_3d-13": ("Jacobi3D13pt",),
    "heat_3d": ("Heat",),
    "acoustic": ("Acoustic",),
}
SHOWN = 3  # baselines that are named in a table
FILE = Path(__file__).parent / "lift_ratios.csv"


@dataclass(frozen=True)
class Published:
    """How many times as fast as its baselines Lift is reported to be: the least, the most, and the baselines' names."""

    least: float
    most: float
    baselines: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.baselines) - SHOWN
        names = ", ".join(self.baselines[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        return f"{self.least:.2f} to {self.most:.2f}" + (f" ({names})" if names else "")


def published(program: str) -> Published | None:
    """What the papers report of a program, over all their devices and sizes; None where they do not have it."""
    with FILE.open() as rows:
        found = [r for r in csv.DictReader(rows) if r["benchmark"] in LIFT.get(program, ())]
    if not found:
        return None
    ratios = [float(r["lift_over_baseline"]) for r in found]
    return Published(min(ratios), max(ratios), tuple(dict.fromkeys(r["baseline"] for r in found)))
