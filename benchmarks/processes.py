"""Lines of several programs: made by several processes, which search side by side and time one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

#: programs after which a process ends, for another: JAX gives no memory of a GPU back before
TERM = 3


def spread(work: Callable[[str], dict[str, Any]], names: Sequence[str], jobs: int) -> Iterator[dict[str, Any]]:
    """`work(name)` of each name, in `jobs` processes, in the order in which they end.

    work: a function that can be pickled.  Of a process that dies each unfinished program is a failed line.
    """
    # spawned: what a GPU's driver holds does not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), max_tasks_per_child=TERM) as pool:
        begun = {pool.submit(work, name): name for name in names}
        for done in as_completed(begun):
            try:
                yield done.result()
            except BrokenProcessPool:
                yield {"program": begun[done], "failed": "a process ended before its time"}
