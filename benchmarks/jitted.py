"""What the programs of the catalogue are in numba, as its users write them: loops over `prange`, grids padded first.

All are compiled with fastmath, when they are first called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import pi, sqrt
from typing import Any

import numpy as np

from benchmarks.programs import black_scholes as bs
from benchmarks.programs import heat_3d, hotspot_2d, nbody, stencil_2d

Jitted = Callable[..., Any]


@cache
def jitted() -> Mapping[str, Jitted]:
    """By name, functions of the programs' inputs; ImportError where numba is not installed."""
    from numba import njit, prange

    fast = partial(njit, parallel=True, fastmath=True)
    inline = partial(njit, fastmath=True)
    return {**_vectors(fast, inline, prange), **_products(fast, prange), **_stencils(fast, inline, prange)}


def _vectors(fast: Any, inline: Any, prange: Any) -> dict[str, Jitted]:
    """Maps and reductions of vectors, and products of a matrix and a vector."""

    def reduction(term: Any) -> Jitted:
        term = inline(term)

        @fast
        def run(x, y):  # type: ignore[no-untyped-def]
            total = x.dtype.type(0)
            for i in prange(len(x)):
                total += term(x[i], y[i])
            return total

        return run

    dot, total = reduction(lambda a, b: a * b), reduction(lambda a, b: a)
    absolute, square = reduction(lambda a, b: abs(a)), reduction(lambda a, b: a * a)

    @fast
    def scal(a, x):  # type: ignore[no-untyped-def]
        out = np.empty_like(x)
        for i in prange(len(x)):
            out[i] = a * x[i]
        return out

    @fast
    def axpy(a, x, y):  # type: ignore[no-untyped-def]
        out = np.empty_like(x)
        for i in prange(len(x)):
            out[i] = a * x[i] + y[i]
        return out

    @fast
    def mean_variance(x):  # type: ignore[no-untyped-def]
        mean = np.float32(0)
        for i in prange(len(x)):
            mean += x[i]
        mean /= np.float32(len(x))
        variance = np.float32(0)
        for i in prange(len(x)):
            variance += (x[i] - mean) * (x[i] - mean)
        return mean, variance / np.float32(len(x))

    @fast
    def ten_maps(x):  # type: ignore[no-untyped-def]
        out = np.empty_like(x)
        for i in prange(len(x)):
            v = (x[i] + np.float32(1)) * np.float32(0.5)
            v = max(np.sqrt(abs(v * v - np.float32(0.25))), np.float32(0.125))
            out[i] = min(np.float32(1) / v, np.float32(4)) * np.float32(3) - np.float32(1)
        return out

    c1, c2, c3, c4, c5 = (np.float32(c) for c in bs.COEFFICIENTS)
    one, half, slope, scale = np.float32(1), np.float32(0.5), np.float32(0.2316419), np.float32(1 / sqrt(2 * pi))
    rate, volatility = np.float32(bs.RATE), np.float32(bs.VOLATILITY)
    drift = rate + half * volatility * volatility

    @inline
    def normal(d):  # type: ignore[no-untyped-def]
        k = one / (one + slope * abs(d))
        tail = np.exp(-half * d * d) * scale * k * (c1 + k * (c2 + k * (c3 + k * (c4 + k * c5))))
        return one - tail if d > 0 else tail

    @fast
    def black_scholes(price, strike, years):  # type: ignore[no-untyped-def]
        call, put = np.empty_like(price), np.empty_like(price)
        for i in prange(len(price)):
            s, k, t = price[i], strike[i], years[i]
            spread = volatility * np.sqrt(t)
            d1 = (np.log(s / k) + drift * t) / spread
            d2 = d1 - spread
            discounted = k * np.exp(-rate * t)
            call[i] = s * normal(d1) - discounted * normal(d2)
            put[i] = discounted * normal(-d2) - s * normal(-d1)
        return call, put

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
    def gesummv(a, b, A, B, x):  # type: ignore[no-untyped-def]
        out = np.empty_like(x)
        for i in prange(len(x)):
            first, second = np.float32(0), np.float32(0)
            for j in range(len(x)):
                first += A[i, j] * x[j]
                second += B[i, j] * x[j]
            out[i] = a * first + b * second
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

    return {
        "scal": scal,
        "axpy": axpy,
        "vec_sum": lambda x: total(x, x),
        "integer_sums-f64": lambda x: total(x, x),
        "asum": lambda x: absolute(x, x),
        "dot": lambda x, y: dot(x, y),
        "nrm2": lambda x: np.sqrt(square(x, x)),
        "mean_variance": mean_variance,
        "ten_maps": ten_maps,
        "black_scholes": black_scholes,
        "gemv": gemv,
        "gesummv": gesummv,
        "softmax_rows": softmax_rows,
    }


