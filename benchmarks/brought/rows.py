"""Functions of each row of a matrix, as layers of networks have them."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.linear_algebra import MATRIX
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import dot, floats, largest, total
from benchmarks.programs import softmax_rows


def softmax(n: int, m: int) -> Any:
    """The exponentials of a row, divided by their sum."""
    return softmax_rows.program(m, n)


def log_softmax(n: int, m: int) -> Any:
    """`x - logsumexp x`, of each row."""
    return floats("A", n, m).map(_log_shares)


def logsumexp(n: int, m: int) -> Any:
    """The logarithm of the sum of the exponentials of a row, as stable as it is usual."""
    return floats("A", n, m).map(_log_sum)


def mask_mean(n: int, m: int) -> Any:
    """The mean of those of a row that a mask lets through: where M is positive."""

    def mean(row: Any, mask: Any) -> Any:
        kept = total(row.map(lambda v, w: el.where(w > 0.0, v, 0.0), mask))
        return kept / el.maximum(total(mask.map(lambda w: (w > 0.0).cast(el.f32))), 1.0)

    return floats("A", n, m).map(mean, floats("M", n, m))


def cross_entropy_rows(n: int, m: int) -> Any:
    """`-sum(y * log_softmax x)`, for the weights y of each row x."""
    return floats("A", n, m).map(lambda row, y: -dot(y, _log_shares(row)), floats("Y", n, m))


def _log_sum(row: Any) -> Any:
    top = largest(row)
    return el.log(total(row.map(lambda v: el.exp(v - top)))) + top


def _log_shares(row: Any) -> Any:
    whole = _log_sum(row)
    return row.map(lambda v: v - whole)


# ---------------------------------------------------------------------------------------- what they mean


def _logsumexp(A: Any) -> Any:
    top = A.max(1)
    return np.log(np.exp(A - top[:, None]).sum(1)) + top


def _log_softmax(A: Any) -> Any:
    return A - _logsumexp(A)[:, None]


def _mask_mean(A: Any, M: Any) -> Any:
    return np.where(M > 0, A, 0).sum(1) / np.maximum((M > 0).sum(1, dtype=np.float32), 1)


def _mask_mean_in_torch(torch: Any, A: Any, M: Any) -> Any:
    return torch.where(M > 0, A, 0.0).sum(1) / (M > 0).float().sum(1).clamp(min=1)


PROGRAMS = (
    Brought(
        softmax,
        Sizes((9, 11), (1024, 1024), (8192, 4096)),
        softmax_rows.reference,
        lambda torch, A: torch.softmax(A, 1),
    ),
    Brought(log_softmax, MATRIX, _log_softmax, lambda torch, A: torch.log_softmax(A, 1)),
    Brought(logsumexp, MATRIX, _logsumexp, lambda torch, A: torch.logsumexp(A, 1)),
    Brought(mask_mean, MATRIX, _mask_mean, _mask_mean_in_torch),
    Brought(
        cross_entropy_rows,
        MATRIX,
        lambda A, Y: -(Y * _log_softmax(A)).sum(1),
        lambda torch, A, Y: -(Y * torch.log_softmax(A, 1)).sum(1),
    ),
)
