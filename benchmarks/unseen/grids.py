"""Simulations on grids: a step of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows_of

import egglift as el
from benchmarks.unseen.drawn import complexes, floats_of, normal, of, uniform
from benchmarks.unseen.program import Unseen

f32, c64 = el.f32, el.c64


def diffusion(h: int, w: int) -> Any:
    """Anisotropic diffusion (Perona and Malik), edges repeated."""
    x = el.array("x", f32, (h, w))
    p: Any = np.pad(x, 1, mode="edge")
    flows = [p[:-2, 1:-1] - x, p[2:, 1:-1] - x, p[1:-1, :-2] - x, p[1:-1, 2:] - x]
    kept = [d * np.exp(-(d * d) * 4) for d in flows]
    return x + 0.2 * (kept[0] + kept[1] + kept[2] + kept[3])


def diffusion_numpy(x: Any) -> Any:
    """The same in NumPy."""
    p = np.pad(x, 1, "edge")
    flows = [p[:-2, 1:-1] - x, p[2:, 1:-1] - x, p[1:-1, :-2] - x, p[1:-1, 2:] - x]
    return x + np.float32(0.2) * sum(d * np.exp(-(d * d) * 4) for d in flows)


def diffusion_torch(torch: Any, x: Any) -> Any:
    """The same in torch."""
    p = torch.nn.functional.pad(x[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    flows = [p[:-2, 1:-1] - x, p[2:, 1:-1] - x, p[1:-1, :-2] - x, p[1:-1, 2:] - x]
    return x + 0.2 * sum(d * torch.exp(-(d * d) * 4) for d in flows)


def points27(a: int, b: int, c: int) -> Any:
    """An operator of 27 points in three dimensions, inside."""
    x, weights = el.array("x", f32, (a, b, c)), el.array("w", f32, (3, 3, 3))
    return el.slide3d(3, 1, x).map(lambda p: p.map(lambda r: r.map(lambda window: (window * weights).sum())))


def points27_torch(torch: Any, x: Any, w: Any) -> Any:
    """The same in torch."""
    return torch.nn.functional.conv3d(x[None, None], w[None, None])[0, 0]


def upwind(h: int, w: int) -> Any:
    """Upwind advection, periodic, velocities of either sign."""
    q, u, v = (el.array(name, f32, (h, w)) for name in "quv")
    left, right, up, down = el.roll(1, q, axis=1), el.roll(-1, q, axis=1), el.roll(1, q), el.roll(-1, q)
    flow_x = el.where(u > 0, u * (q - left), u * (right - q))
    flow_y = el.where(v > 0, v * (q - up), v * (down - q))
    return q - 0.3 * (flow_x + flow_y)


def upwind_numpy(q: Any, u: Any, v: Any) -> Any:
    """The same in NumPy."""
    left, right, up, down = np.roll(q, 1, 1), np.roll(q, -1, 1), np.roll(q, 1, 0), np.roll(q, -1, 0)
    flow_x = np.where(u > 0, u * (q - left), u * (right - q))
    return q - np.float32(0.3) * (flow_x + np.where(v > 0, v * (q - up), v * (down - q)))


def upwind_torch(torch: Any, q: Any, u: Any, v: Any) -> Any:
    """The same in torch."""
    left, right, up, down = q.roll(1, 1), q.roll(-1, 1), q.roll(1, 0), q.roll(-1, 0)
    flow_x = torch.where(u > 0, u * (q - left), u * (right - q))
    return q - 0.3 * (flow_x + torch.where(v > 0, v * (q - up), v * (down - q)))


def water(h: Any, u: Any, v: Any, at: Any, pack: Any) -> Any:
    """A step on height and momenta; at(x, i, j) is x shifted by rows and columns."""

    def mean(x: Any) -> Any:
        return 0.25 * (at(x, 1, 0) + at(x, -1, 0) + at(x, 0, 1) + at(x, 0, -1))

    def dx(x: Any) -> Any:
        return at(x, 0, -1) - at(x, 0, 1)

    def dy(x: Any) -> Any:
        return at(x, -1, 0) - at(x, 1, 0)

    uu, vv, uv = u * u / h + 4.9 * h * h, v * v / h + 4.9 * h * h, u * v / h
    return pack(
        mean(h) - 0.01 * (dx(u) + dy(v)), mean(u) - 0.01 * (dx(uu) + dy(uv)), mean(v) - 0.01 * (dx(uv) + dy(vv))
    )


def shallow_water(a: int, b: int) -> Any:
    """A step of the shallow water equations (Lax and Friedrichs), periodic: three results."""
    h, u, v = (el.array(name, f32, (a, b)) for name in "huv")
    return water(h, u, v, lambda x, i, j: el.roll((i, j), x, axis=(0, 1)), el.tuple)


def water_numpy(h: Any, u: Any, v: Any) -> Any:
    """The same in NumPy."""
    return water(h, u, v, lambda x, i, j: np.roll(x, (i, j), (0, 1)), lambda *parts: parts)


def water_torch(torch: Any, h: Any, u: Any, v: Any) -> Any:
    """The same in torch."""
    return water(h, u, v, lambda x, i, j: x.roll((i, j), (0, 1)), lambda *parts: parts)


CX, CY = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]


WEIGHTS = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4


def boltzmann(f: list[Any], stack: Any) -> Any:
    """A collision in D2Q9 of nine populations."""
    rho = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8]
    ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / rho
    uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho
    square = 1.5 * (ux * ux + uy * uy)
    after = []
    for k in range(9):
        along = 3.0 * (CX[k] * ux + CY[k] * uy)
        after.append(f[k] - 1.2 * (f[k] - WEIGHTS[k] * rho * (1 + along + 0.5 * along * along - square)))
    return stack(after)


def lattice_boltzmann(h: int, w: int) -> Any:
    """A step of lattice Boltzmann, D2Q9: stream, then collide."""
    f = el.array("f", f32, (9, h, w))
    return boltzmann([el.roll((CY[k], CX[k]), f[k], axis=(0, 1)) for k in range(9)], el.stack)


def boltzmann_numpy(f: Any) -> Any:
    """The same in NumPy."""
    return boltzmann([np.roll(f[k], (CY[k], CX[k]), (0, 1)) for k in range(9)], np.stack)


def boltzmann_torch(torch: Any, f: Any) -> Any:
    """The same in torch."""
    return boltzmann([f[k].roll((CY[k], CX[k]), (0, 1)) for k in range(9)], torch.stack)


def eighth_order_wave(h: int, w: int) -> Any:
    """A step of a wave in two dimensions, of eighth order in space."""
    u, before, speed = (el.array(name, f32, (h, w)) for name in ("u", "before", "speed"))
    p: Any = np.pad(u, 4)
    lap = 2 * TAPS[0] * u
    for k in range(1, 5):
        lap = lap + TAPS[k] * (p[4 - k : 4 - k + h, 4:-4] + p[4 + k : 4 + k + h, 4:-4])
        lap = lap + TAPS[k] * (p[4:-4, 4 - k : 4 - k + w] + p[4:-4, 4 + k : 4 + k + w])
    return 2 * u - before + speed * lap


TAPS = [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]


def wave_numpy(u: Any, before: Any, speed: Any, pad: Any = np.pad) -> Any:
    """The same in NumPy."""
    h, w = u.shape
    p = pad(u, 4)
    lap = 2 * TAPS[0] * u
    for k in range(1, 5):
        lap = lap + TAPS[k] * (p[4 - k : 4 - k + h, 4:-4] + p[4 + k : 4 + k + h, 4:-4])
        lap = lap + TAPS[k] * (p[4:-4, 4 - k : 4 - k + w] + p[4:-4, 4 + k : 4 + k + w])
    return 2 * u - before + speed * lap


def wave_torch(torch: Any, u: Any, before: Any, speed: Any) -> Any:
    """The same in torch."""
    return wave_numpy(u, before, speed, lambda x, k: torch.nn.functional.pad(x, (k, k, k, k)))


def shrink_cube(n: int) -> Any:
    """A cube of voxels, made four times smaller along each axis by means."""
    return el.array("x", f32, (n, n, n)).reshape(n // 4, 4, n // 4, 4, n // 4, 4).mean(axis=(1, 3, 5))


def yee(e: Any, hx: Any, hy: Any, pad: Any, pack: Any) -> Any:
    """Magnetic fields from the electric one, then the electric one from those; zero outside."""
    down, right = pad(e, 0, 1)[1:], pad(e, 1, 1)[:, 1:]
    hx2, hy2 = hx - 0.5 * (down - e), hy + 0.5 * (right - e)
    up, left = pad(hx2, 0, 0)[:-1], pad(hy2, 1, 0)[:, :-1]
    return pack(e + 0.5 * ((hy2 - left) - (hx2 - up)), hx2, hy2)


def numpy_pad(x: Any, axis: int, after: int) -> Any:
    """A row or column of 0 before or after."""
    widths = [(0, 0), (0, 0)]
    widths[axis] = (1 - after, after)
    return np.pad(x, widths)


def yee_step(h: int, w: int) -> Any:
    """Yee's step in two dimensions: three fields."""
    e, hx, hy = (el.array(name, f32, (h, w)) for name in ("e", "hx", "hy"))
    return yee(e, hx, hy, numpy_pad, el.tuple)


