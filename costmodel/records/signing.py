"""Which records and measurements this user's egglift wrote itself: they carry a code that only it can make."""

from __future__ import annotations

import hmac
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

KEY_BYTES = 32


class Sealed(Protocol):
    """A frozen dataclass of plain data with the text `seal`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def seal(self) -> str: ...


T = TypeVar("T", bound=Sealed)


def sealed(record: T, folder: Path) -> T:
    """`record` with the code of `folder`'s key, or with none where no key can be kept."""
    key = _key(folder)
    return replace(record, seal=_code(record, key) if key else "")


def is_own(record: Sealed, folder: Path) -> bool:
    """Was `record` sealed with `folder`'s key, and not changed since?"""
    key = _key(folder)
    seal = str(record.seal).encode("ascii", "backslashreplace")  # any text may stand in a file
    return key is not None and hmac.compare_digest(_code(record, key).encode(), seal)


def _code(record: Sealed, key: bytes) -> str:
    text = json.dumps({**asdict(record), "seal": ""}, sort_keys=True)
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def _key(folder: Path) -> bytes | None:
    """The folder's key, made when first asked for; None where the disk does not take it."""
    path = folder / "seal"
    with suppress(OSError):
        if not path.is_file() or path.stat().st_size != KEY_BYTES:
            _make(path)
        return path.read_bytes()
    return None


def _make(path: Path) -> None:
    """A new key at `path`, whole or not at all; of two processes at once, the last one's stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix="seal")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
