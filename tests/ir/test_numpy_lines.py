"""The text of a line means in a program what it means in NumPy: types, shapes and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.signature import inputs_of

RNG = np.random.default_rng(3)
INPUTS: dict[str, Any] = {
    "x": RNG.normal(size=12).astype("f4"),
    "y": RNG.normal(size=12).astype("f4"),
    "w": RNG.random(12, "f4"),
    "s": np.sort(RNG.normal(size=7)).astype("f4"),
    "d": RNG.normal(size=12),
    "h": RNG.normal(size=12).astype("f2"),
    "z": (RNG.normal(size=6) + 1j * RNG.normal(size=6)).astype("c8"),
    "b": RNG.random(12) < 0.5,
    "k": RNG.integers(-5, 6, 12).astype("i4"),
    "l": RNG.integers(-5, 6, 12),
    "u": RNG.integers(0, 200, 12).astype("u1"),
    "i": RNG.integers(0, 4, 5).astype("i4"),
    "A": RNG.normal(size=(4, 6)).astype("f4"),
    "B": RNG.normal(size=(6, 4)).astype("f4"),
    "S": RNG.normal(size=(4, 4)).astype("f4"),
    "K": RNG.integers(-5, 6, (4, 6)).astype("i4"),
    "M": RNG.random((4, 6)) < 0.5,
    "T": RNG.normal(size=(2, 3, 4)).astype("f4"),
}
#: one or more a line, put apart by " ; "
LINES = """
np.linalg.norm(x) ; np.linalg.norm(A, axis=1) ; np.linalg.norm(A) ; np.linalg.norm(A, 1) ; np.linalg.norm(A, np.inf)
np.linalg.norm(x, 1) ; np.linalg.norm(x, np.inf) ; np.linalg.norm(x, 3) ; np.linalg.norm(A, axis=0, keepdims=True)
np.linalg.norm(A, "fro") ; np.diff(x) ; np.diff(x, 2) ; np.diff(A, axis=0) ; np.clip(k, 0, None) ; np.clip(x, -1, 1)
x.clip(0, 1) ; np.where(x > 0, x, y) ; np.where(k > 0, k, 1.5) ; np.pad(x, 2) ; np.pad(x, (1, 2), mode="edge")
np.pad(A, ((1, 1), (2, 0)), mode="reflect") ; np.pad(x, 2, mode="symmetric") ; np.pad(x, 2, mode="wrap")
np.pad(x, 2, constant_values=7) ; np.roll(x, 2) ; np.roll(x, -3) ; np.roll(A, 1, axis=1)
np.roll(A, (1, 2), axis=(0, 1)) ; np.roll(A, 5) ; np.einsum("ij,jk->ik", A, B) ; np.einsum("ij->j", A)
np.einsum("ii->i", S) ; np.einsum("ii", S) ; np.einsum("ij,ij->", A, A) ; np.einsum("ijk,ij->k", T, T[:, :, 0])
np.tensordot(A, B, 1) ; np.tensordot(A, B, axes=([1], [0])) ; np.tensordot(T, T, axes=([0, 1], [0, 1]))
np.outer(x, y) ; np.cumsum(x) ; np.cumsum(A, axis=0) ; np.cumsum(A, axis=1) ; np.cumsum(A) ; np.cumsum(k)
np.cumsum(u) ; np.cumprod(x) ; np.histogram(x, bins=4, range=(-2, 2))
np.histogram(x, bins=np.array([-2, 0, 1, 3.0])) ; np.searchsorted(s, x) ; np.searchsorted(s, x, side="right")
np.digitize(x, np.array([-1, 0, 1.0])) ; np.convolve(x, y) ; np.convolve(x, y[:3], mode="same")
np.convolve(x, y[:3], mode="valid") ; np.correlate(x, y[:4]) ; np.correlate(x, y[:4], mode="full") ; np.gradient(x)
np.gradient(x, 0.5) ; np.gradient(A) ; np.gradient(A, axis=0) ; np.interp(x, s, s * 2) ; np.meshgrid(x, y)
np.meshgrid(x, y, indexing="ij") ; np.take_along_axis(A, K * 0, axis=0) ; np.take(x, i) ; np.take(A, i, axis=0)
np.take(A, i, axis=1) ; np.argmax(x) ; np.argmax(A, axis=1) ; np.argmin(A, axis=0) ; np.argmax(A)
np.argmax(A, axis=1, keepdims=True) ; A.sum(axis=-1, keepdims=True) ; A.mean(axis=(0, 1)) ; A.max(axis=-2)
np.sum(k) ; np.sum(u) ; np.sum(b) ; np.mean(k) ; np.mean(u) ; np.mean(h) ; np.sum(h) ; np.prod(k)
np.var(A, axis=0) ; np.std(A, axis=1, ddof=1) ; np.ptp(x) ; np.ptp(A, axis=1) ; np.average(x, weights=w)
np.average(A, axis=0) ; np.cov(A) ; np.cov(x, y) ; np.cov(A, rowvar=False) ; np.cov(A, ddof=0) ; np.corrcoef(A)
np.corrcoef(x, y) ; np.corrcoef(A, rowvar=False) ; x[::-1] ; x[2:9:3] ; x[-3:] ; x[::-2] ; x[10:2:-3] ; A[:, ::-1]
A[..., 0] ; A[-1] ; A[1:3, 2] ; A[:, None, :] ; A[np.newaxis] ; T[..., 1:3] ; T[1, ..., 2] ; x[k * 0 + 1]
x[np.array([0, 2, 5])] ; x[[0, 2, 5]] ; A[[0, 1], [2, 3]] ; A[:, [0, 2]] ; A[np.array([1, 0])] ; np.sum(x, where=b)
x * b ; np.add.reduce(A) ; np.add.reduce(A, axis=1) ; np.multiply.reduce(x) ; np.maximum.accumulate(x)
np.add.accumulate(A, axis=1) ; np.add.outer(x, y) ; np.logical_and.reduce(b) ; x + A[:, :1] ; A + A[0] ; A * x[:6]
A @ B ; x @ y ; A @ x[:6] ; T @ T.transpose(0, 2, 1) ; np.dot(A, B) ; np.dot(x, y) ; np.vdot(z, z) ; np.inner(A, A)
np.kron(x[:3], y[:2]) ; np.kron(S, S) ; np.cross(T[:, :, 0], T[:, :, 1]) ; np.trace(S) ; np.diag(S) ; np.diag(x)
np.tril(S) ; np.triu(S, 1) ; np.eye(4) + S ; T.T ; T.transpose() ; T.transpose(2, 0, 1) ; T.transpose((1, 0, 2))
np.swapaxes(T, 0, 2) ; np.moveaxis(T, 0, -1) ; T.swapaxes(0, 1) ; A.T ; T.reshape(6, 4) ; T.reshape(-1)
T.reshape(4, -1) ; T.ravel() ; T.flatten() ; np.reshape(T, (3, 8)) ; np.squeeze(A[None]) ; np.expand_dims(x, 1)
np.concatenate([x, y]) ; np.concatenate([A, A], axis=1) ; np.stack([x, y]) ; np.stack([x, y], axis=-1)
np.vstack([x, y]) ; np.hstack([x, y]) ; np.column_stack([x, y]) ; np.dstack([x, y]) ; np.split(x, 3)
np.array_split(x, 5) ; np.tile(x, 2) ; np.tile(A, (2, 1)) ; np.repeat(x, 2) ; np.repeat(A, 2, axis=0) ; np.flip(A)
np.flip(A, 0) ; np.fliplr(A) ; np.flipud(A) ; np.rot90(A) ; np.broadcast_to(x, (3, 12)) ; np.atleast_2d(x) ; x + k
x + d ; k + l ; u + k ; u + 1 ; u * 2.5 ; k / 2 ; k // 3 ; k % 3 ; k ** 2 ; x ** 2 ; 2 ** k.astype("f4") ; k / k
b + b ; b & (x > 0) ; ~b ; np.abs(k) ; abs(x) ; np.sign(x) ; np.sqrt(k * k) ; np.sqrt(u) ; np.exp(h) ; np.exp(k)
np.floor(x) ; np.round(x, 1) ; x.round() ; np.mod(x, 1) ; np.fmod(x, 1) ; np.divmod(k, 3) ; np.isnan(x)
np.isfinite(x) ; np.nan_to_num(x) ; np.nansum(x) ; np.nanmean(A, axis=0) ; np.maximum(x, 0) ; np.minimum(k, 2)
np.heaviside(x, 0.5) ; np.sinc(x) ; np.arctan2(x, y) ; np.hypot(x, y) ; np.deg2rad(x) ; np.degrees(x)
np.logaddexp(x, y) ; np.count_nonzero(k) ; np.count_nonzero(K, axis=1) ; np.any(b) ; np.all(M, axis=0)
np.isclose(x, y) ; np.allclose(x, x) ; np.array_equal(x, x) ; np.trapezoid(x) ; np.trapezoid(x, dx=0.5)
np.trapezoid(y, x) ; np.polyval([1, 2, 3], x) ; np.select([x > 1, x > 0], [x, y], 0) ; np.isin(k, [1, 2])
np.ediff1d(x) ; np.linalg.matrix_power(S, 3) ; np.ones_like(x) + x ; np.zeros_like(k) ; np.full_like(x, 3)
np.arange(12) * x ; np.linspace(0, 1, 12) * x ; x.mean(dtype="f8") ; x.sum(dtype=np.float64) ; x.astype(int)
x.astype(np.float16) ; x.shape[0] * x ; len(x) * x ; x.size * x ; A.ndim * x ; np.float32(2) * x ; np.float64(2) * x
np.int64(2) * x ; 2j * x ; z.conj() ; np.abs(z) ; z.real + z.imag ; np.angle(z) ; x.dot(y) ; A.dot(B) ; x.argmax()
A.any(axis=0) ; x.cumsum() ; x.repeat(2) ; np.ravel(A) ; A[np.ix_([0, 1], [1, 2])] ; np.copy(x) ; x.copy()
np.cumulative_sum(x) ; np.matvec(A, x[:6]) ; np.vecdot(x, y) ; np.linalg.vecdot(x, y)
np.permute_dims(T, (2, 1, 0)) ; np.block([[S, S], [S, S]]) ; np.append(x, y) ; np.square(x) ; np.reciprocal(x)
np.cbrt(x) ; np.float_power(x, 2) ; np.left_shift(k, 1) ; np.right_shift(k, 1) ; np.invert(k) ; np.copysign(x, y)
np.mean(A, axis=1)[:, None] * A ; (A - A.mean(axis=0)) / A.std(axis=0) ; np.hstack([A, A]) ; np.dstack([A, A])
np.block([[S, x[:4, None]], [y[None, :4], np.ones((1, 1))]]) ; np.block([x, y]) ; np.split(A, [1, 3], axis=1)
np.cov(x) ; np.cov(k) ; np.cov(z) ; np.cov(A, B.T, bias=True) ; np.cov(x, dtype='f4') ; np.corrcoef(A, dtype='f4')
np.corrcoef(z, z.conj()) ; np.corrcoef(k, u) ; np.vecmat(x[:4], A) ; np.matvec(T, x[:4]) ; np.searchsorted(s, d[0])
np.searchsorted(np.arange(-3, 3), K) ; np.histogram(A, [-1.0, 0, 1]) ; np.histogram(k, [-5, -1, 0, 5]) ; x.T
"""


@pytest.mark.parametrize("line", LINES.strip().replace("\n", " ; ").split(" ; "))
def test_a_line_means_what_it_means_in_numpy(line: str) -> None:
    values = {name: el.array(name, a.dtype, a.shape) for name, a in INPUTS.items()}
    wanted, built = meaning(line, INPUTS), meaning(line, values)
    for a, v in zip(parts(wanted), parts(built), strict=True):
        found = v
        if isinstance(v, el.Value):
            found = el.interpret(v, **{name: INPUTS[name] for name in inputs_of(v.expr)})
        found, a = np.asarray(found), np.asarray(a)
        assert (found.dtype, found.shape) == (a.dtype, a.shape)
        exact = 1e-3 if a.dtype == np.float16 else 1e-4
        np.testing.assert_allclose(found, a, rtol=exact, atol=1e-5)


def meaning(line: str, names: Mapping[str, Any]) -> Any:
    return eval(line, {"np": np, **names})


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("np.cov(T)", "variables are a matrix"),
        ("np.cov(A, fweights=[1, 2])", "no fweights="),
        ("np.searchsorted(A, x)", "a rising vector is searched"),
        ("np.searchsorted(s, x, side='middle')", 'side is "left" or "right"'),
        ("np.split(x, 5)", "12 elements are not 5 equal parts"),
        ("np.histogram(x, [1, 0])", "a vector of rising edges"),
        ("np.block([[A], B])", "nested alike"),
        ("x[b]", "how many elements there are would depend on their values"),
        ("np.sort(x)", "sorting is not in the language"),
    ],
)
def test_what_is_not_taken_says_why(line: str, why: str) -> None:
    with pytest.raises(el.EggliftError, match=why):
        meaning(line, {name: el.array(name, a.dtype, a.shape) for name, a in INPUTS.items()})
