"""How a kernel's work is distributed: its work-items and groups, and which of them share what is being emitted."""

from __future__ import annotations

from dataclasses import dataclass

from egglift.codegen.kernel.index import Index, Var

WARP = 32
#: of an OpenCL index space
DIMENSIONS = frozenset(range(3))


@dataclass(frozen=True)
class Shape:
    """Work-items per group and groups, per dimension.

    warps: dimension 0 is divided into warps of 32 lanes.  swizzle: rows of groups that are worked on column by column;
    divides the rows.
    """

    local: tuple[int, int, int] = (1, 1, 1)
    groups: tuple[int, int, int] = (1, 1, 1)
    warps: bool = False
    swizzle: int = 1

    @property
    def group_items(self) -> int:
        """Work-items in a group."""
        return self.local[0] * self.local[1] * self.local[2]


@dataclass(frozen=True)
class Distribution:
    """How work is distributed where code is emitted: over which ids already, and what each step of the group checks.

    inside: below a local or global map (or the like), where work-items go their own ways: no barriers here.
    """

    groups: frozenset[int] = frozenset()
    locals: frozenset[int] = frozenset()
    warp: bool = False
    inside: bool = False
    lane: Var | None = None
    guards: tuple[tuple[Index, int], ...] = ()
    tiles: tuple[tuple[Index, int], ...] = ()  # the elements of the grid's maps around: their indices and numbers
