"""Images: filters, warps, colours, transforms of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows_of

import egglift as el
from benchmarks.unseen.drawn import bytes_of, floats_of, of
from benchmarks.unseen.program import Unseen

f32, f64, i32, u8 = el.f32, el.f64, el.i32, el.u8


def upscale_bilinear(c: int, h: int, w: int) -> Any:
    """Images twice as large, bilinear (half-pixel centres, as torch's align_corners=False)."""
    x = el.array("x", f32, (c, h, w))

    def twice(row: Any) -> Any:
        """Each element becomes 0.25 left + 0.75 itself, and 0.75 itself + 0.25 right."""
        return (
            row.pad(1, 1, "clamp")
            .slide(3)
            .map(lambda t: el.stack([0.25 * t[0] + 0.75 * t[1], 0.75 * t[1] + 0.25 * t[2]]))
            .join()
        )

    return x.map(lambda plane: plane.map(twice).T.map(twice).T)


def upscale_numpy(x: Any) -> Any:
    """The same in NumPy."""

    def twice(a: Any) -> Any:
        p = np.pad(a, ((0, 0), (0, 0), (1, 1)), "edge")
        return np.stack([0.25 * p[..., :-2] + 0.75 * a, 0.75 * a + 0.25 * p[..., 2:]], -1).reshape(*a.shape[:2], -1)

    return twice(twice(x).swapaxes(1, 2)).swapaxes(1, 2)


def upscale_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.interpolate(x[None], scale_factor=2, mode="bilinear", align_corners=False)[0]


GAUSS = np.exp(-0.5 * (np.arange(-3, 4) / 1.5) ** 2)


GAUSS = (GAUSS / GAUSS.sum()).astype("f4")


def unsharp(h: int, w: int) -> Any:
    """An unsharp mask with a separable Gaussian of 7, edges repeated, clipped to [0, 1]."""
    x = el.array("x", f32, (h, w))
    blurred = el.separable_convolution2d(el.literal(GAUSS), el.literal(GAUSS), "clamp", x)
    return np.clip(x + 1.5 * (x - blurred), 0, 1)


def unsharp_numpy(x: Any) -> Any:
    """The same in NumPy."""
    b = windows_of(np.pad(x, 3, "edge"), (7, 7)) @ GAUSS @ GAUSS
    return np.clip(x + np.float32(1.5) * (x - b), 0, 1)


def unsharp_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    F, g = torch.nn.functional, torch.tensor(GAUSS.tolist(), device=x.device)
    p = F.pad(x[None, None], (3, 3, 3, 3), mode="replicate")
    b = F.conv2d(F.conv2d(p, g.view(1, 1, 7, 1)), g.view(1, 1, 1, 7))[0, 0]
    return torch.clamp(x + 1.5 * (x - b), 0, 1)


def opening(h: int, w: int) -> Any:
    """Erosion, then dilation of bytes by 5 x 5."""
    x = el.array("x", u8, (h, w))
    eroded = el.slide2d(5, 1, el.pad2d(2, 2, "clamp", x)).min(axis=(2, 3))
    return el.slide2d(5, 1, el.pad2d(2, 2, "clamp", eroded)).max(axis=(2, 3))


def opening_numpy(x: Any) -> Any:
    """The same in NumPy."""
    e = windows_of(np.pad(x, 2, "edge"), (5, 5)).min((2, 3))
    return windows_of(np.pad(e, 2, "edge"), (5, 5)).max((2, 3))


def opening_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    p = F.pad(x[None, None].float(), (2, 2, 2, 2), mode="replicate")
    e = F.pad(-F.max_pool2d(-p, 5, 1), (2, 2, 2, 2), mode="replicate")
    return F.max_pool2d(e, 5, 1)[0, 0].to(torch.uint8)


def integral_image(h: int, w: int) -> Any:
    """The integral image of bytes, in i32."""
    return el.array("x", u8, (h, w)).astype(el.i32).cumsum(axis=0, dtype=el.i32).cumsum(axis=1, dtype=el.i32)


A, B, C, D, E, F_ = 0.96, 0.17, 3.0, -0.17, 0.96, 11.0


def warp(h: int, w: int) -> Any:
    """An affine warp, bilinear, edges repeated."""
    x = el.array("x", f32, (h, w))
    flat = x.ravel()

    def pixel(i: Any, j: Any) -> Any:
        r, c = A * i + B * j + C, D * i + E * j + F_
        r, c = np.clip(r, 0, h - 1), np.clip(c, 0, w - 1)
        fr, fc = r - np.floor(r), c - np.floor(c)  # floats: r less an i32 would be an f64
        r0, c0 = np.floor(r).astype(el.i32), np.floor(c).astype(el.i32)
        r1, c1 = np.minimum(r0 + 1, h - 1), np.minimum(c0 + 1, w - 1)
        top = flat[r0 * w + c0] * (1 - fc) + flat[r0 * w + c1] * fc
        low = flat[r1 * w + c0] * (1 - fc) + flat[r1 * w + c1] * fc
        return top * (1 - fr) + low * fr

    rows, columns = el.arange(h).astype(f32), el.arange(w).astype(f32)
    return rows.map(lambda i: columns.map(lambda j: pixel(i, j)))


def warp_numpy(x: Any) -> Any:
    """The same in NumPy."""
    h, w = x.shape
    i, j = np.meshgrid(np.arange(h, dtype="f4"), np.arange(w, dtype="f4"), indexing="ij")
    one = np.float32
    r, c = one(A) * i + one(B) * j + one(C), one(D) * i + one(E) * j + one(F_)
    r, c = np.clip(r, 0, h - 1), np.clip(c, 0, w - 1)
    r0, c0 = np.floor(r).astype(int), np.floor(c).astype(int)
    r1, c1 = np.minimum(r0 + 1, h - 1), np.minimum(c0 + 1, w - 1)
    fr, fc = r - r0, c - c0
    return (x[r0, c0] * (1 - fc) + x[r0, c1] * fc) * (1 - fr) + (x[r1, c0] * (1 - fc) + x[r1, c1] * fc) * fr


def warp_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    h, w = x.shape
    i = torch.arange(h, device=x.device, dtype=torch.float32)[:, None]
    j = torch.arange(w, device=x.device, dtype=torch.float32)
    r, c = (A * i + B * j + C).clamp(0, h - 1), (D * i + E * j + F_).clamp(0, w - 1)
    r0, c0 = r.floor().long(), c.floor().long()
    r1, c1 = (r0 + 1).clamp(max=h - 1), (c0 + 1).clamp(max=w - 1)
    fr, fc = r - r0, c - c0
    return (x[r0, c0] * (1 - fc) + x[r0, c1] * fc) * (1 - fr) + (x[r1, c0] * (1 - fc) + x[r1, c1] * fc) * fr


SWAPS = [
    (1, 2),
    (4, 5),
    (7, 8),
    (0, 1),
    (3, 4),
    (6, 7),
    (1, 2),
    (4, 5),
    (7, 8),
    (0, 3),
    (5, 8),
    (4, 7),
    (3, 6),
    (1, 4),
    (2, 5),
    (4, 7),
    (4, 2),
    (6, 4),
    (4, 2),
]


def median9(p: list[Any], low: Any, high: Any) -> Any:
    """The median of nine by a network of minima and maxima."""
    for a, b in SWAPS:
        p[a], p[b] = low(p[a], p[b]), high(p[a], p[b])
    return p[4]


def median_filter(h: int, w: int) -> Any:
    """The median of 3 x 3, edges repeated."""
    x: Any = np.pad(el.array("x", f32, (h, w)), 1, mode="edge")
    return median9([x[i : i + h, j : j + w] for i in range(3) for j in range(3)], np.minimum, np.maximum)


def median_numpy(x: Any) -> Any:
    """The same in NumPy."""
    return np.median(windows_of(np.pad(x, 1, "edge"), (3, 3)), axis=(2, 3))


def median_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    h, w = x.shape
    p = torch.nn.functional.pad(x[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    return median9([p[i : i + h, j : j + w] for i in range(3) for j in range(3)], torch.minimum, torch.maximum)


def bilateral(h: int, w: int) -> Any:
    """A bilateral filter of 5 x 5, edges repeated."""
    x = el.array("x", f32, (h, w))
    space = el.literal(SPACE)

    def filtered(window: Any) -> Any:
        d = window - window[2, 2]
        weights = np.exp(-8.0 * d * d) * space
        return (weights * window).sum() / weights.sum()

    return el.stencil(filtered, (5, 5), 1, 2, 2, "clamp", x)


PLACES = np.arange(-2, 3) ** 2


SPACE = np.exp(-0.1 * (PLACES[:, None] + PLACES)).astype("f4")


def bilateral_numpy(x: Any) -> Any:
    """The same in NumPy."""
    p = windows_of(np.pad(x, 2, "edge"), (5, 5))
    weights = np.exp(-8 * (p - x[..., None, None]) ** 2) * SPACE
    return (weights * p).sum((2, 3)) / weights.sum((2, 3))


def bilateral_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    h, w = x.shape
    p = torch.nn.functional.pad(x[None, None], (2, 2, 2, 2), mode="replicate")[0, 0]
    total, norm = 0.0, 0.0
    for i in range(5):
        for j in range(5):
            s = p[i : i + h, j : j + w]
            weight = torch.exp(-8.0 * (s - x) ** 2) * float(SPACE[i, j])
            total, norm = total + weight * s, norm + weight
    return total / norm


AROUND = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]


def binary_patterns(h: int, w: int) -> Any:
    """Local binary patterns of bytes."""
    x = el.array("x", u8, (h, w))
    centre = x[1:-1, 1:-1]
    bits = [(x[i : h - 2 + i, j : w - 2 + j] >= centre).astype(u8) << k for k, (i, j) in enumerate(AROUND)]
    return bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5] | bits[6] | bits[7]


def patterns_numpy(x: Any) -> Any:
    """The same in NumPy."""
    h, w = x.shape
    out = np.zeros((h - 2, w - 2), "u1")
    for k, (i, j) in enumerate(AROUND):
        out |= (x[i : h - 2 + i, j : w - 2 + j] >= x[1:-1, 1:-1]).astype("u1") << np.uint8(k)
    return out


def patterns_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    h, w = x.shape
    out = torch.zeros_like(x[1:-1, 1:-1])
    for k, (i, j) in enumerate(AROUND):
        out = out | ((x[i : h - 2 + i, j : w - 2 + j] >= x[1:-1, 1:-1]).to(torch.uint8) << k)
    return out


K = np.arange(8)


DCT = (np.cos(np.pi * (2 * K + 1) * K[:, None] / 16) * np.where(K[:, None] == 0, np.sqrt(1 / 8), 0.5)).astype("f4")


def jpeg_dct(h: int, w: int) -> Any:
    """The DCT of every block of 8 x 8, as in JPEG."""
    x = el.array("x", u8, (h, w)).astype(f32) - 128
    blocks = x.reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
    return el.einsum("ui,abij,vj->abuv", el.literal(DCT), blocks, el.literal(DCT))


def jpeg_numpy(x: Any) -> Any:
    """The same in NumPy."""
    h, w = x.shape
    b = (x.astype("f4") - 128).reshape(h // 8, 8, w // 8, 8).swapaxes(1, 2)
    return DCT @ b @ DCT.T


def jpeg_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    h, w = x.shape
    d = torch.tensor(DCT.tolist(), device=x.device)
    return d @ (x.float() - 128).reshape(h // 8, 8, w // 8, 8).transpose(1, 2) @ d.T


def haar(h: int, w: int) -> Any:
    """A level of the Haar wavelet in two dimensions: four results."""
    x = el.array("x", f32, (h, w))
    a, b, c, d = x[::2, ::2], x[::2, 1::2], x[1::2, ::2], x[1::2, 1::2]
    return el.tuple((a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2)


def haar_numpy(x: Any) -> Any:
    """The same in NumPy."""
    a, b, c, d = x[::2, ::2], x[::2, 1::2], x[1::2, ::2], x[1::2, 1::2]
    return (a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2


def box_blur(h: int, w: int) -> Any:
    """A box blur of 31 x 31."""
    return el.slide2d(31, 1, el.pad2d(15, 15, "mirror", el.array("x", f32, (h, w)))).mean(axis=(2, 3))


def box_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    F = torch.nn.functional
    p = F.pad(x[None, None], (15, 15, 15, 15), mode="replicate")
    p[..., :15, :], p[..., -15:, :] = p[..., 15:30, :].flip(-2), p[..., -30:-15, :].flip(-2)
    p[..., :15], p[..., -15:] = p[..., 15:30].flip(-1), p[..., -30:-15].flip(-1)
    return F.avg_pool2d(F.avg_pool2d(p, (31, 1), 1), (1, 31), 1)[0, 0]


PROGRAMS = (
    Unseen(
        "bilinear_upscale", upscale_bilinear, (2, 7, 9), (64, 512, 512), upscale_numpy, upscale_torch, floats_of("x")
    ),
    Unseen("unsharp_mask", unsharp, (20, 24), (4096, 4096), unsharp_numpy, unsharp_torch, floats_of("x")),
    Unseen("opening_5x5_bytes", opening, (20, 24), (8192, 8192), opening_numpy, opening_torch, bytes_of("x")),
    Unseen(
        "integral_image",
        integral_image,
        (20, 24),
        (4096, 4096),
        lambda x: x.astype("i4").cumsum(0, dtype="i4").cumsum(1, dtype="i4"),
        lambda torch, x: x.int().cumsum(0, dtype=torch.int32).cumsum(1, dtype=torch.int32),
        bytes_of("x"),
    ),
    Unseen("affine_warp", warp, (20, 24), (4096, 4096), warp_numpy, warp_torch, floats_of("x"), rtol=1e-2, atol=1e-2),
    Unseen("median_3x3", median_filter, (10, 12), (4096, 4096), median_numpy, median_torch, floats_of("x")),
    Unseen("bilateral_5x5", bilateral, (10, 12), (4096, 4096), bilateral_numpy, bilateral_torch, floats_of("x")),
    Unseen(
        "local_binary_patterns", binary_patterns, (10, 12), (8192, 8192), patterns_numpy, patterns_torch, bytes_of("x")
    ),
    Unseen("jpeg_dct", jpeg_dct, (16, 24), (4096, 4096), jpeg_numpy, jpeg_torch, bytes_of("x"), atol=1e-2),
    Unseen("haar_2d", haar, (10, 12), (8192, 8192), haar_numpy, lambda torch, x: haar_numpy(x), floats_of("x")),
    Unseen(
        "box_blur_31",
        box_blur,
        (32, 36),
        (4096, 4096),
        lambda x: windows_of(np.pad(x, 15, "symmetric"), (31, 31)).mean((2, 3)),
        box_torch,
        of("x"),
    ),
)
