"""What tests of programs share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def kernels_of_a_file() -> Iterator[None]:
    """At the end of a file, the kernels that its tests have left to be built together are right."""
    yield
    if agreement := sys.modules.get("tests.ir.agreement"):
        agreement.kernels_agree()
