"""How an array goes on beyond its edges, as users say it."""

from __future__ import annotations

from typing import Any

from egglift.ir.errors import TypeMismatch


def boundary(mode: object) -> tuple[str, Any]:
    """The name of a boundary mode, and what is there, if it is a value; TypeMismatch where it is none."""
    match mode:
        case str():
            return mode, None
        case (str() as name, value):
            return name, value
    raise TypeMismatch(
        f'pad takes a mode such as "clamp", ("constant", value) or a function of the index, not {mode!r}; '
        f'for a value, write ("constant", {mode!r})'
    )
