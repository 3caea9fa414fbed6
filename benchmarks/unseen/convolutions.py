"""Convolutions and pooling of images and signals with channels, and moves of their pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows_of

import egglift as el
from benchmarks.unseen.drawn import normal, of
from benchmarks.unseen.program import Unseen

f32 = el.f32


def conv2d(n: int, c: int, k: int, h: int, w: int) -> Any:
    """A convolution of 3 x 3 with channels and a bias, zero outside."""
    x, weights, bias = el.array("x", f32, (n, c, h, w)), el.array("w", f32, (k, c, 3, 3)), el.array("b", f32, k)
    padded: Any = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    patches = padded.map(lambda image: image.map(lambda plane: el.slide2d(3, 1, plane)))
    return el.einsum("nchwij,kcij->nkhw", patches, weights) + bias[:, None, None]


def conv2d_numpy(x: Any, w: Any, b: Any) -> Any:
    """The same in NumPy."""
    patches = windows_of(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    return np.einsum("nchwij,kcij->nkhw", patches, w, optimize=True) + b[:, None, None]


def depthwise_stride2(n: int, c: int, h: int, w: int) -> Any:
    """A convolution of 5 x 5 of each channel by itself, stride 2."""
    x, weights = el.array("x", f32, (n, c, h, w)), el.array("w", f32, (c, 5, 5))
    padded: Any = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
    patches = padded.map(lambda image: image.map(lambda plane: el.slide2d(5, 2, plane)))
    return (patches * weights[:, None, None]).sum(axis=(-1, -2))


def depthwise_numpy(x: Any, w: Any) -> Any:
    """The same in NumPy."""
    patches = windows_of(np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2))), (5, 5), (2, 3))[:, :, ::2, ::2]
    return np.einsum("nchwij,cij->nchw", patches, w)


def dilated_conv1d(n: int, c: int, k: int, t: int) -> Any:
    """A causal convolution of series with channels, dilation 4 (WaveNet), then tanh."""
    x, weights = el.array("x", f32, (n, c, t)), el.array("w", f32, (k, c, 3))
    padded: Any = np.pad(x, ((0, 0), (0, 0), (8, 0)))
    taps = [el.einsum("kc,nct->nkt", weights[:, :, j], padded[:, :, 4 * j : 4 * j + t]) for j in range(3)]
    return np.tanh(taps[0] + taps[1] + taps[2])


def dilated_numpy(x: Any, w: Any) -> Any:
    """The same in NumPy."""
    t = x.shape[2]
    p = np.pad(x, ((0, 0), (0, 0), (8, 0)))
    return np.tanh(sum(np.einsum("kc,nct->nkt", w[:, :, j], p[:, :, 4 * j : 4 * j + t]) for j in range(3)))


def dilated_torch(torch: Any, x: Any, w: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    return torch.tanh(F.conv1d(F.pad(x, (8, 0)), w, dilation=4))


def transposed_conv(n: int, c: int, k: int, h: int, w: int) -> Any:
    """A transposed convolution, kernel 2 and stride 2 (a U-Net's way up)."""
    x, weights = el.array("x", f32, (n, c, h, w)), el.array("w", f32, (c, k, 2, 2))
    blocks = el.einsum("nchw,ckij->nkhiwj", x, weights)
    return blocks.reshape(n, k, 2 * h, 2 * w)


def transposed_numpy(x: Any, w: Any) -> Any:
    """The same in NumPy."""
    n, _, h, wide = x.shape
    return np.einsum("nchw,ckij->nkhiwj", x, w, optimize=True).reshape(n, w.shape[1], 2 * h, 2 * wide)


def max_pool3(n: int, c: int, h: int, w: int) -> Any:
    """Max pooling of 3 x 3, stride 2, padding 1 with -inf."""
    x = el.array("x", f32, (n, c, h, w))
    padded: Any = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    return padded.map(lambda image: image.map(lambda plane: el.slide2d(3, 2, plane))).max(axis=(-1, -2))


def max_pool3_numpy(x: Any) -> Any:
    """The same in NumPy."""
    p = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    return windows_of(p, (3, 3), (2, 3))[:, :, ::2, ::2].max((-1, -2))


def pooled_linear(n: int, c: int, h: int, w: int, k: int) -> Any:
    """The mean of each channel, then a linear layer."""
    x, weights = el.array("x", f32, (n, c, h, w)), el.array("w", f32, (k, c))
    return x.mean(axis=(2, 3)) @ weights.T


def swin_windows(b: int, h: int, w: int, c: int) -> Any:
    """A partition into shifted Swin windows: roll, then axes in another order, scaled."""
    x, scale = el.array("x", f32, (b, h, w, c)), el.array("scale", f32, c)
    rolled = el.roll((-3, -3), x * scale, axis=(1, 2))
    return rolled.reshape(b, h // 7, 7, w // 7, 7, c).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def swin_numpy(x: Any, scale: Any) -> Any:
    """The same in NumPy."""
    b, h, w, c = x.shape
    r = np.roll(x * scale, (-3, -3), (1, 2)).reshape(b, h // 7, 7, w // 7, 7, c)
    return r.transpose(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def swin_torch(torch: Any, x: Any, scale: Any) -> Any:
    """The same in torch."""
    b, h, w, c = x.shape
    r = (x * scale).roll((-3, -3), (1, 2)).reshape(b, h // 7, 7, w // 7, 7, c)
    return r.permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)


def pixel_shuffle(n: int, c: int, h: int, w: int) -> Any:
    """A bias, a ReLU, and a pixel shuffle by 2."""
    x, b = el.array("x", f32, (n, 4 * c, h, w)), el.array("b", f32, 4 * c)
    y = np.maximum(x + b[:, None, None], 0).reshape(n, c, 2, 2, h, w)
    return y.transpose(0, 1, 4, 2, 5, 3).reshape(n, c, 2 * h, 2 * w)


def shuffle_numpy(x: Any, b: Any) -> Any:
    """The same in NumPy."""
    n, c4, h, w = x.shape
    y = np.maximum(x + b[:, None, None], 0).reshape(n, c4 // 4, 2, 2, h, w)
    return y.transpose(0, 1, 4, 2, 5, 3).reshape(n, c4 // 4, 2 * h, 2 * w)


def shuffle_torch(torch: Any, x: Any, b: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.pixel_shuffle(torch.relu(x + b[:, None, None]), 2)


def conv_nhwc(n: int, h: int, w: int, c: int, k: int) -> Any:
    """A convolution of 3 x 3 of images with channels last, stride 2, then a ReLU."""
    x, weights = el.array("x", f32, (n, h, w, c)), el.array("w", f32, (3, 3, c, k))
    p: Any = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [p[:, i : i + h : 2, j : j + w : 2] @ weights[i, j] for i in range(3) for j in range(3)]
    total = taps[0]
    for tap in taps[1:]:
        total = total + tap
    return np.maximum(total, 0)


def conv_nhwc_numpy(x: Any, w: Any) -> Any:
    """The same in NumPy."""
    h, wide = x.shape[1:3]
    p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.maximum(sum(p[:, i : i + h : 2, j : j + wide : 2] @ w[i, j] for i in range(3) for j in range(3)), 0)


def conv_nhwc_torch(torch: Any, x: Any, w: Any) -> Any:
    """The same in torch."""
    y = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=2, padding=1)
    return torch.relu(y).permute(0, 2, 3, 1)


def squeeze_excite(n: int, c: int, r: int, h: int, w: int) -> Any:
    """Squeeze and excite."""
    x, a, b = el.array("x", f32, (n, c, h, w)), el.array("a", f32, (r, c)), el.array("b", f32, (c, r))
    gate = 1 / (1 + np.exp(-(np.maximum(x.mean(axis=(2, 3)) @ a.T, 0) @ b.T)))
    return x * gate[:, :, None, None]


def squeeze_numpy(x: Any, a: Any, b: Any) -> Any:
    """The same in NumPy."""
    return x * (1 / (1 + np.exp(-(np.maximum(x.mean((2, 3)) @ a.T, 0) @ b.T))))[:, :, None, None]


def squeeze_torch(torch: Any, x: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    return x * torch.sigmoid(torch.relu(x.mean((2, 3)) @ a.T) @ b.T)[:, :, None, None]


def pointwise_residual(n: int, c: int, hw: int) -> Any:
    """A pointwise convolution with bias, a residual and ReLU6."""
    x, w, b = el.array("x", f32, (n, c, hw)), el.array("w", f32, (c, c)), el.array("b", f32, c)
    return np.clip(w @ x + b[:, None] + x, 0, 6)


def pointwise_torch(torch: Any, x: Any, w: Any, b: Any) -> Any:
    """The same in torch."""
    return torch.clamp(torch.baddbmm(x + b[:, None], w.expand(len(x), -1, -1), x), 0, 6)


PROGRAMS = (
    Unseen(
        "conv2d",
        conv2d,
        (2, 4, 5, 9, 10),
        (16, 64, 64, 56, 56),
        conv2d_numpy,
        lambda torch, x, w, b: torch.nn.functional.conv2d(x, w, b, padding=1),
        lambda rng, n, c, k, h, w: {
            "x": normal(rng, n, c, h, w),
            "w": normal(rng, k, c, 3, 3) / 9,
            "b": normal(rng, k),
        },
    ),
    Unseen(
        "depthwise_5x5_stride2",
        depthwise_stride2,
        (2, 3, 10, 12),
        (32, 128, 112, 112),
        depthwise_numpy,
        lambda torch, x, w: torch.nn.functional.conv2d(x, w[:, None], stride=2, padding=2, groups=w.shape[0]),
        lambda rng, n, c, h, w: {"x": normal(rng, n, c, h, w), "w": normal(rng, c, 5, 5)},
    ),
    Unseen(
        "dilated_conv1d_tanh",
        dilated_conv1d,
        (2, 4, 5, 32),
        (8, 64, 64, 16384),
        dilated_numpy,
        dilated_torch,
        lambda rng, n, c, k, t: {"x": normal(rng, n, c, t), "w": normal(rng, k, c, 3) / 8},
    ),
    Unseen(
        "transposed_conv_2x2",
        transposed_conv,
        (2, 4, 3, 5, 6),
        (8, 128, 64, 64, 64),
        transposed_numpy,
        lambda torch, x, w: torch.nn.functional.conv_transpose2d(x, w, stride=2),
        lambda rng, n, c, k, h, w: {"x": normal(rng, n, c, h, w), "w": normal(rng, c, k, 2, 2) / 8},
    ),
    Unseen(
        "max_pool_3x3_stride2",
        max_pool3,
        (2, 3, 10, 12),
        (32, 64, 112, 112),
        max_pool3_numpy,
        lambda torch, x: torch.nn.functional.max_pool2d(x, 3, 2, 1),
        of("x"),
    ),
    Unseen(
        "global_pool_linear",
        pooled_linear,
        (3, 8, 5, 5, 6),
        (256, 2048, 7, 7, 1000),
        lambda x, w: x.mean((2, 3)) @ w.T,
        lambda torch, x, w: torch.nn.functional.linear(x.mean((2, 3)), w),
        lambda rng, n, c, h, w, k: {"x": normal(rng, n, c, h, w), "w": normal(rng, k, c)},
    ),
    Unseen(
        "swin_windows",
        swin_windows,
        (2, 14, 21, 4),
        (32, 112, 112, 128),
        swin_numpy,
        swin_torch,
        lambda rng, b, h, w, c: {"x": normal(rng, b, h, w, c), "scale": normal(rng, c)},
    ),
    Unseen(
        "pixel_shuffle_relu",
        pixel_shuffle,
        (2, 3, 4, 5),
        (8, 32, 256, 256),
        shuffle_numpy,
        shuffle_torch,
        lambda rng, n, c, h, w: {"x": normal(rng, n, 4 * c, h, w), "b": normal(rng, 4 * c)},
    ),
    Unseen(
        "conv_nhwc_stride2",
        conv_nhwc,
        (2, 8, 10, 4, 5),
        (16, 112, 112, 64, 64),
        conv_nhwc_numpy,
        conv_nhwc_torch,
        lambda rng, n, h, w, c, k: {"x": normal(rng, n, h, w, c), "w": normal(rng, 3, 3, c, k) / 16},
    ),
    Unseen(
        "squeeze_excite",
        squeeze_excite,
        (2, 8, 3, 5, 6),
        (32, 256, 16, 56, 56),
        squeeze_numpy,
        squeeze_torch,
        lambda rng, n, c, r, h, w: {"x": normal(rng, n, c, h, w), "a": normal(rng, r, c), "b": normal(rng, c, r)},
    ),
    Unseen(
        "pointwise_residual",
        pointwise_residual,
        (2, 5, 12),
        (32, 128, 3136),
        lambda x, w, b: np.clip(w @ x + b[:, None] + x, 0, 6),
        pointwise_torch,
        lambda rng, n, c, hw: {"x": normal(rng, n, c, hw), "w": normal(rng, c, c) / 11, "b": normal(rng, c)},
    ),
)
