"""What all tests share: results of earlier runs, and of the user, are not theirs."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings

from egglift.codegen import passes
from tests.gates import Gate
from tests.verified import verified_passes

#: the same examples on every run; `--hypothesis-profile=fresh` draws new ones
settings.register_profile("steady", derandomize=True)
settings.register_profile("fresh")
settings.load_profile("steady")


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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes the kernels under tests/golden anew; look at the difference before committing it."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the kernels under tests/golden")
