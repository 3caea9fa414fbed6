"""What the programs of the catalogue are in CLBlast, a tuned BLAS in OpenCL, on the same device and queue.

pyclblast is built against CLBlast (Debian: libclblast-dev), then `pip install pyclblast`; without it there is no such
peer.  BLAS overwrites: scal its x, axpy its y, gemv and gemm what they add to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from egglift.codegen.device.device import Device

#: seconds of one sample, and of all
SAMPLE, ALL = 0.01, 0.5


class Blas:
    """pyclblast's functions on one queue, of arrays on its device."""

    def __init__(self, library: Any, queue: Any) -> None:
        self.library, self.queue = library, queue

    def new(self, *shape: int, dtype: Any = np.float32) -> Any:
        """An array of zeros on the device."""
        from pyopencl import array

        return array.zeros(self.queue, shape, dtype)

    def reduced(self, name: str, *vectors: Any) -> Any:
        """dot, asum, nrm2 or sum of whole vectors."""
        out = self.new(1, 1, dtype=vectors[0].dtype)  # a matrix, as pyclblast wants it
        return lambda: (getattr(self.library, name)(self.queue, vectors[0].size, *vectors, out), out)[1]

    def scaled(self, a: Any, x: Any) -> Any:
        """x := a x"""
        return lambda: (self.library.scal(self.queue, x.size, x, alpha=float(a)), x)[1]

    def added(self, a: Any, x: Any, y: Any) -> Any:
        """y := a x + y"""
        return lambda: (self.library.axpy(self.queue, x.size, x, y, alpha=float(a)), y)[1]

    def vector(self, A: Any, x: Any, y: Any, a: Any = 1.0, b: Any = 0.0, turned: bool = False) -> Any:
        """y := a A x + b y; turned: A transposed."""
        named = {"alpha": float(a), "beta": float(b), "a_transp": turned}
        return lambda: (self.library.gemv(self.queue, *A.shape, A, x, y, A.shape[1], **named), y)[1]

    def product(self, A: Any, B: Any, C: Any, a: Any = 1.0, b: Any = 0.0, variant: str = "nn") -> Any:
        """C := a A B + b C; variant: which of A and B are stored transposed."""
        m, n = C.shape
        k = A.shape[1] if variant[0] == "n" else A.shape[0]
        strides = (A.shape[1], B.shape[1], n)
        named = {"alpha": float(a), "beta": float(b), "a_transp": variant[0] == "t", "b_transp": variant[1] == "t"}
        return lambda: (self.library.gemm(self.queue, m, n, k, A, B, C, *strides, **named), C)[1]

    def products(self, A: Any, B: Any) -> Any:
        """The products of pairs of matrices."""
        (count, m, k), n = A.shape, B.shape[2]
        C = self.new(count, m, n)
        flat = (M.reshape(-1, M.shape[2]) for M in (A, B, C))  # one below the other, as pyclblast wants them
        sizes = (m, n, k, count, *flat, k, n, n, m * k, k * n, m * n)
        return lambda: (self.library.gemmStridedBatched(self.queue, *sizes), C)[1]


def _then(first: Callable[[], Any], second: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: (first(), second())[1]


def _gesummv(blas: Blas, a: Any, b: Any, A: Any, B: Any, x: Any) -> Callable[[], Any]:
    y = blas.new(len(A))
    return _then(blas.vector(A, x, y, a), blas.vector(B, x, y, b, 1.0))


def _atax(blas: Blas, A: Any, x: Any) -> Callable[[], Any]:
    product, y = blas.new(A.shape[0]), blas.new(A.shape[1])
    return _then(blas.vector(A, x, product), blas.vector(A, product, y, turned=True))


def _matmul(blas: Blas, A: Any, B: Any) -> Callable[[], Any]:
    return blas.product(A, B, blas.new(A.shape[0], B.shape[1], dtype=A.dtype))


def _gemm(blas: Blas, variant: str, a: Any, b: Any, A: Any, B: Any, C: Any) -> Callable[[], Any]:
    return blas.product(A, B, C, a, b, variant)


#: the programs that CLBlast has: of a Blas and the program's inputs by name, a call that enqueues and gives the result
CLBLAST: dict[str, Callable[..., Callable[[], Any]]] = {
    "scal": lambda blas, a, x: blas.scaled(a, x),
    "axpy": lambda blas, a, x, y: blas.added(a, x, y),
    "vec_sum": lambda blas, x: blas.reduced("sum", x),
    "integer_sums-f64": lambda blas, x: blas.reduced("sum", x),
    "asum": lambda blas, x: blas.reduced("asum", x),
    "dot": lambda blas, x, y: blas.reduced("dot", x, y),
    "nrm2": lambda blas, x: blas.reduced("nrm2", x),
    "gemv": lambda blas, a, b, A, x, y: blas.vector(A, x, y, a, b),
    "gesummv": _gesummv,
    "atax": _atax,
    "matmul-f32": _matmul,
    "matmul-f64": _matmul,
    **{f"gemm-{variant}": partial(_gemm, variant=variant) for variant in ("nn", "nt", "tn", "tt")},
    # its own syrk computes one triangle
    "syrk": lambda blas, a, b, A, C: blas.product(A, A, C, a, b, "nt"),
    "batched_matmul": lambda blas, A, B: blas.products(A, B),
}


def blas_call(name: str, inputs: Mapping[str, Any], device: Device) -> Callable[[], Any] | None:
    """The program as one call on the device's queue, its inputs in place; None without CLBlast or where it has none."""
    try:
        import pyclblast
    except ImportError:
        return None
    if name not in CLBLAST:
        return None
    from pyopencl import array

    given = {
        key: array.to_device(device.queue, value) if getattr(value, "shape", ()) else value
        for key, value in inputs.items()
    }
    return CLBLAST[name](Blas(pyclblast, device.queue), **given)


def blas_seconds(name: str, inputs: Mapping[str, Any], device: Device) -> float | None:
    """The median time of a call, by the host's clock; None where `blas_call` has none.

    A library tells no times of its kernels: a sample is as many calls as take 10 ms, one behind the other on the queue,
    until the last has finished.  The first call compiles and is not counted.
    """
    call = blas_call(name, inputs, device)
    if call is None:
        return None
    _several(call, device, 1)
    count = max(1, round(SAMPLE / _several(call, device, 1)))
    samples: list[float] = []
    start = time.perf_counter()
    while len(samples) < 5 or time.perf_counter() - start < ALL:
        samples.append(_several(call, device, count))
    return median(samples)


def _several(call: Callable[[], Any], device: Device, count: int) -> float:
    """Seconds of a call, of so many in a row."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    device.queue.finish()
    return (time.perf_counter() - start) / count
