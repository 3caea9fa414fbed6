"""How far work has come: told to the log `egglift.STAGE`, and to whoever watches (a bar on a terminal)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logging.getLogger("egglift").addHandler(logging.NullHandler())  # silent unless the caller configures logging

#: called with a stage and how far it has come, in words
Watcher = Callable[[str, str], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """What is told inside is told to `watcher` as well, be it kept in the log or not."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def tell(stage: str, what: str = "", level: int = logging.INFO, **numbers: float | str) -> None:
    """Says how far `stage` has come.

    `tell("saturation", "tile", rows=1200)`: "egglift.saturation: tile, rows 1200"
    """
    log, watcher = logging.getLogger(f"egglift.{stage}"), _watcher.get()
    if watcher is None and not log.isEnabledFor(level):
        return
    parts = [what] if what else []
    parts += [
        f"{name.replace('_', ' ')} {x if isinstance(x, str) else format(x, '.4g')}" for name, x in numbers.items()
    ]
    text = ", ".join(parts)
    log.log(level, "%s", text)
    if watcher is not None:
        watcher(stage, text)


def tick(stage: str, what: str = "", **numbers: float | str) -> None:
    """Says the same of a small step, which the log keeps at the level DEBUG only."""
    tell(stage, what, logging.DEBUG, **numbers)