def yee_numpy(e: Any, hx: Any, hy: Any) -> Any:
    """The same in NumPy."""
    return yee(e, hx, hy, numpy_pad, lambda *parts: parts)


def yee_torch(torch: Any, e: Any, hx: Any, hy: Any) -> Any:
    """The same in torch."""

    def pad(x: Any, axis: int, after: int) -> Any:
        return torch.nn.functional.pad(
            x, ((1 - after, after), (0, 0))[axis == 0] + ((0, 0), (1 - after, after))[axis == 0]
        )

    return yee(e, hx, hy, pad, lambda *parts: parts)


def gray_scott(u: Any, v: Any, roll: Any, pack: Any) -> Any:
    """A step of Gray and Scott's reaction and diffusion, by a library's roll."""

    def lap(x: Any) -> Any:
        return roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - 4 * x

    r = u * v * v
    return pack(u + 0.16 * lap(u) - r + 0.035 * (1 - u), v + 0.08 * lap(v) + r - 0.1 * v)


def reaction(h: int, w: int) -> Any:
    """A step of Gray and Scott's reaction and diffusion, wrapped: two results."""
    u, v = el.array("u", f32, (h, w)), el.array("v", f32, (h, w))
    return gray_scott(u, v, np.roll, el.tuple)


def limited(q: Any, sign: Any, minimum: Any, absolute: Any, join: Any) -> Any:
    """A step of advection with a minmod limiter, by functions of a library."""
    d = q[1:] - q[:-1]
    a, b = d[:-1], d[1:]
    slope = 0.5 * (sign(a) + sign(b)) * minimum(absolute(a), absolute(b))
    face = q[1:-1] + 0.35 * slope
    return q[2:-1] - 0.3 * (face[1:] - face[:-1])


