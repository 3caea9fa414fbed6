"""Where egglift keeps what it found and measured."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_dir


def cache_folder() -> Path | None:
    """Where records and profiles are kept: the path EGGLIFT_CACHE (`~` is the home), or the user's cache folder.

    None: EGGLIFT_CACHE is "off".
    """
    chosen = os.environ.get("EGGLIFT_CACHE", "")
    if chosen.lower() == "off":
        return None
    return Path(chosen).expanduser() if chosen else Path(user_cache_dir("egglift"))
