"""A program with its inputs, and all the ways in which it is written: in NumPy, in torch, in what libraries share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.brought.program import Brought, Inputs, Scale
from benchmarks.brought.programs import PROGRAMS
from benchmarks.fair.arrays import ARRAYS
from benchmarks.fair.cases import CASES
from benchmarks.fair.torch_library import library
from benchmarks.programs.catalogue import Entry, Size, entries, size_text
from benchmarks.suites import SUITES

#: a case at a scale for tests is as small
SMALL = 20_000
#: where time is short: a few of each kind, and those that libraries have kernels of their own for
CORE = (
    *("axpy", "vec_sum", "dot", "black_scholes", "ten_maps", "gemv", "softmax_rows", "matmul-f32", "batched_matmul"),
    *("linear_relu", "attention", "nbody", "molecular_dynamics", "kmeans", "mri_q", "stencil_2d", "jacobi_3d-7"),
    *("convolution_17-given", "hotspot_2d", "game_of_life", "cumsum"),
    *("brought/log_softmax", "brought/covariance", "brought/batched_attention", "brought/bias_relu_residual"),
    *("brought/convolution_channels", "brought/hausdorff", "brought/moving_average_64", "brought/ell_spmv"),
    *("cases/layernorm_rows", "cases/transpose", "cases/column_sums", "cases/gelu_of_product", "cases/batched_small"),
)


@dataclass(frozen=True)
class Job:
    """A program at a size: `numpy(**inputs)`, `torch(torch, **inputs)`, `arrays(library, **inputs)`; None: not written.

    of: "catalogue", "brought" or "cases": names are unique in each alone.
    """

    name: str
    of: str
    size: Size
    program: Callable[[], Any]
    draw: Callable[[], Inputs]
    numpy: Callable[..., Any]
    torch: Callable[..., Any] | None = None
    arrays: Callable[..., Any] | None = None

    @property
    def key(self) -> str:
        """Its name; of those that users bring and cases, what they are of, too: `brought/sobel`."""
        return self.name if self.of == "catalogue" else f"{self.of}/{self.name}"

    @cached_property
    def inputs(self) -> Inputs:
        """Random arguments, always the same."""
        return self.draw()

    @property
    def size_text(self) -> str:
        """`1000x1003`."""
        return size_text(self.size)


def jobs(scale: Scale) -> Iterator[Job]:
    """All programs: the catalogue's, those that users bring, and the cases."""
    yield from (_of_catalogue(e, scale) for e in entries())
    yield from (_of_user(b, "brought", scale) for b in PROGRAMS)
    yield from (_of_user(b, "cases", scale) for b in CASES)


def chosen(names: Sequence[str], scale: Scale) -> list[Job]:
    """Those of these names; all where none is given.

    A name may be a program's (`sobel`), a whole group's (`cases`), or both (`brought/sobel`); `core` is a few of all.
    ValueError: there is none of that name.
    """
    known = list(jobs(scale))
    for name in names:
        if not any(name in _names(j) for j in known):
            raise ValueError(f"there is no program {name}; there are {', '.join(j.key for j in known)}")
    return [j for j in known if not names or _names(j) & set(names)]


def _names(j: Job) -> set[str]:
    core = "core" if j.key in CORE else ""
    return {j.name, j.of, f"{j.of}/{j.name}", j.name.rpartition("-")[0], core} - {""}


def _of_catalogue(e: Entry, scale: Scale) -> Job:
    size = _size(e, scale)
    return Job(
        e.name,
        "catalogue",
        size,
        lambda: e.program(*size),
        lambda: e.inputs(*size, np.random.default_rng(size)),
        e.reference,
        library(e.name),
        ARRAYS.get(e.name),
    )


def _size(e: Entry, scale: Scale) -> Size:
    if scale == "small":
        return next((size for size in reversed(e.sizes) if np.prod(size) < SMALL), e.sizes[0])
    sizes = SUITES["all"][e.name]
    return tuple(map(int, (sizes.gpu if scale == "gpu" else sizes.cpu).split(",")))


def _of_user(b: Brought, of: str, scale: Scale) -> Job:
    size = b.size(scale)
    shared = ARRAYS.get(f"{of}/{b.name}")
    return Job(b.name, of, size, lambda: b.program(*size), lambda: b.inputs(scale), b.numpy, b.in_torch, shared)
