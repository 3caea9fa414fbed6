"""The suites: every program of the catalogue, with a size for CPUs and one for GPUs.

On a CPU a program takes microseconds to milliseconds; on a GPU its data exceeds the caches, or its arithmetic fills the
device (but for softmax_rows, whose matrices have about 2^20 elements whatever the size).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Sizes(NamedTuple):
    """The lengths of a program as a command line writes them, on each kind of device."""

    cpu: str
    gpu: str


VECTOR, STREAM = Sizes("1048576", "67108864"), Sizes("1048576", "268435456")
SIDE = Sizes("1024", "16384")
PRODUCT = Sizes("512,512,512", "4096,4096,4096")
PAIRS = Sizes("1000,1003,17", "16384,16384,16")
GRID = Sizes("1000,1003", "8192,8192")
WIDE = Sizes("1000,1003", "4096,4096")
VOLUME = Sizes("256,256,256", "512,512,512")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f64")


def _each(names: Sequence[str], sizes: Sizes) -> dict[str, Sizes]:
    return dict.fromkeys(names, sizes)


#: by name of the suite: programs with their sizes
SUITES: dict[str, Mapping[str, Sizes]] = {
    "vectors": {
        **_each(("scal", "axpy", "vec_sum", "asum", "dot", "nrm2", "arg_max", "mean_variance"), STREAM),
        **_each(("black_scholes", "ten_maps", "record_distances", "bitwise_or"), VECTOR),
        **_each([f"integer_sums-{t}" for t in INTEGERS], VECTOR),
        **_each(("gemv", "gesummv", "atax"), SIDE),
        "softmax_rows": Sizes("1000", "1000"),
        "cumsum": Sizes("16777216", "268435456"),
        **_each(("cumsum_axis-rows", "cumsum_axis-columns"), Sizes("1000,1003", "8192,8192")),
    },
    "products": {
        **_each(("matmul-f32", "gemm-nn", "gemm-nt", "gemm-tn", "gemm-tt", "linear_relu"), PRODUCT),
        "matmul-f64": Sizes("512,512,512", "2048,2048,2048"),
        "syrk": Sizes("512,512", "4096,4096"),
        "batched_matmul": Sizes("17,64,128,96", "32,256,256,256"),
        "attention": Sizes("512,512,64", "1024,1024,64"),
        **_each(("pair_distances-squared", "pair_distances-manhattan"), PAIRS),
        "nbody": Sizes("1000", "32768"),
        "molecular_dynamics": Sizes("1000,128", "12288,128"),
        "kmeans": Sizes("1003,17,34", "65536,5,34"),
        "nearest": Sizes("1000,1003", "1024,16384"),
        "mri_q": Sizes("1000,1003", "32768,3072"),
        "laplace": Sizes("1000,5", "4096,5"),
        "gaussian_kernels": Sizes("1000,1003", "4608,4608"),
    },
    "stencils": {
        **_each(("jacobi_1d", "heat_1d"), VECTOR),
        **_each(("jacobi_2d-5", "jacobi_2d-9", "gaussian_blur-9", "gaussian_blur-25", "stencil_2d", "sobel"), GRID),
        **_each(("gradient", "game_of_life", "hotspot_2d", "srad-1", "srad-2"), GRID),
        **_each([f"convolution_17-{how}" for how in ("general", "given", "gaussian", "separable")], WIDE),
        **_each(("jacobi_3d-7", "jacobi_3d-13", "poisson", "heat_3d", "hotspot_3d", "acoustic"), VOLUME),
    },
}
SUITES["all"] = {name: sizes for suite in SUITES.values() for name, sizes in suite.items()}


def programs(suite: str, kind: str) -> tuple[str, ...]:
    """The programs of a suite at their sizes on a device of that kind ("cpu" or "gpu"): `dot:1048576`."""
    return tuple(f"{name}:{sizes.gpu if kind == 'gpu' else sizes.cpu}" for name, sizes in SUITES[suite].items())
