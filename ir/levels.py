"""Who executes the iterations of a map."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """Who executes the iterations of a map.  `kind` is one of LEVELS; `dim` is 0, 1 or 2."""

    kind: str
    dim: int = 0

    def __str__(self) -> str:
        return f"{self.kind}{self.dim}" if self.kind in ("global", "workgroup", "local") else self.kind


#: mapGlobal, mapWorkgroup, mapLocal (with a dimension), mapWarp, mapLane, mapSeq, mapSeqUnroll, mapVec, mapDevice
LEVELS = ("global", "workgroup", "local", "warp", "lane", "seq", "unroll", "vec", "device")
