"""What compilers refused, kept to be looked at: the kernels' source with the compiler's log, one file each."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from egglift.costmodel.measurement.bench import Measurement
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.ir.errors import BuildError


def keep_failure(source: str, log: str) -> Path | None:
    """The file `failures/HASH.cl` of the cache folder with `source` and, as a comment, `log`; None: it is off or full.

    Equal sources share a file, so that a kernel that fails again and again is kept once.
    """
    folder = cache_folder()
    if folder is None or not source:
        return None
    path = folder / "failures" / f"{sha256(source.encode()).hexdigest()[:16]}.cl"
    comment = log.replace("*/", "* /").strip()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{source}\n/* The compiler's log:\n{comment}\n*/\n")
    except OSError:
        return None
    return path


def with_file(m: Measurement) -> Measurement:
    """A measurement that failed to build names the file in its reason; others are as they were."""
    if m.status not in ("build", "crashed", "hung"):
        return m
    path = keep_failure(m.plan.source, m.log or m.reason)
    return replace(m, reason=f"{m.reason}; kernel and log are in {path}") if path else m


def named(error: BuildError) -> BuildError:
    """A build error that names the file in which its source and log are kept."""
    path = keep_failure(error.source, error.log)
    return BuildError(f"{error}; kernel and log are in {path}", error.source, error.log) if path else error
