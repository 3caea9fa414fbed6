"""Normalisations, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import normal, of
from benchmarks.unseen.program import Unseen

f16, f32 = el.f16, el.f32


def batch_norm(n: int, c: int, h: int, w: int) -> Any:
    """Batch norm in training: the result, and mean and variance of the batch."""
    x, gamma, beta = el.array("x", f32, (n, c, h, w)), el.array("gamma", f32, c), el.array("beta", f32, c)
    mean, var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
    scale = gamma / np.sqrt(var + 1e-5)
    return el.tuple((x - mean[:, None, None]) * scale[:, None, None] + beta[:, None, None], mean, var)


def batch_norm_numpy(x: Any, gamma: Any, beta: Any) -> Any:
    """The same in NumPy."""
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    scale = gamma / np.sqrt(var + 1e-5)
    return (x - mean[:, None, None]) * scale[:, None, None] + beta[:, None, None], mean, var


def batch_norm_torch(torch: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """The same in torch."""
    var, mean = torch.var_mean(x, dim=(0, 2, 3), unbiased=False)
    scale = gamma * torch.rsqrt(var + 1e-5)
    return (x - mean[:, None, None]) * scale[:, None, None] + beta[:, None, None], mean, var


def group_norm_silu(n: int, c: int, g: int, h: int, w: int) -> Any:
    """Group norm with SiLU."""
    x, gamma, beta = el.array("x", f32, (n, c, h, w)), el.array("gamma", f32, c), el.array("beta", f32, c)
    groups = x.reshape(n, g, c // g, h, w)
    mean, var = groups.mean(axis=(2, 3, 4), keepdims=True), groups.var(axis=(2, 3, 4), keepdims=True)
    y = ((groups - mean) / np.sqrt(var + 1e-5)).reshape(n, c, h, w) * gamma[:, None, None] + beta[:, None, None]
    return y / (1 + np.exp(-y))


GROUPS = 8


def group_norm_numpy(x: Any, gamma: Any, beta: Any) -> Any:
    """The same in NumPy."""
    n, c, h, w = x.shape
    q = x.reshape(n, GROUPS, c // GROUPS, h, w)
    q = (q - q.mean((2, 3, 4), keepdims=True)) / np.sqrt(q.var((2, 3, 4), keepdims=True) + 1e-5)
    y = q.reshape(x.shape) * gamma[:, None, None] + beta[:, None, None]
    return y / (1 + np.exp(-y))


def group_norm_torch(torch: Any, x: Any, gamma: Any, beta: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    return F.silu(F.group_norm(x, GROUPS, gamma, beta))


def rms_norm(b: int, t: int, d: int) -> Any:
    """A residual, then RMS norm: what a layer of a language model begins with."""
    x, r, weight = el.array("x", f32, (b, t, d)), el.array("r", f32, (b, t, d)), el.array("w", f32, d)
    s = x + r
    return el.tuple(s, s / np.sqrt((s * s).mean(axis=-1, keepdims=True) + 1e-6) * weight)


def rms_norm_numpy(x: Any, r: Any, w: Any) -> Any:
    """The same in NumPy."""
    s = x + r
    return s, s / np.sqrt((s * s).mean(-1, keepdims=True) + 1e-6) * w


def rms_norm_torch(torch: Any, x: Any, r: Any, w: Any) -> Any:
    """The same in torch."""
    s = x + r
    return s, s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-6) * w


def softmax_backward(b: int, n: int) -> Any:
    """The input's gradient of softmax."""
    y, g = el.array("y", f32, (b, n)), el.array("g", f32, (b, n))
    return y * (g - (y * g).sum(axis=1, keepdims=True))


def layer_norm_backward(b: int, n: int) -> Any:
    """The input's gradient of layer norm."""
    x, g, w = el.array("x", f32, (b, n)), el.array("g", f32, (b, n)), el.array("w", f32, n)
    rstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    hat = (x - x.mean(axis=1, keepdims=True)) * rstd
    wg = w * g
    return rstd * (wg - wg.mean(axis=1, keepdims=True) - hat * (wg * hat).mean(axis=1, keepdims=True))


def layer_norm_backward_numpy(x: Any, g: Any, w: Any) -> Any:
    """The same in NumPy."""
    rstd = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    hat = (x - x.mean(1, keepdims=True)) * rstd
    wg = w * g
    return rstd * (wg - wg.mean(1, keepdims=True) - hat * (wg * hat).mean(1, keepdims=True))


