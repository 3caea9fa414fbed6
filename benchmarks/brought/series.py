"""Long vectors: moving averages, moments, prices."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Brought, Sizes, positive
from benchmarks.brought.vectors import dot, floats, squares, total

#: elements of a moving average
WINDOW = 64
#: of Black and Scholes, for options of one year
RATE, VOLATILITY = 0.05, 0.2
DRIFT, DISCOUNT, SLOPE = RATE + VOLATILITY**2 / 2, exp(-RATE), 0.5**0.5


def moving_average_64(n: int) -> Any:
    """The mean of every 64 elements in a row."""
    return floats("v", n).slide(WINDOW, 1).map(lambda window: total(window) / WINDOW)


def black_scholes(n: int) -> Any:
    """Prices of call options of one year, by the error function."""
    return floats("v", n).map(lambda v, u: price_of_call(v, u, el.log, el.erf), floats("u", n))


def correlation(n: int) -> Any:
    """Pearson's, of two vectors."""
    v, u = _centred(floats("v", n), n), _centred(floats("u", n), n)
    return dot(v, u) * el.rsqrt(squares(v) * squares(u))


def three_moments(n: int) -> Any:
    """The mean of a vector, and the means of the squares and of the cubes of what differs from it."""
    v = floats("v", n)
    apart = _centred(v, n)
    return el.tuple(total(v) / n, squares(apart) / n, total(apart.map(lambda d: d * d * d)) / n)


def _centred(xs: Any, n: int) -> Any:
    """A vector less its mean."""
    mean = total(xs) / n
    return xs.map(lambda v: v - mean)


def price_of_call(price: Any, strike: Any, log: Any, erf: Any) -> Any:
    """Of a call option, given the functions log and erf."""
    upper = (log(price / strike) + DRIFT) / VOLATILITY
    lower = upper - VOLATILITY
    return price * (0.5 * (1 + erf(upper * SLOPE))) - DISCOUNT * strike * (0.5 * (1 + erf(lower * SLOPE)))


# ---------------------------------------------------------------------------------------- what they mean


def _moving_average(v: Any) -> Any:
    """Sums of 2, 4, ... 64 in a row, which is the fastest in NumPy."""
    for reach in (1, 2, 4, 8, 16, 32):
        v = v[:-reach] + v[reach:]
    return v / WINDOW


def _moving_average_in_torch(torch: Any, v: Any) -> Any:
    return torch.nn.functional.avg_pool1d(v[None, None], WINDOW, 1)[0, 0]


def _black_scholes(v: Any, u: Any) -> Any:
    from scipy.special import erf  # type: ignore[import-untyped]

    return price_of_call(v, u, np.log, erf)


def _correlation(v: Any, u: Any) -> Any:
    a, b = v - v.mean(), u - u.mean()
    return (a * b).sum() / ((a * a).sum() * (b * b).sum()) ** 0.5


def _three_moments(v: Any) -> Any:
    apart = v - v.mean()
    return v.mean(), (apart * apart).mean(), (apart * apart * apart).mean()


LONG = Sizes((100,), (1 << 22,), (1 << 26,))
PROGRAMS = (
    Brought(moving_average_64, LONG, _moving_average, _moving_average_in_torch),
    Brought(
        black_scholes,
        LONG,
        _black_scholes,
        lambda torch, v, u: price_of_call(v, u, torch.log, torch.erf),
        positive,
    ),
    Brought(correlation, LONG, _correlation),
    Brought(three_moments, LONG, _three_moments),
)
