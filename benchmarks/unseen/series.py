"""Series: scans, windows, transforms, spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows_of

import egglift as el
from benchmarks.unseen.drawn import complexes, normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, f64, c64 = el.f32, el.f64, el.c64


def hadamard(n: int, d: int) -> Any:
    """Walsh and Hadamard's transform of rows, by butterflies."""
    x = el.array("x", f32, (n, d))
    half = 1
    while half < d:
        x = x.reshape(n, d // (2 * half), 2, half)
        a, b = x[:, :, 0], x[:, :, 1]
        x = el.stack([a + b, a - b], axis=2).reshape(n, d)
        half *= 2
    return x


def hadamard_with(x: Any, stack: Any) -> Any:
    """The same by a library's stack."""
    n, d = x.shape
    half = 1
    while half < d:
        x = x.reshape(n, d // (2 * half), 2, half)
        a, b = x[:, :, 0], x[:, :, 1]
        x = stack([a + b, a - b], 2).reshape(n, d)
        half *= 2
    return x


def radix4(n: int, m: int) -> Any:
    """A radix-4 pass of an FFT with twiddles, complex."""
    x, t = el.array("x", c64, (n, 4, m)), el.array("t", c64, (4, m))
    a, b, c, d = (x[:, k] * t[k] for k in range(4))
    return el.stack([a + b + c + d, a - 1j * b - c + 1j * d, a - b + c - d, a + 1j * b - c - 1j * d], axis=1)


def radix4_with(x: Any, t: Any, stack: Any) -> Any:
    """The same by a library's stack."""
    a, b, c, d = (x[:, k] * t[k] for k in range(4))
    return stack([a + b + c + d, a - 1j * b - c + 1j * d, a - b + c - d, a + 1j * b - c - 1j * d], 1)


def spectrogram(n: int, frame: int, hop: int, bands: int) -> Any:
    """A power spectrogram: frames, a window, DFT by matrices, mel bands, log."""
    signal, mel = el.array("signal", f32, n), el.array("mel", f32, (frame // 2 + 1, bands))
    window, cosines, sines = (el.literal(v) for v in dft(frame))
    frames = signal.slide(frame, hop) * window
    power = (frames @ cosines) ** 2 + (frames @ sines) ** 2
    return np.log(power @ mel + 1e-6)


def dft(frame: int) -> Any:
    """The Hann window, and the cosines and sines of a DFT of a frame."""
    angles = 2 * np.pi * np.outer(np.arange(frame), np.arange(frame // 2 + 1)) / frame
    return np.hanning(frame).astype("f4"), np.cos(angles).astype("f4"), np.sin(angles).astype("f4")


def spectrogram_numpy(signal: Any, mel: Any) -> Any:
    """The same in NumPy."""
    frame = 2 * (len(mel) - 1)
    frames = windows_of(signal, frame)[:: frame // 2]
    return np.log((np.abs(np.fft.rfft(frames * np.hanning(frame))) ** 2) @ mel + 1e-6)


def spectrogram_torch(torch: Any, signal: Any, mel: Any) -> Any:
    """The same in torch."""
    frame = 2 * (len(mel) - 1)
    window = torch.hann_window(frame, periodic=False, device=signal.device)
    frames = signal.unfold(0, frame, frame // 2) * window
    return torch.log(torch.fft.rfft(frames).abs().square() @ mel + 1e-6)


def moving_average_exp(rows: int, n: int) -> Any:
    """The exponential moving average of rows: a linear recurrence by a scan."""
    x = el.array("x", f32, (rows, n))
    follow = el.operator(lambda a, b: el.tuple(a[0] * b[0], a[1] * b[0] + b[1]), commutative=False, neutral=(1.0, 0.0))

    def smooth(row: Any) -> Any:
        pairs = row.map(lambda v: el.tuple(el.literal(np.float32(0.9)), 0.1 * v))
        return el.scan(follow, None, pairs).map(lambda p: p[1])

    return x.map(smooth)


def ema_numpy(x: Any) -> Any:
    """The same in NumPy."""
    out, y = np.empty_like(x), np.zeros(len(x), "f4")
    for t in range(x.shape[1]):
        y = np.float32(0.9) * y + np.float32(0.1) * x[:, t]
        out[:, t] = y
    return out


def ema_torch(torch: Any, x: Any) -> Any:
    """In blocks of 128: a product with the decays, and a carry that is passed on with 0.9 ** 128."""
    rows, n = x.shape
    block = min(n, 128)
    k = torch.arange(block, device=x.device)
    decay = torch.where(
        k[:, None] <= k, 0.1 * 0.9 ** (k - k[:, None]).clamp(min=0).float(), torch.zeros((), device=x.device)
    )
    inner = x.reshape(rows, n // block, block) @ decay
    last = inner[:, :, -1]
    j = torch.arange(n // block, device=x.device)
    power = (0.9**block) ** (j - j[:, None] - 1).clamp(min=0).float()
    carry = last @ torch.where(j[:, None] < j, power, torch.zeros_like(power))
    return (inner + carry[:, :, None] * 0.9 ** (k + 1).float()).reshape(rows, n)


def drawdown(rows: int, n: int) -> Any:
    """The greatest so far along rows, less the value; and the deepest of each row."""
    x = el.array("x", f32, (rows, n))
    below = el.cummax(x, axis=1) - x
    return el.tuple(below, below.max(axis=1))


def drawdown_numpy(x: Any) -> Any:
    """The same in NumPy."""
    below = np.maximum.accumulate(x, 1) - x
    return below, below.max(1)


def drawdown_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    below = x.cummax(1).values - x
    return below, below.amax(1)


def moving_mean_columns(n: int, d: int) -> Any:
    """A moving mean of 16 down the columns."""
    return el.array("x", f32, (n, d)).slide(16).mean(axis=1)


def moving_mean_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.avg_pool2d(x[None, None], (16, 1), 1)[0, 0]


def survival(n: int, d: int) -> Any:
    """Cumulative products along the first axis (survival curves)."""
    return el.cumprod(1 - el.array("x", f32, (n, d)) * 1e-3, axis=0)


LAGS = 32


def autocorrelation(n: int) -> Any:
    """The autocorrelation at 32 lags."""
    x = el.array("x", f32, n + LAGS)
    return el.arange(LAGS).map(lambda k: el.arange(n).map(lambda i: x[i] * x[i + k]).sum()) / n


def autocorrelation_numpy(x: Any) -> Any:
    """The same in NumPy."""
    n = len(x) - LAGS
    return np.array([(x[:n] * x[k : k + n]).sum() for k in range(LAGS)]) / n


def autocorrelation_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    n = len(x) - LAGS
    return torch.stack([torch.dot(x[:n], x[k : k + n]) for k in range(LAGS)]) / n


def running_minimum(n: int, t: int) -> Any:
    """A running minimum over 64 samples of each row."""
    return el.array("x", f32, (n, t)).map(lambda row: row.slide(64).map(lambda window: window.min()))


def decimate(c: int, t: int, taps: int) -> Any:
    """An FIR filter that keeps every fourth sample, of several channels."""
    x, g = el.array("x", f32, (c, t)), el.array("g", f32, taps)
    return x.map(lambda row: row.slide(taps, 4) @ g)


def decimate_torch(torch: Any, x: Any, g: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.conv1d(x[:, None], g[None, None], stride=4)[:, 0]


def trapezoids(n: int, t: int) -> Any:
    """The integral so far of each row of f64, by trapezoids."""
    y = el.array("y", f64, (n, t))
    return el.cumsum((y[:, 1:] + y[:, :-1]) * 0.005, axis=1)


def log_sums_so_far(n: int, t: int) -> Any:
    """Logarithms of sums of exponentials so far, of each row."""
    return el.scan(el.operator(np.logaddexp, neutral=-np.inf, check=False), None, el.array("x", f32, (n, t)), axis=1)


PROGRAMS = (
    Unseen(
        "walsh_hadamard",
        hadamard,
        (5, 16),
        (262144, 256),
        lambda x: hadamard_with(x, np.stack),
        lambda torch, x: hadamard_with(x, torch.stack),
        lambda rng, n, d: {"x": normal(rng, n, d)},
    ),
    Unseen(
        "radix4_pass",
        radix4,
        (5, 8),
        (4096, 1024),
        lambda x, t: radix4_with(x, t, np.stack),
        lambda torch, x, t: radix4_with(x, t, torch.stack),
        lambda rng, n, m: {"x": complexes(rng, n, 4, m), "t": complexes(rng, 4, m)},
    ),
    Unseen(
        "mel_spectrogram",
        spectrogram,
        (160, 32, 16, 5),
        (1 << 23, 512, 256, 80),
        spectrogram_numpy,
        spectrogram_torch,
        lambda rng, n, frame, hop, bands: {"signal": normal(rng, n), "mel": uniform(rng, frame // 2 + 1, bands)},
    ),
    Unseen("ema_rows", moving_average_exp, (5, 256), (4096, 4096), ema_numpy, ema_torch, of("x")),
    Unseen("drawdown", drawdown, (5, 30), (8192, 4096), drawdown_numpy, drawdown_torch, of("x")),
    Unseen(
        "moving_mean_columns",
        moving_mean_columns,
        (40, 6),
        (65536, 1024),
        lambda x: windows_of(x, 16, 0).mean(2),
        moving_mean_torch,
        of("x"),
    ),
    Unseen(
        "survival_curves",
        survival,
        (40, 6),
        (4096, 16384),
        lambda x: np.cumprod(1 - x * np.float32(1e-3), 0),
        lambda torch, x: torch.cumprod(1 - x * 1e-3, 0),
        lambda rng, *s: {"x": uniform(rng, *s)},
    ),
    Unseen(
        "autocorrelation_32",
        autocorrelation,
        (100,),
        (1 << 24,),
        autocorrelation_numpy,
        autocorrelation_torch,
        lambda rng, n: {"x": normal(rng, n + LAGS)},
    ),
    Unseen(
        "running_minimum_64",
        running_minimum,
        (3, 100),
        (1024, 65536),
        lambda x: windows_of(x, 64, 1).min(2),
        lambda torch, x: -torch.nn.functional.max_pool1d(-x, 64, 1),
        of("x"),
    ),
    Unseen(
        "fir_decimate",
        decimate,
        (3, 100, 16),
        (64, 1 << 19, 64),
        lambda x, g: windows_of(x, len(g), 1)[:, ::4] @ g,
        decimate_torch,
        lambda rng, c, t, taps: {"x": normal(rng, c, t), "g": normal(rng, taps) / 8},
    ),
    Unseen(
        "trapezoids_doubles",
        trapezoids,
        (4, 40),
        (2048, 16384),
        lambda y: np.cumsum((y[:, 1:] + y[:, :-1]) * 0.005, 1),
        lambda torch, y: torch.cumsum((y[:, 1:] + y[:, :-1]) * 0.005, 1),
        lambda rng, *s: {"y": rng.normal(size=s)},
        rtol=1e-9,
        atol=1e-9,
    ),
    Unseen(
        "log_sums_so_far",
        log_sums_so_far,
        (4, 40),
        (4096, 8192),
        lambda x: np.logaddexp.accumulate(x, 1),
        lambda torch, x: torch.logcumsumexp(x, 1),
        of("x"),
    ),
)
