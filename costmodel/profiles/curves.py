"""Measured curves: numbers between the measured ones, and the caches that show as steps of bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, log

from egglift.costmodel.profiles.profile import Cache

FLAT = 1.25  # on one level of a curve, bandwidths differ by less than this factor
SPAN = 2.0  # a level is as wide, from its first to its last working set, at least
PAYS = 1.05  # a width of vectors pays where it is so many times as fast as every narrower one


def at(curve: Mapping[str, float], x: float) -> float:
    """The curve's value at `x`, on a straight line between logarithms; beyond its ends, the value of the end."""
    points = sorted((float(k), v) for k, v in curve.items())
    for (a, va), (b, vb) in pairwise(points):
        if a <= x <= b:
            part = log(x / a) / log(b / a)
            return exp(log(va) * (1 - part) + log(vb) * part)
    return points[0][1] if x < points[0][0] else points[-1][1]


def widths_that_pay(rates: Mapping[str, float]) -> tuple[int, ...]:
    """Of vector widths those that are faster than every narrower one, by 5 % at least."""
    best, found = 0.0, list[int]()
    for width in sorted(rates, key=int):
        if rates[width] > PAYS * best:
            found.append(int(width))
        best = max(best, rates[width])
    return tuple(found)


def falling(curve: Mapping[str, float]) -> list[tuple[int, float]]:
    """The curve without its dents: a working set is read no slower than a larger one.

    Other work on the machine, and the start of a kernel, slow a measurement down; nothing speeds it up.
    """
    best, found = 0.0, list[tuple[int, float]]()
    for size in sorted(map(int, curve), reverse=True):
        best = max(best, curve[str(size)])
        found.append((size, best))
    return found[::-1]


def levels(curve: Mapping[str, float]) -> list[Cache]:
    """The flat parts of a curve of bandwidths by working set, smallest first: each cache, and memory in the end.

    A level's size is the last working set on it; on the last level, the largest that was measured.
    """
    found: list[Cache] = []
    points = falling(curve)
    while points:
        first, top = points[0]
        flat = [p for p in points if p[1] * FLAT > top]
        if flat[-1][0] >= SPAN * first:
            found.append(Cache(flat[-1][0], top))
            points = points[len(flat) :]
        else:  # on the way from one level to the next
            points = points[1:]
    return found


def caches_of(curve: Mapping[str, float], reported: int) -> tuple[Cache, ...]:
    """The caches, smallest first; `reported`: the bytes of the last one as the driver says (0: it does not).

    Some drivers report an inner cache.  Then working sets of several times its size are still read faster than memory,
    and the size of the last cache is read off the curve.  Empty where the curve has no level.
    """
    found, points = levels(curve), falling(curve)
    if not found:
        return ()
    largest, memory = points[-1]
    inner = [c for c in found if c.bytes < largest]
    if reported and not (inner and inner[-1].bytes > 2 * reported):
        bandwidth = max((b for size, b in points if size >= reported // 2), default=memory)
        return (*(c for c in inner if 2 * c.bytes <= reported), Cache(reported, bandwidth))
    return tuple(inner)
