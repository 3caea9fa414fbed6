"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from egglift.ir.errors import RecordError


def write_whole(path: Path, text: str) -> None:
    """Puts `text` at `path`, in the place of what is there: readers see the one or the other, never a part.

    RecordError where the disk does not take it; what was there stays then.
    """
    if not path.name:
        raise RecordError(f"cannot write {path}: it is a folder; give the name of a file in it")
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("x") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            beside.unlink()
