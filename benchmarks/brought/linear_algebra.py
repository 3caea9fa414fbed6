"""Linear algebra, of PolyBench and of solvers: products, norms, updates, a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Brought, Inputs, Sizes, normal
from benchmarks.brought.vectors import dot, floats, squares, total


def two_mm(n: int) -> Any:
    """`(A B) C`, PolyBench's 2mm."""
    return (floats("A", n, n) @ floats("B", n, n)) @ floats("C", n, n)


def bicg(n: int) -> Any:
    """`(A x, A^T y)`, PolyBench's bicg."""
    A = floats("A", n, n)
    return el.tuple(A @ floats("x", n), A.T @ floats("y", n))


def syr2k(n: int) -> Any:
    """`A B^T + B A^T`"""
    A, B = floats("A", n, n), floats("B", n, n)
    return (A @ B.T) + (B @ A.T)


def outer_update(n: int) -> Any:
    """`A + x y^T`, BLAS's ger."""
    y = floats("y", n)
    return floats("A", n, n).map(lambda row, x: row.map(lambda a, b: a + x * b, y), floats("x", n))


def batched_matvec(count: int, n: int, m: int) -> Any:
    """`A_i y_i` for each of `count`."""
    return floats("A", count, n, m).map(lambda A, y: A.map(lambda row: dot(row, y)), floats("y", count, m))


def product_of_transposed(k: int, n: int, m: int) -> Any:
    """`A^T B`, where both are tall."""
    return floats("A", k, n).T @ floats("B", k, m)


def tensor_contraction(i: int, j: int, m: int, k: int) -> Any:
    """`sum_k T[i, j, k] U[m, k]`"""
    U = floats("U", m, k)
    return floats("T", i, j, k).map(lambda plane: plane.map(lambda row: U.map(lambda u: dot(row, u))))


def row_norms_of_product(n: int, k: int) -> Any:
    """The squared length of each row of `A B`."""
    return (floats("A", n, k) @ floats("B", k, n)).map(squares)


def frobenius(n: int, m: int) -> Any:
    """The Frobenius norm."""
    return el.sqrt(total(floats("A", n, m).map(squares)))


def normalise_columns(n: int, m: int) -> Any:
    """Each column divided by its length."""

    def unit(column: Any) -> Any:
        scale = el.rsqrt(squares(column))
        return column.map(lambda v: v * scale)

    return floats("A", n, m).T.map(unit).T


def ell_spmv(columns: int, n: int, width: int) -> Any:
    """A sparse matrix of n rows with `width` elements each, by the places N and values C of these, times x."""
    x, places = floats("x", columns), el.array("N", el.i32, (n, width))
    return places.map(lambda at, values: dot(el.gather(at, x), values), floats("C", n, width))


def _places(program: Any, rng: np.random.Generator) -> Inputs:
    """Inputs of `ell_spmv`."""
    found = normal(program, rng)
    return found | {"N": rng.integers(0, len(found["x"]), found["N"].shape, np.int32)}


def _ell_in_torch(torch: Any, x: Any, N: Any, C: Any) -> Any:
    return (x[N.long()] * C).sum(1)


SQUARE = Sizes((12,), (512,), (2048,))
MATRIX = Sizes((20, 30), (2048, 1024), (16384, 8192))
PROGRAMS = (
    Brought(two_mm, SQUARE, lambda A, B, C: (A @ B) @ C),
    Brought(bicg, SQUARE, lambda A, x, y: (A @ x, A.T @ y)),
    Brought(syr2k, SQUARE, lambda A, B: A @ B.T + B @ A.T),
    Brought(outer_update, SQUARE, lambda A, x, y: A + x[:, None] * y[None]),
    Brought(
        batched_matvec,
        Sizes((3, 7, 9), (64, 64, 64), (2048, 128, 512)),
        lambda A, y: (A @ y[:, :, None])[:, :, 0],
        lambda torch, A, y: torch.bmm(A, y[:, :, None])[:, :, 0],
    ),
    Brought(product_of_transposed, Sizes((9, 5, 4), (512, 64, 48), (8192, 512, 384)), lambda A, B: A.T @ B),
    Brought(tensor_contraction, Sizes((3, 4, 6, 5), (16, 16, 24, 32), (64, 64, 96, 256)), lambda T, U: T @ U.T),
    Brought(row_norms_of_product, Sizes((10, 5), (512, 256), (4096, 2048)), lambda A, B: ((A @ B) ** 2).sum(1)),
    Brought(frobenius, MATRIX, lambda A: np.linalg.norm(A), lambda torch, A: A.norm()),
    Brought(normalise_columns, MATRIX, lambda A: A / np.linalg.norm(A, axis=0), lambda torch, A: A / A.norm(dim=0)),
    Brought(
        ell_spmv,
        Sizes((50, 9, 5), (8192, 4096, 32), (1 << 20, 1 << 20, 32)),
        lambda x, N, C: (x[N] * C).sum(1),
        _ell_in_torch,
        _places,
    ),
)
