"""Where independent jobs run: in processes of this machine, or on the workers of a dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from egglift.ir.errors import ClusterError

#: seconds until a scheduler that does not answer counts as unreachable
PATIENCE = 10


@contextmanager
def workers(cluster: str | None = None, jobs: int | None = None) -> Iterator[Executor]:
    """An executor that runs functions of egglift in other processes, or on a cluster.

    cluster: the address of a dask scheduler ("tcp://host:8786"); egglift must be installed where its workers run.
    "local": a dask cluster on this machine, which ends with the block.  None: processes without dask.
    jobs: how many processes, where they are made here (default: one for each core).
    ClusterError: dask is not installed, or nothing answers at the address.
    """
    count = jobs or os.cpu_count() or 1
    if cluster is None:
        context = multiprocessing.get_context("spawn")  # an OpenCL driver does not survive a fork
        with ProcessPoolExecutor(count, mp_context=context, initializer=_attend) as pool:
            yield pool
        return
    with ExitStack() as stack:
        client = stack.enter_context(_client(stack, cluster, count))
        yield stack.enter_context(client.get_executor(pure=False))


def _attend() -> None:
    """Has a worker process end at once on Ctrl-C, and with its parent, even one that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _client(stack: ExitStack, cluster: str, count: int) -> Any:
    """A client of the scheduler at that address; `stack` ends the scheduler where it was made here."""
    if cluster == "local":  # one thread in each: the search is Python, and holds its lock
        distributed = _dask()
        made = distributed.LocalCluster(count, threads_per_worker=1, processes=True, dashboard_address=None)
        return distributed.Client(stack.enter_context(made))
    return client_of(cluster)


def _dask() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"dask cannot be imported ({error}); install it: pip install 'egglift[cluster]'") from error
    return distributed


def client_of(cluster: str) -> Any:
    """A client of the dask scheduler at that address; ClusterError where nothing answers."""
    Client = _dask().Client
    try:
        return Client(cluster, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"no dask scheduler answers at {cluster}: {reason}; start one: dask scheduler") from error
