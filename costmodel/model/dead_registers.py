"""Registers that are filled and never read: a compiler leaves out what fills them.

The tile of a work-item is copied whole, the corners that a cross of neighbours does not read among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt

from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import Buffer, Load, Statement, Store
from egglift.codegen.kernel.index import Index, Var

Places = npt.NDArray[np.bool_]
MOST = 1 << 16  # accesses of one statement that are looked at


def read_places(body: Iterable[Statement]) -> dict[Buffer, Places]:
    """Of every private array that is indexed by loops and lanes alone: which of its elements are read."""
    found: dict[Buffer, Places] = {}
    unknown: set[Buffer] = set()
    for a in accesses(body):
        if a.buffer.space != "private" or a.buffer.lanes > 1 or a.buffer.size == 1 or a.write:
            continue
        places = _places(a.at)
        if places is None:
            unknown.add(a.buffer)
        else:
            inside = places[(places >= 0) & (places < a.buffer.size)]  # tests around it keep it there
            found.setdefault(a.buffer, np.zeros(a.buffer.size, np.bool_))[inside] = True
    return {b: places for b, places in found.items() if b not in unknown}


def needed(s: Store, read: Mapping[Buffer, Places]) -> float:
    """The part of the times that a copy to registers runs, for which what it writes is read."""
    if s.buffer not in read or not isinstance(s.value, Load):
        return 1.0
    loops = s.at if s.lane is None else s.at.substitute({s.lane: 0})
    places = _places(loops)
    if places is None:
        return 1.0
    lanes = np.arange(s.lane.count) * (s.at.coefficient(s.lane) or 0) if s.lane is not None else np.zeros(1, np.int64)
    written = places[:, None] + lanes
    inside = (written >= 0) & (written < s.buffer.size)
    return float((read[s.buffer][np.where(inside, written, 0)] & inside).any(axis=1).mean())


def _places(at: Index) -> npt.NDArray[np.int64] | None:
    """The values of an index over all its loops; None if it depends on anything else."""
    steps = []
    for a, k in at.terms:
        if not isinstance(a, Var) or a.role not in ("loop", "lane"):
            return None
        steps.append(k * np.arange(a.count, dtype=np.int64))
    if int(np.prod([len(s) for s in steps], dtype=np.int64)) > MOST:
        return None
    start = np.array([at.constant], np.int64)
    return reduce(lambda x, y: np.add.outer(x, y).reshape(-1), steps, start)
