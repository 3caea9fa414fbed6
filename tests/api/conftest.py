"""What tests of the interface share."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from egglift.processes.executors import workers


@pytest.fixture
def searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch searches in a thread of this process: one of its own takes a second to start."""

    @contextmanager
    def here(cluster: str | None, jobs: int) -> Iterator[Executor]:
        with workers(cluster, jobs) if cluster else ThreadPoolExecutor(jobs) as pool:
            yield pool

    monkeypatch.setattr("egglift.batch.workers", here)
