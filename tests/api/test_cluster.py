"""Blocks on the workers of a dask cluster: here of two processes of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift import cluster
from egglift.ir.errors import ClusterError
from egglift.optimize import computed
from egglift.options import Options
from egglift.processes import executors
from tests.api.distribution.programs import PROGRAMS, agree, jacobi, values

distributed: Any = pytest.importorskip("distributed", reason="dask is not installed: pip install 'egglift[cluster]'")

QUICK = {"measure": "none", "cache": False}


@pytest.fixture(scope="module")
def workers() -> Iterator[str]:
    """The address of a scheduler with two workers."""
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made.scheduler_address


@pytest.mark.parametrize("name", ["total", "scan", "product"])
def test_workers_compute_what_one_device_does(workers: str, name: str) -> None:
    program = el.as_program(PROGRAMS[name](40))
    kernel = el.optimize(program, devices=workers, **QUICK)
    given = values(program)
    assert agree(kernel(**given), el.interpret(program, **given))
    assert [len(of) for of in kernel.shares.values()] == [2]


def test_borders_go_between_workers(workers: str) -> None:
    program = el.as_program(jacobi(10, "wrap", 3))
    kernel = el.optimize(program, devices=workers, **QUICK)
    given = values(program)
    assert agree(kernel(**given), el.interpret(program, **given))


def killed_once(mark: str, text: str, options: Options, args: tuple[Any, ...]) -> Any:
    """Kills the worker that is the first to come here, and computes in the others."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return computed(text, options, args)
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_block_of_a_worker_that_is_killed_is_run_again(
    workers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, whole = tmp_path / "killed", cluster.Cluster.at
    task = partial(killed_once, str(mark))
    monkeypatch.setattr(cluster.Cluster, "at", lambda address, _, options: whole(address, task, options))
    kernel = el.optimize(PROGRAMS["total"](40), devices=workers, **QUICK)
    assert kernel(np.ones(40, np.float32)) == 40
    assert mark.exists()


def test_an_address_where_nobody_answers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 1)
    with pytest.raises(ClusterError, match="no dask scheduler answers at tcp://127.0.0.1:1"):
        el.optimize(PROGRAMS["total"](40), devices="tcp://127.0.0.1:1")
