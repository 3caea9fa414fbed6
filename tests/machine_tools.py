"""Programs of the machine that some tests call."""

from __future__ import annotations

import shutil

import pytest


def require_tool(name: str) -> None:
    """Skips the test on a machine that has no such program."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