def _products(fast: Any, prange: Any) -> dict[str, Jitted]:
    """Products of matrices, and all pairs."""

    @fast
    def matmul(A, B):  # type: ignore[no-untyped-def]
        out = np.zeros((A.shape[0], B.shape[1]), A.dtype)
        for i in prange(A.shape[0]):
            for k in range(A.shape[1]):
                for j in range(B.shape[1]):
                    out[i, j] += A[i, k] * B[k, j]
        return out

    @fast
    def linear_relu(A, B, bias):  # type: ignore[no-untyped-def]
        out = np.empty((A.shape[0], B.shape[1]), A.dtype)
        for i in prange(A.shape[0]):
            out[i] = bias
            for k in range(A.shape[1]):
                for j in range(B.shape[1]):
                    out[i, j] += A[i, k] * B[k, j]
            for j in range(B.shape[1]):
                out[i, j] = max(out[i, j], np.float32(0))
        return out

    @fast
    def squared(X, Y):  # type: ignore[no-untyped-def]
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
    def manhattan(X, Y):  # type: ignore[no-untyped-def]
        out = np.empty((len(X), len(Y)), X.dtype)
        for i in prange(len(X)):
            for j in range(len(Y)):
                total = np.float32(0)
                for k in range(X.shape[1]):
                    total += abs(X[i, k] - Y[j, k])
                out[i, j] = total
        return out

    @fast
    def bodies(x, y, z, mass):  # type: ignore[no-untyped-def]
        ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)
        for i in prange(len(x)):
            sx, sy, sz = np.float32(0), np.float32(0), np.float32(0)
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                inverse = np.float32(1) / np.sqrt(dx * dx + dy * dy + dz * dz + np.float32(nbody.SOFTENING))
                strength = mass[j] * inverse * inverse * inverse
                sx += dx * strength
                sy += dy * strength
                sz += dz * strength
            ax[i], ay[i], az[i] = sx, sy, sz
        return ax, ay, az

    @fast
    def kmeans(points, centroids):  # type: ignore[no-untyped-def]
        out = np.empty(len(points), np.int64)
        for i in prange(len(points)):
            least = np.float32(np.inf)
            for c in range(len(centroids)):
                total = np.float32(0)
                for k in range(points.shape[1]):
                    d = points[i, k] - centroids[c, k]
                    total += d * d
                if total < least:
                    least, out[i] = total, c
        return out

    @fast
    def mri_q(kx, ky, kz, phi_r, phi_i, x, y, z):  # type: ignore[no-untyped-def]
        real, imaginary = np.empty_like(x), np.empty_like(x)
        for i in prange(len(x)):
            r, q = np.float32(0), np.float32(0)
            for k in range(len(kx)):
                angle = np.float32(2 * pi) * (kx[k] * x[i] + ky[k] * y[i] + kz[k] * z[i])
                weight = phi_r[k] * phi_r[k] + phi_i[k] * phi_i[k]
                r += weight * np.cos(angle)
                q += weight * np.sin(angle)
            real[i], imaginary[i] = r, q
        return real, imaginary

    return {
        "matmul-f32": matmul,
        "matmul-f64": matmul,
        "linear_relu": linear_relu,
        "pair_distances-squared": squared,
        "pair_distances-manhattan": manhattan,
        "nbody": bodies,
        "kmeans": kmeans,
        "mri_q": mri_q,
    }


