"""Programs each one step beside those of the catalogue, which an earlier compiler was slow at."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.images import ZERO
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import apart, dot, floats, squares, total
from benchmarks.programs.softmax_rows import softmax


def column_sums(n: int) -> Any:
    """The sum of each column."""
    return floats("A", n, n).T.map(total)


def gemv_t(n: int) -> Any:
    """`A^T x`"""
    x = floats("x", n)
    return floats("A", n, n).T.map(lambda column: dot(column, x))


def atax(n: int) -> Any:
    """`A^T (A x)`"""
    A, x = floats("A", n, n), floats("x", n)
    y = A.map(lambda row: dot(row, x))
    return A.T.map(lambda column: dot(column, y))


def transpose(n: int) -> Any:
    """The matrix turned, written out."""
    return floats("A", n, n).T


def row_sums_short(n: int, m: int) -> Any:
    """The sums of short rows."""
    return floats("A", n, m).map(total)


def row_squares(n: int, m: int) -> Any:
    """The sum of the squares of each row."""
    return floats("A", n, m).map(squares)


def layernorm_rows(n: int, m: int) -> Any:
    """Each row less its mean, over its deviation."""

    def normal(row: Any) -> Any:
        mean = total(row) / m
        scale = el.rsqrt(squares(row.map(lambda v: v - mean)) / m + 1e-5)
        return row.map(lambda v: (v - mean) * scale)

    return floats("A", n, m).map(normal)


def gram_tall(n: int, m: int) -> Any:
    """`A^T A` of a tall matrix."""
    A = floats("A", n, m)
    return A.T @ A


def cosine(n: int, d: int) -> Any:
    """The cosines of all pairs."""
    Q = floats("Q", n, d)
    return floats("P", n, d).map(lambda u: Q.map(lambda v: dot(u, v) * el.rsqrt(dot(u, u) * dot(v, v))))


def nearest(n: int, m: int, d: int) -> Any:
    """Of each of n points the nearest of m."""
    Y = floats("Y", m, d)
    return floats("X", n, d).map(lambda u: el.argmin(Y.map(lambda v: apart(u, v))))


def square_of_product(n: int, k: int) -> Any:
    """`(X W)^2`, element by element."""
    return (floats("X", n, k) @ floats("W", k, k)).map(lambda row: row.map(lambda v: v * v))


def gelu_of_product(n: int, k: int) -> Any:
    """`gelu (X W)`"""
    product = floats("X", n, k) @ floats("W", k, k)
    return product.map(lambda row: row.map(lambda v: 0.5 * v * (1.0 + el.erf(v * 0.5**0.5))))


def syrk(n: int) -> Any:
    """`1.5 A A^T + 0.5 C`"""
    A = floats("A", n, n)
    return 1.5 * (A @ A.T) + 0.5 * floats("C", n, n)


def matmul_f64(n: int) -> Any:
    """A product of doubles."""
    return el.array("A", el.f64, (n, n)) @ el.array("B", el.f64, (n, n))


def batched_small(count: int, n: int, k: int, m: int) -> Any:
    """Many small products."""
    return floats("A", count, n, k) @ floats("B", count, k, m)


def attention(n: int, d: int) -> Any:
    """`softmax (Q K^T / sqrt d) V`"""
    Q, K, V = (floats(name, n, d) for name in "QKV")
    return (Q @ K.T / d**0.5).map(softmax) @ V


def variance(n: int) -> Any:
    """The mean of the squares of what differs from the mean."""
    v = floats("v", n)
    mean = total(v) / n
    return squares(v.map(lambda t: t - mean)) / n


def arg_max(n: int) -> Any:
    """The first place of the largest element."""
    return el.argmax(floats("v", n))


def convolution_weights_given(side: int) -> Any:
    """Windows of 5 x 5 with weights that are an input, zero outside."""
    w = floats("w", 5, 5)
    return el.stencil(lambda window: dot(window.join(), w.join()), (5, 5), 1, 2, 2, ZERO, floats("A", side, side))


def few_bodies(n: int) -> Any:
    """Pulls in one direction, of all pairs of points of a plane."""

    def pull(u: Any, v: Any) -> Any:
        dx, dy = v[0] - u[0], v[1] - u[1]
        return dx * el.rsqrt(dx * dx + dy * dy + 0.01)

    points = el.zip(floats("x", n), floats("y", n))
    return points.map(lambda u: total(points.map(lambda v: pull(u, v))))


# ---------------------------------------------------------------------------------------- what they mean


def _unit(P: Any) -> Any:
    return P / np.linalg.norm(P, axis=1)[:, None]


def _nearest(X: Any, Y: Any) -> Any:
    return ((X * X).sum(1)[:, None] - 2 * X @ Y.T + (Y * Y).sum(1)).argmin(1)


def _gelu(X: Any, W: Any) -> Any:
    from scipy.special import erf  # type: ignore[import-untyped]

    v = X @ W
    return np.float32(0.5) * v * (1 + erf(v * np.float32(0.5**0.5)))


def _attention(Q: Any, K: Any, V: Any) -> Any:
    scores = Q @ K.T / np.float32(Q.shape[1] ** 0.5)
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True) @ V


def _attention_in_torch(torch: Any, Q: Any, K: Any, V: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])[0, 0]


def _convolution(A: Any, w: Any) -> Any:
    (h, width), padded = A.shape, np.pad(A, 2)
    return sum(w[i, j] * padded[i : i + h, j : j + width] for i in range(5) for j in range(5))


def _few_bodies(x: Any, y: Any) -> Any:
    dx, dy = x[None] - x[:, None], y[None] - y[:, None]
    return (dx / (dx * dx + dy * dy + 0.01) ** 0.5).sum(1)


MATRIX, PAIRS, LONG = Sizes((24,), (2048,), (16384,)), Sizes((12, 10), (1024, 128), (4096, 128)), (1 << 22,)
SQUARE, LAYER = Sizes((24,), (512,), (2048,)), Sizes((16, 8), (1024, 512), (8192, 2048))
VECTOR = Sizes((1000,), LONG, (1 << 28,))
CASES = (
    Brought(column_sums, MATRIX, lambda A: A.sum(0)),
    Brought(gemv_t, MATRIX, lambda A, x: A.T @ x),
    Brought(atax, MATRIX, lambda A, x: A.T @ (A @ x)),
    Brought(transpose, MATRIX, lambda A: np.ascontiguousarray(A.T), lambda torch, A: A.T.contiguous()),
    Brought(row_sums_short, Sizes((300, 32), (1 << 17, 32), (1 << 22, 32)), lambda A: A.sum(1)),
    Brought(row_squares, Sizes((20, 1024), (4096, 1024), (65536, 1024)), lambda A: (A * A).sum(1)),
    Brought(
        layernorm_rows,
        Sizes((20, 30), (2048, 2048), (16384, 4096)),
        lambda A: (A - A.mean(1, keepdims=True)) / (A.var(1, keepdims=True) + np.float32(1e-5)) ** 0.5,
        lambda torch, A: torch.nn.functional.layer_norm(A, A.shape[1:]),
    ),
    Brought(gram_tall, Sizes((200, 32), (1 << 16, 32), (1 << 20, 32)), lambda A: A.T @ A),
    Brought(
        cosine,
        PAIRS,
        lambda P, Q: _unit(P) @ _unit(Q).T,
        lambda torch, P, Q: torch.nn.functional.normalize(P) @ torch.nn.functional.normalize(Q).T,
    ),
    Brought(
        nearest,
        Sizes((30, 7, 6), (1024, 1024, 128), (65536, 1024, 64)),
        _nearest,
        lambda torch, X, Y: torch.cdist(X, Y).argmin(1),
    ),
    Brought(square_of_product, LAYER, lambda X, W: (X @ W) ** 2),
    Brought(gelu_of_product, LAYER, _gelu, lambda torch, X, W: torch.nn.functional.gelu(X @ W)),
    Brought(
        syrk,
        SQUARE,
        lambda A, C: np.float32(1.5) * (A @ A.T) + np.float32(0.5) * C,
        lambda torch, A, C: torch.addmm(C, A, A.T, beta=0.5, alpha=1.5),
    ),
    Brought(matmul_f64, SQUARE, lambda A, B: A @ B),
    Brought(batched_small, Sizes((3, 64, 48, 32), (64, 64, 48, 32), (1024, 64, 48, 32)), lambda A, B: A @ B),
    Brought(attention, Sizes((20, 4), (512, 64), (4096, 64)), _attention, _attention_in_torch),
    Brought(variance, VECTOR, lambda v: v.var(), lambda torch, v: torch.var(v, correction=0)),
    Brought(arg_max, VECTOR, lambda v: v.argmax()),
    Brought(
        convolution_weights_given,
        Sizes((20,), (1024,), (8192,)),
        _convolution,
        lambda torch, A, w: torch.nn.functional.conv2d(A[None, None], w[None, None], padding=2)[0, 0],
    ),
    Brought(few_bodies, Sizes((300,), (4096,), (16384,)), _few_bodies),
)
