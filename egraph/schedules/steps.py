"""How a low-level program was made of stages and schedules, as data: from these steps it is made again (again.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from egglift.egraph.stages.partitioning import Partitioning


@dataclass(frozen=True)
class Made:
    """How a structure was made of a stage, so that it can be made again of the same stage over other lengths.

    way: its name; rows: the place of its rows among the stage's dimensions, if it has some; together: how many of the
    last dimensions are its columns, as one; starts: do other stages start within its groups?
    """

    way: str
    rows: int | None = None
    together: int = 1
    starts: bool = False


#: of symbols
Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Alone:
    """A stage by a schedule of its own loops."""

    made: Made
    sizes: Sizes


@dataclass(frozen=True)
class InPieces:
    """A stage whose reductions are shared out over so many pieces, by a stage before."""

    pieces: int
    parts: Alone
    added: Alone


@dataclass(frozen=True)
class Steps:
    """How a low-level program was made: how its stages were found, and how each was made; row: which of the `rows_of`
    these stages is one, in which others start; None: none is."""

    by: Partitioning
    stages: tuple[Alone | InPieces, ...]
    row: int | None = None


def steps_from(data: Mapping[str, Any]) -> Steps:
    """What `dataclasses.asdict` made of steps, read from JSON.  KeyError, TypeError where it is something else."""
    stages = tuple(_pieces_from(x) if "pieces" in x else _alone_from(x) for x in data["stages"])
    return Steps(Partitioning(**data["by"]), stages, data["row"])


def _pieces_from(data: Mapping[str, Any]) -> InPieces:
    return InPieces(data["pieces"], _alone_from(data["parts"]), _alone_from(data["added"]))


def _alone_from(data: Mapping[str, Any]) -> Alone:
    return Alone(Made(**data["made"]), tuple((str(name), int(n)) for name, n in data["sizes"]))