def _stencils(fast: Any, inline: Any, prange: Any) -> dict[str, Jitted]:
    """Of a padded grid `p`, the result at a place (i, j) or (i, j, k), whose neighbours begin there."""

    def plane(at: Any, mode: str = "edge") -> Jitted:
        at = inline(at)

        @fast
        def run(p, out):  # type: ignore[no-untyped-def]
            for i in prange(out.shape[0]):
                for j in range(out.shape[1]):
                    out[i, j] = at(p, i, j)
            return out

        return lambda x: run(np.pad(x, 1, mode), np.empty_like(x))  # type: ignore[call-overload]

    def volume(at: Any, mode: str = "edge") -> Jitted:
        at = inline(at)

        @fast
        def run(p, out):  # type: ignore[no-untyped-def]
            for i in prange(out.shape[0]):
                for j in range(out.shape[1]):
                    for k in range(out.shape[2]):
                        out[i, j, k] = at(p, i, j, k)
            return out

        return lambda x: run(np.pad(x, 1, mode), np.empty_like(x))  # type: ignore[call-overload]

    @inline
    def sides(p, i, j):  # type: ignore[no-untyped-def]
        return p[i, j + 1] + p[i + 1, j] + p[i + 1, j + 2] + p[i + 2, j + 1]

    @inline
    def corners(p, i, j):  # type: ignore[no-untyped-def]
        return p[i, j] + p[i, j + 2] + p[i + 2, j] + p[i + 2, j + 2]

    @inline
    def faces(p, i, j, k):  # type: ignore[no-untyped-def]
        along = p[i, j + 1, k + 1] + p[i + 2, j + 1, k + 1] + p[i + 1, j, k + 1] + p[i + 1, j + 2, k + 1]
        return along + p[i + 1, j + 1, k] + p[i + 1, j + 1, k + 2]

    def life(p, i, j):  # type: ignore[no-untyped-def]
        count = sides(p, i, j) + corners(p, i, j)
        return np.int32(count == 3 or (count == 2 and p[i + 1, j + 1] == 1))

    fifth, ninth, seventh = np.float32(0.2), np.float32(1 / 9), np.float32(1 / 7)
    middle, side, corner = (np.float32(w) for w in stencil_2d.WEIGHTS)
    spread, six = np.float32(heat_3d.C), np.float32(6)
    step, ry, rx, rz, ambient = (
        np.float32(getattr(hotspot_2d, name)) for name in ("STEP", "RY", "RX", "RZ", "AMBIENT")
    )

    @fast
    def hotspot(p, power):  # type: ignore[no-untyped-def]
        out = np.empty_like(power)
        for i in prange(out.shape[0]):
            for j in range(out.shape[1]):
                t = p[i + 1, j + 1]
                column, row = p[i, j + 1] + p[i + 2, j + 1], p[i + 1, j] + p[i + 1, j + 2]
                flow = (column - t - t) * ry + (row - t - t) * rx + (ambient - t) * rz
                out[i, j] = t + step * (power[i, j] + flow)
        return out

    return {
        "jacobi_2d-5": plane(lambda p, i, j: fifth * (p[i + 1, j + 1] + sides(p, i, j)), "symmetric"),
        "jacobi_2d-9": plane(
            lambda p, i, j: ninth * (p[i + 1, j + 1] + sides(p, i, j) + corners(p, i, j)), "symmetric"
        ),
        "stencil_2d": plane(
            lambda p, i, j: middle * p[i + 1, j + 1] + side * sides(p, i, j) + corner * corners(p, i, j)
        ),
        "game_of_life": plane(life, "wrap"),
        "hotspot_2d": lambda temperature, power: hotspot(np.pad(temperature, 1, "edge"), power),
        "jacobi_3d-7": volume(lambda p, i, j, k: seventh * (p[i + 1, j + 1, k + 1] + faces(p, i, j, k))),
        "heat_3d": volume(
            lambda p, i, j, k: p[i + 1, j + 1, k + 1] + spread * (faces(p, i, j, k) - six * p[i + 1, j + 1, k + 1]),
            "constant",
        ),
    }
