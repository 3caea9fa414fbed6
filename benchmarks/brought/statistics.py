"""Statistics of tables, whose rows are examples and whose columns are features."""

from __future__ import annotations

from typing import Any

from benchmarks.brought.linear_algebra import MATRIX, SQUARE
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import floats, largest, squares, total


def covariance(n: int, features: int) -> Any:
    """The covariances of all pairs of columns."""
    X = floats("X", n, features)
    means = X.T.map(lambda column: total(column) / n)
    centred = X.map(lambda row: row.map(lambda v, mean: v - mean, means))
    return (centred.T @ centred).map(lambda row: row.map(lambda v: v / (n - 1)))


def column_variances(n: int, features: int) -> Any:
    """The mean of the squares of each column, less the square of its mean."""

    def variance(column: Any) -> Any:
        mean = total(column) / n
        return squares(column) / n - mean * mean

    return floats("X", n, features).T.map(variance)


def weighted_gram(n: int, features: int) -> Any:
    """`X^T diag(t) X`, of weighted least squares."""
    X, t = floats("X", n, features), floats("t", n)
    return X.T.map(lambda column: column.map(lambda v, weight: v * weight, t)) @ X


def maxima_of_columns(n: int) -> Any:
    """The largest element of each column."""
    return floats("A", n, n).T.map(largest)


def centre_both(n: int, m: int) -> Any:
    """A matrix less the means of its rows and less those of its columns."""
    A = floats("A", n, m)
    of_rows, of_columns = A.map(lambda row: total(row) / m), A.T.map(lambda column: total(column) / n)
    return A.map(lambda row, a: row.map(lambda v, b: v - a - b, of_columns), of_rows)


# ---------------------------------------------------------------------------------------- what they mean


def _covariance(X: Any) -> Any:
    centred = X - X.mean(0)
    return centred.T @ centred / (X.shape[0] - 1)


TABLE = Sizes((40, 6), (4096, 32), (1 << 18, 64))
PROGRAMS = (
    Brought(covariance, TABLE, _covariance),
    Brought(column_variances, TABLE, lambda X: (X * X).mean(0) - X.mean(0) ** 2),
    Brought(weighted_gram, TABLE, lambda X, t: (X * t[:, None]).T @ X),
    Brought(maxima_of_columns, SQUARE, lambda A: A.max(0), lambda torch, A: A.amax(0)),
    Brought(
        centre_both,
        MATRIX,
        lambda A: A - A.mean(1, keepdims=True) - A.mean(0),
        lambda torch, A: A - A.mean(1, keepdim=True) - A.mean(0),
    ),
)
