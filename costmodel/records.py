"""Records: what was found for a program on a device, kept on disk as lines of JSON."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from platformdirs import user_cache_dir

SCHEMA = 1


@dataclass(frozen=True)
class Record:
    """The result of optimising one program for one device.

    key: content hash (`record_key`).  term: the chosen candidate's text (ir.text).  parameters: its tile and
    work-group sizes.  estimate and measured: seconds.  candidates: one object for each that was looked at,
    with its term, parameters, estimate, measured time or the reason of its failure.  rules: the versions of rule
    book and code; when: the time, in UTC (ISO 8601); seal: costmodel.seal's code, of what this user's egglift wrote.
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


def cache_folder() -> Path | None:
    """Where records and profiles are kept: EGGLIFT_CACHE or the user's cache folder; None: it is "off"."""
    chosen = os.environ.get("EGGLIFT_CACHE", "")
    if chosen.lower() == "off":
        return None
    return Path(chosen) if chosen else Path(user_cache_dir("egglift"))


class Records:
    """The records of one file.  Several processes may append to it at once; the last record of a key counts.

    What cannot be read is skipped, and what cannot be written is dropped, each with one warning: a cache must
    not stop the work.
    """

    def __init__(self, path: Path | None = None) -> None:
        """path: the file; None: `records.jsonl` in the cache folder (nowhere, if that is off)."""
        folder = cache_folder()
        self.path = path or (folder / "records.jsonl" if folder else None)
        self._lock = threading.Lock()
        self._known: dict[str, Record] = {}
        self._read_to = 0
        self._last = b""  # the line before that place: it tells whether the file is still the same one
        self._warned: set[str] = set()

    def get(self, key: str) -> Record | None:
        """The newest record of `key`, also one that another process has just written."""
        with self._lock:
            self._refresh()
            return self._known.get(key)

    def __iter__(self) -> Iterator[Record]:
        """The newest record of every key, in the order in which the keys first came."""
        with self._lock:
            self._refresh()
            return iter(list(self._known.values()))

    def put(self, record: Record) -> None:
        """Appends `record`; it is known to this process even where the disk does not take it."""
        line = json.dumps(asdict(record), separators=(",", ":"))
        with self._lock:
            self._refresh()
            self._known[record.key] = record
            if self.path is not None:
                try:
                    append_line(self.path, line)
                    self._refresh()
                except OSError as error:
                    self._warn("disk", f"cannot write {self.path}: {error}; results are not kept")

    def _refresh(self) -> None:
        """Reads what was appended since the last time, or everything of a file that took the old one's place."""
        if self.path is None:
            return
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size  # a device never ends, and has none
                data = _from(file, self._read_to - len(self._last), size)
                if not data.startswith(self._last):
                    self._forget()
                    data = _from(file, 0, size)
        except FileNotFoundError:
            if self._read_to:
                self._forget()
            return
        except OSError as error:
            self._warn("disk", f"cannot read {self.path}: {error}; starting without records")
            return
        data = data[len(self._last) :]
        end = data.rfind(b"\n") + 1  # what follows is a line that another process is writing, or a torn one
        for line in data[:end].splitlines(keepends=True):
            self._add(line)
            self._read_to, self._last = self._read_to + len(line), line

    def _forget(self) -> None:
        """The file is another one, was cut, or was thrown away."""
        self._known.clear()
        self._read_to, self._last = 0, b""

    def _add(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            raw = json.loads(line)
            if raw["schema"] != SCHEMA:
                return
            record = _sound(Record(**{**raw, "laws": tuple(raw["laws"]), "candidates": tuple(raw["candidates"])}))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            self._warn("line", f"{self.path} holds a line that is no record ({error}); it is skipped")
            return
        self._known[record.key] = record

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(message, RuntimeWarning, stacklevel=3)


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


def _from(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(max(0, end - start))


def append_line(path: Path, line: str) -> None:
    """Appends `line` to the file at `path` as a whole, whoever else appends; OSError where that fails.

    A torn last line (a full disk, a killed process) is closed first, so that it spoils only itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        data = ("\n" if torn else "").encode() + line.encode() + b"\n"
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
