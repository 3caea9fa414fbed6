"""Names of the levels that execute maps, as the user writes them."""

from __future__ import annotations

from egglift.ir.patterns import Level

NAMES = {
    "global": "mapGlobal",
    "workgroup": "mapWorkgroup",
    "local": "mapLocal",
    "warp": "mapWarp",
    "lane": "mapLane",
    "seq": "mapSeq",
    "unroll": "mapSeqUnroll",
    "vec": "mapVec",
    "device": "mapDevice",
}


def level_name(level: Level) -> str:
    """The low-level pattern: mapGlobal0, mapSeq, ..."""
    return NAMES[level.kind] + (str(level.dim) if level.kind in ("global", "workgroup", "local") else "")
