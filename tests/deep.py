"""Parameters of tests of which a sample is run on every commit, and all with `-m deep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest


def sampled(values: Iterable[Any], often: Callable[[Any], bool]) -> list[Any]:
    """A parameter for each value; those that are not run `often` are run with `-m deep` only."""
    return [pytest.param(v, marks=() if often(v) else pytest.mark.deep) for v in values]


def every(n: int, *axes: Iterable[Any]) -> list[Any]:
    """A parameter for each combination of values; those of which the places add up to a multiple of n are run often.

    Every value is then run often with some of the others, if another axis has at least n values.
    """
    places = ([*enumerate(values)] for values in axes)
    return [
        pytest.param(*(v for _, v in found), marks=pytest.mark.deep if sum(i for i, _ in found) % n else ())
        for found in product(*places)
    ]
