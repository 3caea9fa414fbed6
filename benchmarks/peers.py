"""The peers, and what the programs are in numexpr and numba: well-kept compilers of NumPy code for CPUs.

A peer is a function of a program's inputs.  numba's are written as its users would, loops over `prange`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

Peer = Callable[..., Any]

#: names of the peers, each with the module that it needs; torch runs on a GPU, clblast on egglift's own device
PEERS = {"numpy": "numpy", "numexpr": "numexpr", "numba": "numba", "torch": "torch", "clblast": "pyclblast"}
#: programs that are one expression of whole arrays
EXPRESSIONS = {
    "scal": "a * x", "axpy": "a * x + y", "vec_sum": "sum(x)", "asum": "sum(abs(x))", "dot": "sum(x * y)",
}  # fmt: skip


def absent(kind: str) -> str | None:
    """Why a peer cannot take part here, in a few words; None where it can."""
    try:
        module = import_module(PEERS[kind])
    except ImportError as error:
        return f"{PEERS[kind]} cannot be imported ({error})"
    return "torch sees no GPU" if kind == "torch" and not module.cuda.is_available() else None


def peer(kind: str, program: str) -> Peer | None:
    """The program as "numexpr" or "numba" have it; None where it is not written, or the library is not there."""
    try:
        match kind:
            case "numexpr" if program in EXPRESSIONS:
                import numexpr

                return partial(_evaluated, numexpr, EXPRESSIONS[program])
            case "numba":
                return _jitted().get(program)
    except ImportError:
        return None
    return None


def _evaluated(numexpr: Any, text: str, **inputs: Any) -> Any:
    """With the results of numexpr's own types: it has no float32 sums."""
    return numexpr.evaluate(text, local_dict=inputs)


@cache
def _jitted() -> Mapping[str, Peer]:
    """All of numba's programs; they are compiled when first called."""
    from numba import njit, prange

    fast = partial(njit, parallel=True, fastmath=True)

    @fast
    def gemv(a, b, A, x, y):  # type: ignore[no-untyped-def]
        out = np.empty_like(y)
        for i in prange(len(y)):
            total = np.float32(0)
            for j in range(len(x)):
                total += A[i, j] * x[j]
            out[i] = a * total + b * y[i]
        return out

    @fast
    def softmax_rows(A):  # type: ignore[no-untyped-def]
        out = np.empty_like(A)
        for i in prange(A.shape[0]):
            most = A[i].max()
            total = np.float32(0)
            for j in range(A.shape[1]):
                out[i, j] = np.exp(A[i, j] - most)
                total += out[i, j]
            for j in range(A.shape[1]):
                out[i, j] /= total
        return out

    @fast
    def matmul(A, B):  # type: ignore[no-untyped-def]
        out = np.zeros((A.shape[0], B.shape[1]), A.dtype)
        for i in prange(A.shape[0]):
            for k in range(A.shape[1]):
                for j in range(B.shape[1]):
                    out[i, j] += A[i, k] * B[k, j]
        return out

    @fast
    def distances(X, Y):  # type: ignore[no-untyped-def]
        out = np.empty((len(X), len(Y)), X.dtype)
        for i in prange(len(X)):
            for j in range(len(Y)):
                total = np.float32(0)
                for k in range(X.shape[1]):
                    d = X[i, k] - Y[j, k]
                    total += d * d
                out[i, j] = total
        return out

    @fast
    def jacobi(x):  # type: ignore[no-untyped-def]
        h, w = x.shape
        out = np.empty_like(x)
        for i in prange(h):
            up, down = max(i - 1, 0), min(i + 1, h - 1)
            for j in range(w):
                left, right = max(j - 1, 0), min(j + 1, w - 1)
                out[i, j] = np.float32(0.2) * (x[up, j] + x[i, left] + x[i, j] + x[i, right] + x[down, j])
        return out

    return {
        "gemv": gemv, "softmax_rows": softmax_rows, "matmul-f32": matmul, "pair_distances-squared": distances,
        "jacobi_2d-5": jacobi,
    }  # fmt: skip
