"""Tests of several devices run what they test in a process that has three."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.several import process


@pytest.fixture(scope="package")
def three() -> Iterator[Callable[..., Any]]:
    """Calls functions in a process with three devices of PoCL."""
    with process() as call:
        yield call
