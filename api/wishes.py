"""What a user asks of the kernel itself: laws that it must need, sizes of tiles, shapes of groups and grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egglift.ir.errors import ArgumentError


@dataclass(frozen=True)
class Wishes:
    """require: laws without which a candidate is not found; sizes: of tiles, by name; group_size: work-items of a
    group, by dimension, or in all; parallel: dimensions of the grid; candidates: how many are kept.
    """

    require: tuple[str, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    group_size: tuple[int, ...] | int | None = None
    parallel: int | None = None
    candidates: int | None = None

    @classmethod
    def of(
        cls,
        require: Sequence[str],
        sizes: Mapping[str, int] | None,
        group_size: Sequence[int] | int | None,
        parallel: int | None,
        candidates: int | None,
    ) -> Wishes:
        """What `optimize` was given, checked; ArgumentError."""
        if isinstance(require, str):
            raise ArgumentError('require is a sequence of names: write require=["deal"]')
        for name, n in (sizes or {}).items():
            if not isinstance(n, int) or n < 0:
                raise ArgumentError(f"sizes has {name}={n!r}: a tile is a whole number of elements long")
        if parallel not in (None, 1, 2, 3):
            raise ArgumentError(f"parallel is 1, 2 or 3, the dimensions of a grid, not {parallel!r}")
        if candidates is not None and (not isinstance(candidates, int) or candidates < 1):
            raise ArgumentError(f"candidates is how many are looked at, 1 or more, not {candidates!r}")
        group = None if group_size is None else group_size if isinstance(group_size, int) else tuple(group_size)
        if group is not None and min([group] if isinstance(group, int) else group, default=0) < 1:
            raise ArgumentError(f"group_size is a number of work-items, or one for each dimension, not {group_size!r}")
        return cls(tuple(require), tuple(sorted((sizes or {}).items())), group, parallel, candidates)