def minmod(n: int) -> Any:
    """A step of advection in one dimension with a minmod limiter."""
    return limited(el.array("q", f32, n), np.sign, np.minimum, np.abs, None)


def lens(h: int, w: int) -> Any:
    """A complex field behind a lens that turns its phase; and the power of each row."""
    field, phase = el.array("field", c64, (h, w)), el.array("phase", f32, (h, w))
    turned = field * np.exp(1j * phase)
    return el.tuple(turned, (turned.real**2 + turned.imag**2).sum(axis=1))


def lens_numpy(field: Any, phase: Any) -> Any:
    """The same in NumPy."""
    turned = field * np.exp(1j * phase)
    return turned.astype("c8"), (np.abs(turned) ** 2).sum(1)


def lens_torch(torch: Any, field: Any, phase: Any) -> Any:
    """The same in torch."""
    turned = field * torch.polar(torch.ones_like(phase), phase)
    return turned, (turned.real.square() + turned.imag.square()).sum(1)


PROGRAMS = (
    Unseen(
        "anisotropic_diffusion", diffusion, (10, 12), (8192, 8192), diffusion_numpy, diffusion_torch, floats_of("x")
    ),
    Unseen(
        "points_27",
        points27,
        (7, 8, 9),
        (512, 512, 512),
        lambda x, w: np.einsum("abcijk,ijk->abc", windows_of(x, (3, 3, 3)), w),
        points27_torch,
        lambda rng, *shape: {"x": normal(rng, *shape), "w": normal(rng, 3, 3, 3)},
    ),
    Unseen(
        "upwind_advection",
        upwind,
        (10, 12),
        (4096, 4096),
        upwind_numpy,
        upwind_torch,
        lambda rng, *shape: {name: normal(rng, *shape) for name in "quv"},
    ),
    Unseen(
        "shallow_water",
        shallow_water,
        (10, 12),
        (4096, 4096),
        water_numpy,
        water_torch,
        lambda rng, *shape: {"h": 1 + uniform(rng, *shape), "u": normal(rng, *shape), "v": normal(rng, *shape)},
    ),
    Unseen(
        "lattice_boltzmann",
        lattice_boltzmann,
        (10, 12),
        (2048, 2048),
        boltzmann_numpy,
        boltzmann_torch,
        lambda rng, h, w: {"f": 0.5 + uniform(rng, 9, h, w)},
    ),
    Unseen(
        "wave_8th_order",
        eighth_order_wave,
        (12, 14),
        (4096, 4096),
        wave_numpy,
        wave_torch,
        lambda rng, *shape: {name: normal(rng, *shape) for name in ("u", "before", "speed")},
    ),
    Unseen(
        "shrink_cube",
        shrink_cube,
        (8,),
        (512,),
        lambda x: x.reshape((len(x) // 4, 4) * 3).mean((1, 3, 5)),
        lambda torch, x: torch.nn.functional.avg_pool3d(x[None, None], 4)[0, 0],
        lambda rng, n: {"x": normal(rng, n, n, n)},
    ),
    Unseen("yee_step", yee_step, (9, 10), (4096, 4096), yee_numpy, yee_torch, of("e", "hx", "hy")),
    Unseen(
        "gray_scott",
        reaction,
        (9, 10),
        (4096, 4096),
        lambda u, v: gray_scott(u, v, np.roll, lambda *p: p),
        lambda torch, u, v: gray_scott(u, v, torch.roll, lambda *p: p),
        lambda rng, *s: {"u": uniform(rng, *s), "v": uniform(rng, *s)},
    ),
    Unseen(
        "minmod_advection",
        minmod,
        (100,),
        (1 << 26,),
        lambda q: limited(q, np.sign, np.minimum, np.abs, None),
        lambda torch, q: limited(q, torch.sign, torch.minimum, torch.abs, None),
        of("q"),
    ),
    Unseen(
        "lens",
        lens,
        (7, 9),
        (4096, 4096),
        lens_numpy,
        lens_torch,
        lambda rng, h, w: {"field": complexes(rng, h, w), "phase": normal(rng, h, w)},
    ),
)
