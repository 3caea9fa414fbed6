"""Pixels: colours of bytes to others, and pictures of functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import bytes_of, ints, uniform
from benchmarks.unseen.program import Unseen

f32, u8 = el.f32, el.u8


def rgb_to_hsv(h: int, w: int) -> Any:
    """RGB bytes to hue, saturation and value."""
    x = el.array("x", u8, (h, w, 3)).astype(f32) / 255
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    top, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    span = top - low
    safe = el.where(span == 0, 1.0, span)
    hue = el.where(top == r, (g - b) / safe, el.where(top == g, 2 + (b - r) / safe, 4 + (r - g) / safe)) / 6
    return el.stack([hue - np.floor(hue), el.where(top == 0, 0.0, span / el.where(top == 0, 1.0, top)), top], axis=-1)


def hsv_numpy(x: Any) -> Any:
    """The same in NumPy."""
    x = x.astype("f4") / np.float32(255)
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    top, low = x.max(-1), x.min(-1)
    span = top - low
    safe = np.where(span == 0, 1, span)
    hue = np.where(top == r, (g - b) / safe, np.where(top == g, 2 + (b - r) / safe, 4 + (r - g) / safe)) / 6
    return np.stack([hue - np.floor(hue), np.where(top == 0, 0, span / np.where(top == 0, 1, top)), top], -1)


def hsv_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    x = x.float() / 255
    r, g, b = x.unbind(-1)
    top, low = x.amax(-1), x.amin(-1)
    span = top - low
    safe = torch.where(span == 0, torch.ones_like(span), span)
    hue = torch.where(top == r, (g - b) / safe, torch.where(top == g, 2 + (b - r) / safe, 4 + (r - g) / safe)) / 6
    s = span / torch.where(top == 0, torch.ones_like(top), top)
    return torch.stack([hue - hue.floor(), s, top], -1)


def alpha_blend(h: int, w: int) -> Any:
    """Alpha blending of two RGBA byte images."""
    a, b = el.array("a", u8, (h, w, 4)), el.array("b", u8, (h, w, 4))
    p, q = a.astype(el.i32), b.astype(el.i32)
    alpha = p[..., 3:]
    return ((alpha * p + (255 - alpha) * q + 127) // 255).astype(u8)


def blend_numpy(a: Any, b: Any) -> Any:
    """The same in NumPy."""
    p, q = a.astype("i4"), b.astype("i4")
    return ((p[..., 3:] * p + (255 - p[..., 3:]) * q + 127) // 255).astype("u1")


def blend_torch(torch: Any, a: Any, b: Any) -> Any:
    """The same in torch."""
    p, q = a.int(), b.int()
    return ((p[..., 3:] * p + (255 - p[..., 3:]) * q + 127) // 255).to(torch.uint8)


MEAN, STD = np.array([0.485, 0.456, 0.406], "f4"), np.array([0.229, 0.224, 0.225], "f4")


def to_network(n: int, h: int, w: int) -> Any:
    """Bytes, channels last, to normalised floats, channels first."""
    x = el.array("x", u8, (n, h, w, 3)).astype(f32) / 255
    return ((x - el.literal(MEAN)) / el.literal(STD)).transpose(0, 3, 1, 2)


def to_network_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    mean, std = (torch.tensor(v.tolist(), device=x.device) for v in (MEAN, STD))
    return ((x.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()


def mandelbrot(h: int, w: int) -> Any:
    """How many of 50 steps of each point stay within 2."""
    re, im = el.array("re", f32, w), el.array("im", f32, h)

    def count(y: Any, x: Any) -> Any:
        def step(s: Any) -> Any:
            a, b, n = s[0], s[1], s[2]
            inside = a * a + b * b <= 4
            return el.tuple(
                el.where(inside, a * a - b * b + x, a), el.where(inside, 2 * a * b + y, b), n + inside.astype(el.i32)
            )

        zero = el.literal(np.float32(0))
        return el.iterate(50, step, el.tuple(zero, zero, el.literal(np.int32(0))))[2]

    return im.map(lambda y: re.map(lambda x: count(y, x)))


def mandelbrot_numpy(re: Any, im: Any) -> Any:
    """The same in NumPy."""
    x, y = np.broadcast_to(re, (len(im), len(re))), np.broadcast_to(im[:, None], (len(im), len(re)))
    a, b, n = np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, "i4")
    for _ in range(50):
        inside = a * a + b * b <= 4
        a, b, n = np.where(inside, a * a - b * b + x, a), np.where(inside, 2 * a * b + y, b), n + inside
    return n


def mandelbrot_torch(torch: Any, re: Any, im: Any) -> Any:
    """The same in torch."""
    x, y = re.expand(len(im), -1), im[:, None].expand(-1, len(re))
    a, b, n = torch.zeros_like(x), torch.zeros_like(x), torch.zeros_like(x, dtype=torch.int32)
    for _ in range(50):
        inside = a * a + b * b <= 4
        a, b, n = torch.where(inside, a * a - b * b + x, a), torch.where(inside, 2 * a * b + y, b), n + inside.int()
    return n


def metaballs(h: int, w: int, m: int) -> Any:
    """A field of metaballs on a grid."""
    x, y = el.array("x", f32, w), el.array("y", f32, h)
    cx, cy, r = (el.array(name, f32, m) for name in ("cx", "cy", "r"))

    def at(py: Any, px: Any) -> Any:
        return (r * r / ((px - cx) ** 2 + (py - cy) ** 2 + 1e-3)).sum()

    return y.map(lambda py: x.map(lambda px: at(py, px)))


def balls_numpy(x: Any, y: Any, cx: Any, cy: Any, r: Any) -> Any:
    """The same in NumPy."""
    return (r * r / ((x[None, :, None] - cx) ** 2 + (y[:, None, None] - cy) ** 2 + 1e-3)).sum(2)


def palette(h: int, w: int) -> Any:
    """Of each pixel of bytes, the nearest of 16 colours, by number."""
    x, colours = el.array("x", u8, (h, w, 3)).astype(f32), el.array("colours", f32, (16, 3))
    return ((x[:, :, None, :] - colours) ** 2).sum(axis=3).argmin(axis=2).astype(u8)


def palette_numpy(x: Any, colours: Any) -> Any:
    """The same in NumPy."""
    return ((x[:, :, None].astype("f4") - colours) ** 2).sum(3).argmin(2).astype("u1")


def palette_torch(torch: Any, x: Any, colours: Any) -> Any:
    """The same in torch."""
    return ((x[:, :, None].float() - colours) ** 2).sum(3).argmin(2).to(torch.uint8)


def yuv420(x: Any, pack: Any) -> Any:
    """RGB to luma and half-size chroma: three results."""
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    y = 0.299 * r + 0.587 * g + 0.114 * b

    def quarter(p: Any) -> Any:
        return (p[::2, ::2] + p[::2, 1::2] + p[1::2, ::2] + p[1::2, 1::2]) * 0.25

    return pack(y, quarter(0.564 * (b - y)) + 128, quarter(0.713 * (r - y)) + 128)


PROGRAMS = (
    Unseen(
        "rgb_to_hsv",
        rgb_to_hsv,
        (10, 12),
        (4096, 4096),
        hsv_numpy,
        hsv_torch,
        lambda rng, h, w: bytes_of("x")(rng, h, w, 3),
    ),
    Unseen(
        "alpha_blend",
        alpha_blend,
        (10, 12),
        (4096, 4096),
        blend_numpy,
        blend_torch,
        lambda rng, h, w: {name: ints(rng, 0, 256, h, w, 4, dtype="u1") for name in "ab"},
    ),
    Unseen(
        "bytes_to_network",
        to_network,
        (2, 6, 8),
        (64, 512, 512),
        lambda x: ((x.astype("f4") / np.float32(255) - MEAN) / STD).transpose(0, 3, 1, 2),
        to_network_torch,
        lambda rng, *shape: bytes_of("x")(rng, *shape, 3),
    ),
    Unseen(
        "mandelbrot",
        mandelbrot,
        (10, 12),
        (4096, 4096),
        mandelbrot_numpy,
        mandelbrot_torch,
        lambda rng, h, w: {"re": np.linspace(-2, 1, w, dtype="f4"), "im": np.linspace(-1.2, 1.2, h, dtype="f4")},
    ),
    Unseen(
        "metaballs",
        metaballs,
        (9, 10, 5),
        (2048, 2048, 128),
        balls_numpy,
        lambda torch, x, y, cx, cy, r: balls_numpy(x, y, cx, cy, r),
        lambda rng, h, w, m: (
            {"x": uniform(rng, w), "y": uniform(rng, h)} | {s: uniform(rng, m) for s in ("cx", "cy", "r")}
        ),
    ),
    Unseen(
        "palette_16",
        palette,
        (9, 10),
        (2048, 4096),
        palette_numpy,
        palette_torch,
        lambda rng, h, w: {"x": ints(rng, 0, 256, h, w, 3, dtype="u1"), "colours": 255 * uniform(rng, 16, 3)},
    ),
    Unseen(
        "rgb_to_yuv420",
        lambda h, w: yuv420(el.array("x", u8, (h, w, 3)).astype(f32), el.tuple),
        (8, 10),
        (8192, 4096),
        lambda x: yuv420(x.astype("f4"), lambda *p: p),
        lambda torch, x: yuv420(x.float(), lambda *p: p),
        lambda rng, h, w: {"x": ints(rng, 0, 256, h, w, 3, dtype="u1")},
        atol=1e-2,
    ),
)
