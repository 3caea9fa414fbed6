"""Interrupts that fall where Python ignores exceptions are delivered all the same."""

from __future__ import annotations

import sys
import time

import pytest

from egglift.processes.interrupts import delivered


class Interrupted:
    """Something whose destructor Ctrl-C falls into; or another exception."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


def test_an_interrupt_in_a_destructor_comes_a_moment_later() -> None:
    with delivered(), pytest.raises(KeyboardInterrupt):
        Interrupted(KeyboardInterrupt)
        time.sleep(10)


def test_other_exceptions_there_are_reported_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: seen.append(dropped.exc_type))
    with delivered():
        Interrupted(ValueError)
    assert seen == [ValueError]
