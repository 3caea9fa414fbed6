"""Which records this user's egglift wrote itself: those carry a code that only it can make."""

from __future__ import annotations

import hmac
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from egglift.costmodel.records import Record

KEY_BYTES = 32


def sealed(record: Record, folder: Path) -> Record:
    """`record` with the code of `folder`'s key, or with none where no key can be kept."""
    key = _key(folder)
    return replace(record, seal=_code(record, key) if key else "")


def is_own(record: Record, folder: Path) -> bool:
    """Was `record` sealed with `folder`'s key, and not changed since?"""
    key = _key(folder)
    return key is not None and hmac.compare_digest(_code(record, key), str(record.seal))


def _code(record: Record, key: bytes) -> str:
    text = json.dumps(asdict(replace(record, seal="")), sort_keys=True)
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
