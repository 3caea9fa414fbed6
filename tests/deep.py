"""Parameters of tests of which a sample is run on every commit, and all with `-m deep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], often: Callable[[Any], bool]) -> list[Any]:
    """A parameter for each value; those that are not run `often` are run with `-m deep` only."""
    return [pytest.param(v, marks=() if often(v) else pytest.mark.deep) for v in values]
