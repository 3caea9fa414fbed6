"""black_scholes: prices of European call and put options, by the closed formula."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]

RATE, VOLATILITY = 0.02, 0.3
#: the normal distribution as a polynomial in 1 / (1 + 0.2316419 |d|) (Abramowitz and Stegun, 26.2.17)
COEFFICIENTS = (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def normal(d: Any, m: Any) -> Any:
    """The probability that a normal variable is below `d`, with the functions of module `m` (el or np)."""
    k = 1.0 / (1.0 + 0.2316419 * m.abs(d))
    series = k * COEFFICIENTS[4]
    for c in reversed(COEFFICIENTS[:4]):
        series = (series + c) * k
    tail = m.exp(-0.5 * d * d) * (1.0 / sqrt(2 * pi)) * series
    return m.where(d > 0.0, 1.0 - tail, tail)


def prices(s: Any, k: Any, t: Any, m: Any) -> Any:
    """Call and put prices for stock price `s`, strike price `k` and `t` years, with the functions of `m`."""
    spread = VOLATILITY * m.sqrt(t)
    d1 = (m.log(s / k) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / spread
    d2 = d1 - spread
    discounted = k * m.exp(-RATE * t)
    call = s * normal(d1, m) - discounted * normal(d2, m)
    put = discounted * normal(-d2, m) - s * normal(-d1, m)
    return call, put


def program(n: int) -> Any:
    """`map prices (zip s k t)`"""
    s, k, t = (el.array(name, el.f32, n) for name in ("price", "strike", "years"))
    return el.map(lambda a, b, c: prices(a, b, c, el), s, k, t)


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    between = {"price": (5, 30), "strike": (1, 100), "years": (0.25, 10)}
    return {name: rng.uniform(low, high, n).astype(np.float32) for name, (low, high) in between.items()}


def reference(price: Any, strike: Any, years: Any) -> Any:
    """The program in NumPy."""
    return prices(price, strike, years, np)
