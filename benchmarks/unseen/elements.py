"""A computation for each of many options, matrices, points or curves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import egglift as el
from benchmarks.unseen.drawn import ints, normal, uniform
from benchmarks.unseen.program import Unseen

f32, i32, i64 = el.f32, el.i32, el.i64


STEPS = 16


def hashed(v: Any) -> Any:
    """31 bits of a hash, in i64 so that torch has it too."""
    v = (v ^ (v >> 16)) * 0x45D9F3B & 0xFFFFFFFF
    v = (v ^ (v >> 16)) * 0x45D9F3B & 0xFFFFFFFF
    return v ^ (v >> 16)


def asian_option(paths: int) -> Any:
    """An Asian option by Monte Carlo with hashed numbers."""
    path = el.array("path", i64, paths)

    def payoff(place: Any) -> Any:
        def step(state: Any, k: Any) -> Any:
            h = hashed(place * STEPS + k)
            u = ((h & 0xFFFFFF).astype(f32) + 0.5) / 16777216.0
            s = state[0] * np.exp(0.001 + 0.1 * 0.5513 * np.log(u / (1 - u)))
            return el.tuple(s, state[1] + s)

        start = el.tuple(el.literal(np.float32(100)), el.literal(np.float32(0)))
        return np.maximum(el.fold(step, start, el.arange(STEPS))[1] / STEPS - 100.0, 0.0)

    return path.map(payoff).mean()


def asian_with(path: Any, exp: Any, log: Any, single: Any, positive: Any) -> Any:
    """The same by functions of a library."""
    s, total = 100.0, 0.0
    for k in range(STEPS):
        u = (single(hashed(path * STEPS + k) & 0xFFFFFF) + 0.5) / 16777216.0
        s = s * exp(0.001 + 0.1 * 0.5513 * log(u / (1 - u)))
        total = total + s
    return positive(total / STEPS - 100.0).mean()


def asian_numpy(path: Any) -> Any:
    """The same in NumPy."""
    return asian_with(path, np.exp, np.log, lambda v: v.astype("f4"), lambda v: np.maximum(v, 0))


def asian_torch(torch: Any, path: Any) -> Any:
    """The same in torch."""
    return asian_with(path, torch.exp, torch.log, lambda v: v.float(), torch.relu)


TREE = 32


def american_put(n: int) -> Any:
    """American puts by a binomial tree of 32 steps."""
    spot, strike = el.array("spot", f32, n), el.array("strike", f32, n)
    up = math.exp(0.2 * math.sqrt(1 / TREE))
    p = (math.exp(0.02 / TREE) - 1 / up) / (up - 1 / up)
    off = math.exp(-0.02 / TREE)
    powers = el.literal((up ** (2.0 * np.arange(TREE + 1) - TREE)).astype("f4"))

    def option(s: Any, k: Any) -> Any:
        value = np.maximum(k - s * powers, 0)
        for step in range(TREE - 1, -1, -1):
            lattice = el.literal((up ** (2.0 * np.arange(step + 1) - step)).astype("f4"))
            value = np.maximum(off * (p * value[1:] + (1 - p) * value[:-1]), k - s * lattice)
        return value[0]

    return spot.map(option, strike)


def put_with(spot: Any, strike: Any, array: Any, maximum: Any) -> Any:
    """The same by functions of a library."""
    up = math.exp(0.2 * math.sqrt(1 / TREE))
    p = (math.exp(0.02 / TREE) - 1 / up) / (up - 1 / up)
    off = math.exp(-0.02 / TREE)
    value: Any = None
    for step in range(TREE, -1, -1):
        now = strike[:, None] - spot[:, None] * array(up ** (2.0 * np.arange(step + 1) - step))
        value = (
            maximum(now, 0 * now) if value is None else maximum(off * (p * value[:, 1:] + (1 - p) * value[:, :-1]), now)
        )
    return value[:, 0]


def put_numpy(spot: Any, strike: Any) -> Any:
    """The same in NumPy."""
    return put_with(spot, strike, lambda v: v.astype("f4"), np.maximum)


def put_torch(torch: Any, spot: Any, strike: Any) -> Any:
    """The same in torch."""
    return put_with(spot, strike, lambda v: torch.tensor(v.tolist(), device=spot.device), torch.maximum)


def inverses3(n: int) -> Any:
    """Inverses of 3 x 3 matrices."""
    return cofactors(el.array("m", f32, (n, 3, 3)), el.stack, -1)


def cofactors(m: Any, stack: Any, last: int) -> Any:
    """The inverses by cofactors, by a library's stack."""
    (a, b, c), (d, e, f), (g, h, i) = ([m[:, r, k] for k in range(3)] for r in range(3))
    A, B, C = e * i - f * h, f * g - d * i, d * h - e * g
    one = 1 / (a * A + b * B + c * C)
    rows = [[A, c * h - b * i, b * f - c * e], [B, a * i - c * g, c * d - a * f], [C, b * g - a * h, a * e - b * d]]
    return stack([stack([v * one for v in row], last) for row in rows], 1)


