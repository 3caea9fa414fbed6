"""How often a loop goes round, on average over all groups, where each may end it before the others do."""

from __future__ import annotations

import numpy as np

from egglift.codegen.kernel.imperative import Loop
from egglift.codegen.kernel.index import Index, Var

MOST = 64  # values of each variable that are looked at


def usual_trips(loop: Loop) -> float:
    """The trips of a loop; of one that ends where the group's number says, the mean over groups.

    for (i = 0; i < 8 && i - group < 1; ++i)   with 8 groups: 4.5
    """
    if loop.ends is None:
        return loop.trips
    at, n = loop.ends
    step = at.coefficient(loop.var)
    start = at.substitute({loop.var: 0})
    if not step or step < 0 or any(not isinstance(a, Var) for a, _ in start.terms):
        return loop.trips
    return float(np.clip(np.ceil((n - _values(start)) / step), 0, loop.trips).mean())


def _values(at: Index) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    found = np.array([float(at.constant)])
    for a, k in at.terms:
        assert isinstance(a, Var)
        own = np.linspace(0, a.count - 1, min(a.count, MOST))
        found = np.add.outer(found, k * own).reshape(-1)
    return found
