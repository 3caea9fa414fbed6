"""All programs that users bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from benchmarks.brought import images, learning, linear_algebra, pairs, rows, series, statistics
from benchmarks.brought.program import Brought, Timed

P = TypeVar("P", bound=Timed)

#: by field, from products of matrices to vectors
PROGRAMS: tuple[Brought, ...] = (
    *linear_algebra.PROGRAMS,
    *statistics.PROGRAMS,
    *learning.PROGRAMS,
    *rows.PROGRAMS,
    *images.PROGRAMS,
    *pairs.PROGRAMS,
    *series.PROGRAMS,
)


def chosen(names: Sequence[str]) -> tuple[Brought, ...]:
    """The programs of those names; all where none is given.  ValueError where there is no such program."""
    return named(PROGRAMS, names)


def named(programs: tuple[P, ...], names: Sequence[str]) -> tuple[P, ...]:
    """Of some programs those of these names; all where none is given.  ValueError where there is no such program."""
    known = {b.name: b for b in programs}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no program {unknown[0]}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else programs
