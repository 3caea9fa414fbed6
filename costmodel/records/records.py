"""Records: what was found for a program on a device, kept on disk as lines of JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.jsonl import Lines

SCHEMA = 1


@dataclass(frozen=True)
class Record:
    """The result of optimising one program for one device.

    key: content hash (`record_key`).  term: the chosen candidate's text (ir.text).  parameters: its tile and
    work-group sizes.  estimate and measured: seconds.  candidates: one object for each that was looked at,
    with its term, parameters, estimate, measured time or the reason of its failure.  rules: the versions of rule
    book and code; when: the time, in UTC (ISO 8601); seal: signing's code, of what this user's egglift wrote.
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
    seal: str = ""
    schema: int = SCHEMA


def record_key(program: str, rules: str, device: str, driver: str, options: Mapping[str, object]) -> str:
    """The content hash under which a record is kept.

    program: its text; rules: the hash of the rule book and code; options: what else changes the result.
    """
    parts = [SCHEMA, program, rules, device, driver, sorted((k, repr(v)) for k, v in options.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Records(Lines[Record]):
    """The records of one file (costmodel.records.jsonl)."""

    def __init__(self, path: Path | None = None) -> None:
        """path: the file; None: `records.jsonl` in the cache folder (nowhere, if that is off)."""
        folder = cache_folder()
        super().__init__(path or (folder / "records.jsonl" if folder else None), _record, "record")


def _record(raw: Any) -> Record | None:
    if raw["schema"] != SCHEMA:
        return None
    return _sound(Record(**{**raw, "laws": tuple(raw["laws"]), "candidates": tuple(raw["candidates"])}))


def _sound(record: Record) -> Record:
    """`record`, if its fields have their types; TypeError names one that has not.  (Files come from anywhere.)"""
    for name in ("key", "program", "device", "driver", "term", "rules", "when", "seal"):
        if not isinstance(getattr(record, name), str):
            raise TypeError(f"its {name} is no text")
    if not isinstance(record.parameters, dict) or not all(isinstance(c, dict) for c in record.candidates):
        raise TypeError("its parameters and candidates are no objects")
    if not all(isinstance(law, str) for law in record.laws):
        raise TypeError("its laws are no texts")
    for holder in (asdict(record), *record.candidates):
        for name in ("estimate", "measured"):
            value = holder.get(name)
            if value is not None and not (type(value) in (int, float) and 0 <= value < math.inf):
                raise TypeError(f"its {name} is no number of seconds")
    return record