def layer_norm_backward_torch(torch: Any, x: Any, g: Any, w: Any) -> Any:
    """The same in torch."""
    var, mean = torch.var_mean(x, dim=1, unbiased=False, keepdim=True)
    rstd = torch.rsqrt(var + 1e-5)
    hat = (x - mean) * rstd
    wg = w * g
    return rstd * (wg - wg.mean(1, keepdim=True) - hat * (wg * hat).mean(1, keepdim=True))


def draw_norm(rng: Any, n: int, c: int, *rest: int) -> Any:
    """Images of normal numbers, a factor and a shift of each channel."""
    return {"x": normal(rng, n, c, *rest[-2:]), "gamma": normal(rng, c), "beta": normal(rng, c)}


def instance_norm(n: int, c: int, h: int, w: int) -> Any:
    """Instance norm, leaky ReLU."""
    x = el.array("x", f32, (n, c, h, w))
    y = (x - x.mean(axis=(2, 3), keepdims=True)) / np.sqrt(x.var(axis=(2, 3), keepdims=True) + 1e-5)
    return el.where(y > 0, y, 0.01 * y)


def instance_norm_numpy(x: Any) -> Any:
    """The same in NumPy."""
    y = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    return np.where(y > 0, y, np.float32(0.01) * y)


def instance_norm_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    return F.leaky_relu(F.instance_norm(x), 0.01)


def half_norm_gelu(n: int, d: int) -> Any:
    """Layer norm and tanh-GELU of halves."""
    x, w, b = el.array("x", f16, (n, d)), el.array("w", f16, d), el.array("b", f16, d)
    y = x.astype(f32)
    y = (y - y.mean(axis=1, keepdims=True)) / np.sqrt(y.var(axis=1, keepdims=True) + 1e-5) * w.astype(f32) + b.astype(
        f32
    )
    return (0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))).astype(f16)


def half_numpy(x: Any, w: Any, b: Any) -> Any:
    """The same in NumPy."""
    y = x.astype("f4")
    y = (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5) * w.astype("f4") + b.astype("f4")
    return (0.5 * y * (1 + np.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))).astype("f2")


def half_torch(torch: Any, x: Any, w: Any, b: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    return F.gelu(F.layer_norm(x.float(), x.shape[1:], w.float(), b.float()), approximate="tanh").half()


PROGRAMS = (
    Unseen(
        "batch_norm_training",
        batch_norm,
        (3, 4, 5, 6),
        (32, 128, 56, 56),
        batch_norm_numpy,
        batch_norm_torch,
        draw_norm,
    ),
    Unseen(
        "group_norm_silu",
        group_norm_silu,
        (2, 16, 8, 5, 6),
        (16, 320, 8, 64, 64),
        group_norm_numpy,
        group_norm_torch,
        draw_norm,
    ),
    Unseen(
        "residual_rms_norm",
        rms_norm,
        (2, 5, 24),
        (4, 2048, 4096),
        rms_norm_numpy,
        rms_norm_torch,
        lambda rng, b, t, d: {"x": normal(rng, b, t, d), "r": normal(rng, b, t, d), "w": normal(rng, d)},
    ),
    Unseen(
        "softmax_backward",
        softmax_backward,
        (7, 20),
        (16384, 4096),
        lambda y, g: y * (g - (y * g).sum(1, keepdims=True)),
        lambda torch, y, g: y * (g - (y * g).sum(1, keepdim=True)),
        lambda rng, b, n: {"y": normal(rng, b, n), "g": normal(rng, b, n)},
        atol=1e-2,
    ),
    Unseen(
        "layer_norm_backward",
        layer_norm_backward,
        (7, 20),
        (16384, 1024),
        layer_norm_backward_numpy,
        layer_norm_backward_torch,
        lambda rng, b, n: {"x": normal(rng, b, n), "g": normal(rng, b, n), "w": normal(rng, n)},
    ),
    Unseen(
        "instance_norm_leaky",
        instance_norm,
        (2, 3, 5, 6),
        (8, 64, 256, 256),
        instance_norm_numpy,
        instance_norm_torch,
        of("x"),
    ),
    Unseen(
        "half_norm_gelu",
        half_norm_gelu,
        (6, 32),
        (32768, 2048),
        half_numpy,
        half_torch,
        lambda rng, n, d: {
            "x": normal(rng, n, d).astype("f2"),
            "w": normal(rng, d).astype("f2"),
            "b": normal(rng, d).astype("f2"),
        },
        rtol=1e-2,
        atol=1e-2,
    ),
)
