"""References of all-pairs programs: a block of rows at a time, so that no intermediate result is large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: elements of a block's intermediate results
BLOCK = 1 << 21


def by_rows(f: Callable[[slice], Any], rows: int, width: int) -> Any:
    """The arrays `f(rows 0 to a)`, `f(rows a to b)`, ... joined at their last axis; `width` elements for a row."""
    step = max(1, BLOCK // width)
    return np.concatenate([f(slice(i, i + step)) for i in range(0, rows, step)], axis=-1)
