"""Searches on a dask cluster: here of processes of this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from egglift.batch import ahead, run_batch, search
from egglift.codegen.device.device import open_device
from egglift.costmodel.profiles.profile import load_profile
from egglift.ir.errors import ClusterError
from egglift.ir.parser import loads
from egglift.ir.patterns import Apply, Arg, Input, Map
from egglift.ir.text import dumps
from egglift.ir.types import F32, Array
from egglift.optimize import optimize
from egglift.processes.executors import workers

distributed: Any = pytest.importorskip("distributed", reason="dask is not installed: pip install 'egglift[cluster]'")


def text(op: str) -> str:
    return dumps(Map(Apply(op, (Arg(F32),)), Input("x", Array(100, F32))))


def test_the_last_candidate_that_may_run_is_never_dropped() -> None:
    device = open_device("pocl")
    found = search(text("neg"), load_profile(device), device.limits)
    known = optimize(loads(text("neg")), device, measure="none", candidates=len(found), cache=False).candidates
    assert [c.estimate for c in found] == sorted(c.estimate for c in known)
    assert "naive" in {c.structure for c in found}


def test_a_cluster_finds_the_same_and_a_batch_measures_here(tmp_path: Path) -> None:
    device = open_device("pocl")
    profile = load_profile(device)
    files = [str(tmp_path / f"{op}.egglift") for op in ("neg", "abs")]
    for file, op in zip(files, ("neg", "abs")):
        Path(file).write_text(text(op))
    with workers("local", 1) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        found, wrong = ahead(pool, [text("neg"), "(nonsense)"], profile, device.limits)
        address = distributed.default_client().cluster.scheduler_address
        summary = run_batch(files, "pocl", tmp_path / "out", measurements=1, cluster=address)
    here = search(text("neg"), profile, device.limits)
    assert [c.plan.source for c in found] == [c.plan.source for c in here]
    assert isinstance(wrong, str) and "nonsense" in wrong
    assert (summary.done, summary.failed) == (2, 0)
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [row["name"] for row in rows] == files
    assert all(row["chosen"]["measured"] > 0 for row in rows)


def test_an_address_that_is_none_is_explained() -> None:
    with pytest.raises(ClusterError, match="no dask scheduler answers at nowhere: "), workers("nowhere"):
        pass
