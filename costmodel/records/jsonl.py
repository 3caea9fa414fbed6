"""Files of JSON lines to which several processes append at once: records and measurements are kept in them."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar


class Keyed(Protocol):
    """What a line holds: a frozen dataclass of plain data with a key."""

    @property
    def key(self) -> str: ...


T = TypeVar("T", bound=Keyed)


class Lines(Generic[T]):
    """The lines of one file.  Several processes may append to it at once; the last line of a key counts.

    What cannot be read is skipped, and what cannot be written is dropped, each with one warning: a cache must
    not stop the work.
    """

    def __init__(self, path: Path | None, read: Callable[[Any], T | None], what: str) -> None:
        """path: the file; None: nothing is kept.  read: a line's data, None where it is of another version.

        what: the name of a line's content, for messages.
        """
        self.path, self._read, self._what = path, read, what
        self._lock = threading.Lock()
        self._known: dict[str, T] = {}
        self._read_to = 0
        self._last = b""  # the line before that place: it tells whether the file is still the same one
        self._warned: set[str] = set()

    def get(self, key: str) -> T | None:
        """The newest line of `key`, also one that another process has just written."""
        with self._lock:
            self._refresh()
            return self._known.get(key)

    def __iter__(self) -> Iterator[T]:
        """The newest line of every key, in the order in which the keys first came."""
        with self._lock:
            self._refresh()
            return iter(list(self._known.values()))

    def put(self, item: T) -> None:
        """Appends `item`; it is known to this process even where the disk does not take it."""
        line = json.dumps(asdict(item), separators=(",", ":"))  # type: ignore[call-overload]
        with self._lock:
            self._refresh()
            self._known[item.key] = item
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
                fcntl.flock(file, fcntl.LOCK_SH)  # nobody is in the middle of a line
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
            self._warn("disk", f"cannot read {self.path}: {error}; starting without what it holds")
            return
        data = data[len(self._last) :]
        end = data.rfind(b"\n") + 1
        if end < len(data):  # a full disk or a killed process; the next one to append closes it
            self._warn("line", f"{self.path} ends in the middle of a {self._what}; it is skipped")
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
            item = self._read(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self._warn("line", f"{self.path} holds a line that is no {self._what} ({error}); it is skipped")
            return
        if item is not None:
            self._known[item.key] = item

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warnings.warn(message, RuntimeWarning, stacklevel=3)


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