def solves2(n: int) -> Any:
    """Solutions of 2 x 2 systems by Cramer's rule."""

    def solve(m: Any, r: Any) -> Any:
        one = 1 / (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
        return el.stack([(r[0] * m[1, 1] - m[0, 1] * r[1]) * one, (m[0, 0] * r[1] - r[0] * m[1, 0]) * one])

    return el.array("m", f32, (n, 2, 2)).map(solve, el.array("r", f32, (n, 2)))


def solves2_with(m: Any, r: Any, stack: Any) -> Any:
    """The same by a library's stack."""
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    one = 1 / (a * d - b * c)
    return stack([(r[:, 0] * d - b * r[:, 1]) * one, (a * r[:, 1] - r[:, 0] * c) * one], 1)


def quaternion_turn(n: int) -> Any:
    """Points turned by quaternions."""
    q, p = el.array("q", f32, (n, 4)), el.array("p", f32, (n, 3))
    w, u = q[:, :1], q[:, 1:]
    t = 2 * np.cross(u, p)
    return p + w * t + np.cross(u, t)


def quaternion_numpy(q: Any, p: Any) -> Any:
    """The same in NumPy."""
    t = 2 * np.cross(q[:, 1:], p)
    return p + q[:, :1] * t + np.cross(q[:, 1:], t)


def quaternion_torch(torch: Any, q: Any, p: Any) -> Any:
    """The same in torch."""
    u = q[:, 1:]
    t = 2 * torch.cross(u, p, dim=1)
    return p + q[:, :1] * t + torch.cross(u, t, dim=1)


def interpolate_table(n: int, m: int) -> Any:
    """A table looked up between its entries."""
    x, table = el.array("x", f32, n), el.array("table", f32, m)
    place: Any = np.clip(x, 0, 1) * (m - 1)
    below = np.minimum(np.floor(place), m - 2)
    left, part = below.astype(i32), place - below
    return table[left] * (1 - part) + table[left + 1] * part


def table_numpy(x: Any, table: Any) -> Any:
    """The same in NumPy."""
    place = np.clip(x, 0, 1) * np.float32(len(table) - 1)
    left = np.minimum(np.floor(place), len(table) - 2).astype("i4")
    return table[left] * (1 - (place - left)) + table[left + 1] * (place - left)


def table_torch(torch: Any, x: Any, table: Any) -> Any:
    """The same in torch."""
    place = x.clamp(0, 1) * (len(table) - 1)
    left = place.floor().clamp(max=len(table) - 2).long()
    part = place - left
    return table[left] * (1 - part) + table[left + 1] * part


PLACES = np.linspace(0, 1, 64)


BERNSTEIN = np.stack(
    [(1 - PLACES) ** 3, 3 * PLACES * (1 - PLACES) ** 2, 3 * PLACES**2 * (1 - PLACES), PLACES**3], 1
).astype("f4")


def bezier(n: int) -> Any:
    """Cubic Bezier curves at 64 places each."""
    return el.einsum("tc,ncd->ntd", el.literal(BERNSTEIN), el.array("p", f32, (n, 4, 2)))


def skinning(n: int, bones: int) -> Any:
    """Each point moved by four bones' matrices, weighted."""
    p, w = el.array("p", f32, (n, 4)), el.array("w", f32, (n, 4))
    which, m = el.array("which", i32, (n, 4)), el.array("m", f32, (bones, 4, 4))
    return el.einsum("nk,nkij,nj->ni", w, m[which], p)


def skinning_torch(torch: Any, p: Any, w: Any, which: Any, m: Any) -> Any:
    """The same in torch."""
    mixed = (w[:, :, None, None] * m[which.long()]).sum(1)
    return (mixed * p[:, None, :]).sum(2)


PROGRAMS = (
    Unseen(
        "asian_option",
        asian_option,
        (200,),
        (1 << 23,),
        asian_numpy,
        asian_torch,
        lambda rng, n: {"path": np.arange(n)},
    ),
    Unseen(
        "american_put",
        american_put,
        (9,),
        (1 << 18,),
        put_numpy,
        put_torch,
        lambda rng, n: {"spot": 80 + 40 * uniform(rng, n), "strike": 80 + 40 * uniform(rng, n)},
        atol=1e-2,
    ),
    Unseen(
        "inverses_3x3",
        inverses3,
        (9,),
        (1 << 22,),
        lambda m: np.linalg.inv(m),
        lambda torch, m: cofactors(m, torch.stack, -1),
        lambda rng, n: {"m": normal(rng, n, 3, 3) * 0.1 + np.eye(3, dtype="f4")},
    ),
    Unseen(
        "solves_2x2",
        solves2,
        (9,),
        (1 << 24,),
        lambda m, r: solves2_with(m, r, np.stack),
        lambda torch, m, r: solves2_with(m, r, torch.stack),
        lambda rng, n: {"m": normal(rng, n, 2, 2) * 0.1 + np.eye(2, dtype="f4"), "r": normal(rng, n, 2)},
    ),
    Unseen(
        "quaternion_turn",
        quaternion_turn,
        (9,),
        (1 << 24,),
        quaternion_numpy,
        quaternion_torch,
        lambda rng, n: {"q": normal(rng, n, 4) / 2, "p": normal(rng, n, 3)},
    ),
    Unseen(
        "interpolate_table",
        interpolate_table,
        (100, 9),
        (1 << 26, 4096),
        table_numpy,
        table_torch,
        lambda rng, n, m: {"x": uniform(rng, n), "table": normal(rng, m)},
    ),
    Unseen(
        "bezier_curves",
        bezier,
        (5,),
        (1 << 19,),
        lambda p: np.einsum("tc,ncd->ntd", BERNSTEIN, p),
        lambda torch, p: torch.einsum("tc,ncd->ntd", torch.tensor(BERNSTEIN.tolist(), device=p.device), p),
        lambda rng, n: {"p": normal(rng, n, 4, 2)},
    ),
    Unseen(
        "skinning",
        skinning,
        (9, 5),
        (1 << 22, 256),
        lambda p, w, which, m: np.einsum("nk,nkij,nj->ni", w, m[which], p),
        skinning_torch,
        lambda rng, n, bones: {
            "p": normal(rng, n, 4),
            "w": uniform(rng, n, 4),
            "which": ints(rng, 0, bones, n, 4),
            "m": normal(rng, bones, 4, 4),
        },
    ),
)
