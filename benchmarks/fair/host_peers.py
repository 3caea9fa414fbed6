"""Peers that run on the host's cores: NumPy, numexpr, numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.fair.clocks import host_times
from benchmarks.fair.job import Job
from benchmarks.fair.peer import Call, Peer
from benchmarks.peers import absent, peer


def _numpy(job: Job) -> Mapping[str, Callable[[], Call]]:
    return {"NumPy": lambda: partial(job.numpy, **job.inputs)}


def _written(kind: str, job: Job) -> Mapping[str, Callable[[], Call]]:
    run = peer(kind, job.name) if job.of == "catalogue" else None
    return {kind: lambda: partial(run, **job.inputs)} if run else {}


def _host(value: Any) -> Any:
    return tuple(map(_host, value)) if isinstance(value, (tuple, list)) else np.asarray(value)


def host_peer(kind: str) -> Peer:
    """`kind` is "numpy", "numexpr" or "numba"."""
    ways = _numpy if kind == "numpy" else partial(_written, kind)
    return Peer(kind, partial(absent, kind), ways, host_times, _host)
