"""Forked processes.  egglog and OpenCL drivers have threads, and a fork takes none along: what waits for them hangs."""

from __future__ import annotations

import gc
import os
import sys

from egglift.ir.errors import ForkError

#: loaded is as good as used: it has its threads from then on
EGGLOG = "egglog.bindings"
#: what this process has begun to use; what the process that it was forked from had used, and had imported
_used: set[str] = set()
_lost: set[str] = set()
_imported: set[str] = set()


def use(library: str) -> None:
    """Notes that this process uses `library` from now on; ForkError where the process that it was forked from did."""
    if library in _lost:
        raise lost(library)
    _used.add(library)


def lost(library: str) -> ForkError:
    """The error of this and every later use of `library` in this process: it was used before a fork."""
    _lost.add(library)
    return ForkError(
        f"this process was forked from one that had used {library}, which would hang here; start it afresh: "
        f'multiprocessing.get_context("spawn"), or fork before {library} is used'
    )


def imported_before_fork(module: str) -> bool:
    """Had the process that this one was forked from imported `module`?  It may have used it without egglift."""
    return module in _imported


def _forked() -> None:
    _lost.update(_used)
    _imported.update(sys.modules)
    if EGGLOG in sys.modules:
        _lost.add("egglog")
        gc.freeze()  # e-graphs that the parent left in cycles would ask threads to drop them: they stay


os.register_at_fork(after_in_child=_forked)
