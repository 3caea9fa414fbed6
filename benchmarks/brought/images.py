"""Images with channels: convolutions, pooling, means, edges, other orders of the axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import egglift as el
from benchmarks.brought.program import Brought, Sizes
from benchmarks.brought.vectors import dot, floats, largest, squares, total
from benchmarks.programs.sobel import steepness

ZERO = ("constant", 0.0)


def convolution_channels(batch: int, channels: int, outputs: int, side: int) -> Any:
    """Windows of 3 x 3 of all channels times the weights of each output, without edges."""
    W = floats("W", outputs, channels, 3, 3)

    def sum_of_products(window: Any, weights: Any) -> Any:
        return total(window.map(lambda a, b: total(a.map(dot, b)), weights))

    def convolved(image: Any) -> Any:
        windows = image.map(lambda channel: el.slide2d(3, 1, channel))
        places = el.transpose(windows).map(el.transpose)
        return W.map(lambda w: places.map(lambda row: row.map(lambda window: sum_of_products(window, w))))

    return floats("I", batch, channels, side, side).map(convolved)


def depthwise_conv(batch: int, channels: int, side: int) -> Any:
    """Each channel convolved with a window of 3 x 3 of its own, zero outside."""
    W = floats("W", channels, 3, 3)

    def convolved(channel: Any, weights: Any) -> Any:
        return el.stencil(lambda window: dot(window.join(), weights.join()), (3, 3), 1, 1, 1, ZERO, channel)

    return floats("I", batch, channels, side, side).map(lambda image: image.map(convolved, W))


def pointwise_conv(batch: int, channels: int, outputs: int, side: int) -> Any:
    """Of each pixel, its channels times the weights of each output."""
    W = floats("W", outputs, channels)

    def mixed(image: Any) -> Any:
        pixels = image.map(el.join).T
        return W.map(lambda w: pixels.map(lambda pixel: dot(pixel, w)))

    return floats("I", batch, channels, side, side).map(mixed)


def max_pool(batch: int, channels: int, side: int) -> Any:
    """The maximum of every square of 2 x 2."""

    def pooled(channel: Any) -> Any:
        return el.stencil(lambda window: largest(window.join()), (2, 2), 2, 0, 0, ZERO, channel)

    return floats("I", batch, channels, side, side).map(lambda image: image.map(pooled))


def channel_means(batch: int, channels: int, side: int) -> Any:
    """The mean of every channel of every image."""
    images = floats("I", batch, channels, side, side)
    return images.map(lambda image: image.map(lambda channel: total(channel.join()) / side**2))


def batch_norm_stats(batch: int, channels: int, side: int) -> Any:
    """The mean and the variance of every channel of a whole batch."""
    count = batch * side**2

    def statistics(channel: Any) -> Any:
        values = channel.join().join()
        mean = total(values) / count
        return el.tuple(mean, squares(values.map(lambda v: v - mean)) / count)

    return el.transpose(floats("I", batch, channels, side, side)).map(statistics)


def sobel(side: int) -> Any:
    """How steep a picture is, which is zero outside."""
    return el.stencil(steepness, (3, 3), 1, 1, 1, ZERO, floats("G", side, side))


def rotate_axes(n: int) -> Any:
    """`T[i, j, k] -> T[k, i, j]`"""
    return el.transpose(floats("T", n, n, n).map(el.transpose))


def rotate_hwc(height: int, width: int) -> Any:
    """An image of pixels of three channels, as three channels: HWC -> CHW."""
    return el.transpose(floats("I", height, width, 3).map(el.transpose))


# ---------------------------------------------------------------------------------------- what they mean


def _convolution(I: Any, W: Any) -> Any:
    windows = sliding_window_view(I, (3, 3), (2, 3))
    return np.einsum("bcyxij,ocij->boyx", windows, W, optimize=True)


def _depthwise(I: Any, W: Any) -> Any:
    padded, (height, width) = np.pad(I, ((0, 0), (0, 0), (1, 1), (1, 1))), I.shape[2:]
    shifted = ((W[:, i, j], padded[:, :, i : i + height, j : j + width]) for i in range(3) for j in range(3))
    return sum(weight[:, None, None] * part for weight, part in shifted)


def _depthwise_in_torch(torch: Any, I: Any, W: Any) -> Any:
    return torch.nn.functional.conv2d(I, W[:, None], padding=1, groups=W.shape[0])


def _max_pool(I: Any) -> Any:
    batch, channels, height, width = I.shape
    return I.reshape(batch, channels, height // 2, 2, width // 2, 2).max((3, 5))


def _batch_norm_in_torch(torch: Any, I: Any) -> Any:
    variance, mean = torch.var_mean(I, (0, 2, 3), correction=0)
    return mean, variance


def _slope(padded: Any) -> Any:
    """Sobel's, of what has an edge around it."""
    height, width = padded.shape[0] - 2, padded.shape[1] - 2
    near = {(i, j): padded[i : i + height, j : j + width] for i in range(3) for j in range(3)}
    gx = near[0, 2] - near[0, 0] + 2 * (near[1, 2] - near[1, 0]) + near[2, 2] - near[2, 0]
    gy = near[2, 0] - near[0, 0] + 2 * (near[2, 1] - near[0, 1]) + near[2, 2] - near[0, 2]
    return (gx * gx + gy * gy) ** 0.5


BATCH = Sizes((2, 3, 8), (4, 16, 32), (32, 128, 56))
PROGRAMS = (
    Brought(
        convolution_channels,
        Sizes((2, 3, 4, 7), (2, 16, 16, 34), (32, 64, 64, 66)),
        _convolution,
        lambda torch, I, W: torch.nn.functional.conv2d(I, W),
    ),
    Brought(depthwise_conv, BATCH, _depthwise, _depthwise_in_torch),
    Brought(
        pointwise_conv,
        Sizes((2, 3, 4, 8), (4, 16, 16, 32), (32, 128, 128, 56)),
        lambda I, W: W @ I.reshape(*I.shape[:2], -1),
    ),
    Brought(max_pool, BATCH, _max_pool, lambda torch, I: torch.nn.functional.max_pool2d(I, 2)),
    Brought(channel_means, BATCH, lambda I: I.mean((2, 3))),
    Brought(batch_norm_stats, BATCH, lambda I: (I.mean((0, 2, 3)), I.var((0, 2, 3))), _batch_norm_in_torch),
    Brought(
        sobel,
        Sizes((20,), (1024,), (8192,)),
        lambda G: _slope(np.pad(G, 1)),
        lambda torch, G: _slope(torch.nn.functional.pad(G, (1, 1, 1, 1))),
    ),
    Brought(
        rotate_axes,
        Sizes((8,), (64,), (256,)),
        lambda T: np.ascontiguousarray(T.transpose(2, 0, 1)),
        lambda torch, T: T.permute(2, 0, 1).contiguous(),
    ),
    Brought(
        rotate_hwc,
        Sizes((5, 6), (256, 256), (2048, 2048)),
        lambda I: np.ascontiguousarray(I.transpose(2, 0, 1)),
        lambda torch, I: I.permute(2, 0, 1).contiguous(),
    ),
)
