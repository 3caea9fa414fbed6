"""gemm: a multiple of a product of matrices added to a multiple of a third (BLAS level 3).

The variant says which of the two are stored transposed: in `nt` the rows of B are the columns of the factor."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.matmul import operations as operations
from benchmarks.programs.shapes import PRODUCT as SHAPES

__all__ = ["SHAPES", "VARIANTS", "inputs", "operations", "program", "reference"]

VARIANTS = ("nn", "nt", "tn", "tt")


def program(m: int, n: int, k: int, variant: str = "nn") -> Any:
    """`a * A B + b * C`, A or B or both transposed, element by element"""
    a, b = el.scalar("a", el.f32), el.scalar("b", el.f32)
    A, B = el.array("A", el.f32, stored(m, k, variant[0])), el.array("B", el.f32, stored(k, n, variant[1]))
    C, columns = el.array("C", el.f32, (m, n)), given(B, variant[1]).T
    return el.map(
        lambda row, old: el.map(lambda column, c: a * (row @ column) + b * c, columns, old), given(A, variant[0]), C
    )


def inputs(m: int, n: int, k: int, rng: np.random.Generator, variant: str = "nn") -> dict[str, Any]:
    """Random arguments of `program(m, n, k, variant)`."""
    shapes = {"A": stored(m, k, variant[0]), "B": stored(k, n, variant[1]), "C": (m, n)}
    matrices = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    return {"a": np.float32(1.5), "b": np.float32(0.5), **matrices}


def reference(a: Any, b: Any, A: Any, B: Any, C: Any, variant: str = "nn") -> Any:
    """The program in NumPy."""
    return a * (given(A, variant[0]) @ given(B, variant[1])) + b * C


def stored(rows: int, columns: int, how: str) -> tuple[int, int]:
    """The shape in memory of a matrix of so many rows: "n" as it is, "t" transposed."""
    return (rows, columns) if how == "n" else (columns, rows)


def given(matrix: Any, how: str) -> Any:
    """The matrix that is stored so."""
    return matrix if how == "n" else matrix.T
