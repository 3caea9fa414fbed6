"""What tests of the interface share."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

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


@pytest.fixture
def saturations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that were saturated: a call that uses a record saturates none."""
    module: Any = import_module("egglift.search")
    seen: list[Any] = []
    whole = module.saturate

    def counted(program: Any, **options: Any) -> Any:
        seen.append(program)
        return whole(program, **options)

    monkeypatch.setattr(module, "saturate", counted)
    return seen
