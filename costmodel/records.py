"""Records: what was found for a program on a device, kept on disk as lines of JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from platformdirs import user_cache_dir

from egglift.costmodel.lines import Lines

SCHEMA = 1


@dataclass(frozen=True)
class Record:
    """The result of optimising one program for one device.

    key: content hash (`record_key`).  term: the chosen candidate's text (ir.text).  parameters: its tile and
    work-group sizes.  estimate and measured: seconds.  candidates: one object for each that was looked at,
    with its term, parameters, estimate, measured time or the reason of its failure.  rules: the versions of rule
    book and code; when: the time, in UTC (ISO 8601).
    """

    key: str
    program: str
    device: str
    driver: str
    term: str
    parameters: dict[str, int] = field(default_factory=dict)
    estimate: float | None = None
    measured: float | None = None
    laws: tuple[str, ...] = ()
    candidates: tuple[dict[str, Any], ...] = ()
    rules: str = ""
    when: str = ""
    schema: int = SCHEMA


def record_key(program: str, rules: str, device: str, driver: str, options: Mapping[str, object]) -> str:
    """The content hash under which a record is kept.

    program: its text; rules: the hash of the rule book and code; options: what else changes the result.
    """
    parts = [SCHEMA, program, rules, device, driver, sorted((k, repr(v)) for k, v in options.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def cache_folder() -> Path | None:
    """Where records and profiles are kept: EGGLIFT_CACHE or the user's cache folder; None: it is "off"."""
    chosen = os.environ.get("EGGLIFT_CACHE", "")
    if chosen.lower() == "off":
        return None
    return Path(chosen) if chosen else Path(user_cache_dir("egglift"))


class Records(Lines[Record]):
    """The records of one file (costmodel.lines)."""

    def __init__(self, path: Path | None = None) -> None:
        """path: the file; None: `records.jsonl` in the cache folder (nowhere, if that is off)."""
        folder = cache_folder()
        super().__init__(path or (folder / "records.jsonl" if folder else None), _record, "record")


def _record(raw: Any) -> Record | None:
    if raw["schema"] != SCHEMA:
        return None
    return Record(**{**raw, "laws": tuple(raw["laws"]), "candidates": tuple(raw["candidates"])})
