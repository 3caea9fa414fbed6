"""Places in C texts, for messages."""

from __future__ import annotations

from typing import Any, NoReturn

from egglift.ir.errors import ProgramError


def refused(node: Any, why: str, file: str = "") -> NoReturn:
    """ProgramError at the place of a node of the tree."""
    raise ProgramError(f"{place(node, file)}: {why}")


def place(node: Any, file: str = "") -> str:
    """`nest.c:3:9`."""
    at = getattr(node, "coord", node)
    return f"{at.file}:{at.line}:{at.column}" if at is not None and at.line else str(file or "C")
