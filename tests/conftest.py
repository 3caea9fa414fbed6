"""What all tests share: results of earlier runs, and of the user, are not theirs, nor is how busy the machine is."""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from egglift.codegen import passes
from egglift.costmodel.measurement import measure, worker_pool
from egglift.costmodel.measurement.worker_pool import Worker
from egglift.costmodel.measurement.worker_process import Build, Measure
from egglift.egraph.schedules.known import KNOWN
from egglift.processes import child, executors
from egglift.search import Searched
from tests.gates import Gate
from tests.long_tail import mark_long_tail
from tests.short_search import shorten
from tests.unhurried import unhurry
from tests.verified import verified_passes

if sys.dont_write_bytecode:  # hundreds of processes that tests start would compile all modules anew: 0.5 s for each
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

#: the same examples on every run; `--hypothesis-profile=fresh` draws new ones
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # no clock decides a test
settings.register_profile("steady", derandomize=True, **UNTIMED)
settings.register_profile("fresh", **UNTIMED)
settings.load_profile("steady")


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that take long are for `make test-deep`."""
    mark_long_tail(items)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Processes that share the tests out ignore Ctrl-C, and so would those that a test begins and interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Records and device profiles go to a folder of this run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGGLIFT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("EGGLIFT_DEVICE", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def verified_kernels() -> Iterator[None]:
    """Every kernel that is generated in this process is verified after emission and after every pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "STATEMENT_PASSES", verified_passes())
        yield


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """What searches find is not up to a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        unhurry(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def short_searches(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In modules marked `short` searches look at little, and their records are no other test's.

    With deep tests (`-m "deep or short"`) they search as users do.
    """
    if not request.node.get_closest_marker("short") or "not deep" not in request.config.option.markexpr:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGGLIFT_CACHE", str(tmp_path_factory.mktemp("short")))
        shorten(patch)
        yield
    KNOWN.clear()


@pytest.fixture(scope="module")
def few_objects() -> None:
    """What was made before stays to the end: a module that collects garbage again and again looks through its own.

    Looking through all that thousands of tests have left takes a second each time.
    """
    gc.freeze()


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that were searched: a call that uses a record searches none."""
    seen: list[Any] = []
    whole = Searched.by_all_ways

    def counted(search: Searched, *enough: float) -> None:
        seen.append(search.program)
        whole(search, *enough)

    monkeypatch.setattr(Searched, "by_all_ways", counted)
    return seen


@pytest.fixture
def gates() -> Iterator[Callable[[Any], Gate]]:
    """Makes gates in a context of OpenCL; those that a test leaves shut are opened at its end."""
    made: list[Gate] = []

    def make(context: Any) -> Gate:
        made.append(Gate(context))
        return made[-1]

    yield make
    for gate in made:
        gate.open()


@pytest.fixture(scope="session", autouse=True)
def patient(request: pytest.FixtureRequest) -> Iterator[None]:
    """Of candidates, only what never ends (`while (on)`) meets its deadline: the others may take as long as they do.

    So may a race that was given no budget, processes that start or end, and a scheduler that is asked for.
    """
    whole, wild = Worker.ask, request.config.getoption("--wild-times")

    def ask(self: Worker, order: Any, seconds: float | None) -> Any:
        if isinstance(order, Measure | Build) and "while (on)" not in order.plan.source:
            order, seconds = replace(order, deadline=3600.0), None
        answer = whole(self, order, seconds)
        if wild and answer is not None and (timing := answer.timing):
            return replace(answer, timing=replace(timing, seconds=timing.seconds * 16 ** random.uniform(-1, 1)))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "ask", ask)
        patch.setattr(measure, "USUAL", 3600.0)
        patch.setattr(worker_pool, "START", 3600.0)
        patch.setattr(child, "LINGER", 3600.0)
        patch.setattr(executors, "PATIENCE", 3600.0)
        yield


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: they are not looked through again and again for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)  # young objects often: they are in the processor's cache still


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes the kernels under tests/golden anew; look at the difference before committing it.

    `--wild-times` shows tests that a clock decides: of measured candidates, the fastest is anyone.
    """
    parser.addoption("--update-golden", action="store_true", help="rewrite the kernels under tests/golden")
    parser.addoption("--wild-times", action="store_true", help="measured times are up to 16 times too long or short")
