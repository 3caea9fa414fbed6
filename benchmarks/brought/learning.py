"""Steps of learning: gradients, layers, attention."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import floats, sigmoid
from benchmarks.programs.softmax_rows import softmax


def logistic_gradient(n: int, features: int) -> Any:
    """`X^T (sigmoid (X w) - t)`, of n examples."""
    X = floats("X", n, features)
    return X.T @ ((X @ floats("w", features)).map(sigmoid) - floats("t", n))


def batched_relu_product(count: int, n: int) -> Any:
    """`max(A_i B_i, 0)` for each of `count`."""

    def layer(A: Any, B: Any) -> Any:
        return (A @ B).map(lambda row: row.map(lambda v: el.maximum(v, 0.0)))

    return floats("A", count, n, n).map(layer, floats("B", count, n, n))


def swiglu(n: int, k: int) -> Any:
    """`silu (A B) * (A D)`, element by element."""
    A = floats("A", n, k)
    gates, values = A @ floats("B", k, n), A @ floats("D", k, n)
    return gates.map(lambda row, other: row.map(lambda g, v: g * sigmoid(g) * v, other), values)


def bias_relu_residual(n: int, k: int) -> Any:
    """`max(A B + bias, 0) + R`"""
    bias = floats("bias", n)

    def layer(row: Any, rest: Any) -> Any:
        return row.map(lambda v, r, b: el.maximum(v + b, 0.0) + r, rest, bias)

    return (floats("A", n, k) @ floats("B", k, n)).map(layer, floats("R", n, n))


def batched_attention(batch: int, heads: int, n: int, d: int) -> Any:
    """`softmax (Q K^T / sqrt d) V`, of each head of each element of a batch."""

    def attention(Q: Any, K: Any, V: Any) -> Any:
        return (Q @ K.T / d**0.5).map(softmax) @ V

    Q, K, V = (floats(name, batch, heads, n, d) for name in "QKV")
    return Q.map(lambda q, k, v: q.map(attention, k, v), K, V)


# ---------------------------------------------------------------------------------------- what they mean


def _swiglu(A: Any, B: Any, D: Any) -> Any:
    gates = A @ B
    return gates / (1 + np.exp(-gates)) * (A @ D)


def _attention(Q: Any, K: Any, V: Any) -> Any:
    scores = Q @ K.swapaxes(2, 3) / np.float32(Q.shape[3] ** 0.5)
    powers = np.exp(scores - scores.max(3, keepdims=True))
    return powers / powers.sum(3, keepdims=True) @ V


LAYER = Sizes((10, 5), (512, 256), (4096, 2048))
PROGRAMS = (
    Brought(
        logistic_gradient,
        Sizes((40, 6), (4096, 32), (1 << 18, 64)),
        lambda X, w, t: X.T @ (1 / (1 + np.exp(-(X @ w))) - t),
        lambda torch, X, w, t: X.T @ (torch.sigmoid(X @ w) - t),
    ),
    Brought(
        batched_relu_product,
        Sizes((3, 5), (8, 128), (16, 512)),
        lambda A, B: np.maximum(A @ B, 0),
        lambda torch, A, B: torch.relu(A @ B),
    ),
    Brought(swiglu, LAYER, _swiglu, lambda torch, A, B, D: torch.nn.functional.silu(A @ B) * (A @ D)),
    Brought(
        bias_relu_residual,
        LAYER,
        lambda A, B, bias, R: np.maximum(A @ B + bias, 0) + R,
        lambda torch, A, B, bias, R: torch.relu(A @ B + bias) + R,
    ),
    Brought(
        batched_attention,
        Sizes((2, 2, 8, 4), (4, 4, 128, 32), (16, 12, 512, 64)),
        _attention,
        lambda torch, Q, K, V: torch.nn.functional.scaled_dot_product_attention(Q, K, V),
    ),
)
