"""How far `optimize` has come: a line on a terminal, lines on request, and the log."""

from __future__ import annotations

import io
import logging
import time

import pytest

import egglift as el
from egglift.ir.progress import tell, tick
from egglift.progress_bar import EVERY, shown


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_line_that_goes_on_in_silence() -> None:
    out = Terminal()
    with shown(None, out):
        tell("saturation", "tile", rows=1200)
        for _ in range(1000):  # a busy machine may take its time
            if out.getvalue().count("saturation: tile, rows 1200") > 1:
                break
            time.sleep(EVERY)
    assert out.getvalue().count("\r") > 2 and out.getvalue().count("saturation: tile, rows 1200") > 1
    assert out.getvalue().endswith("\r\x1b[K")  # nothing is left of it


def test_a_file_is_told_only_on_request() -> None:
    quiet, lines = io.StringIO(), io.StringIO()
    with shown(None, quiet):
        tell("search", candidates=3)
    with shown(True, lines):
        tell("search", candidates=3)
    with shown(False, terminal := Terminal()):
        tell("search", candidates=3)
    assert (quiet.getvalue(), terminal.getvalue()) == ("", "")
    assert lines.getvalue().endswith("search: candidates 3\n")


def test_small_steps_are_logged_for_debugging_only(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        tell("sizes", structures=2)
        tick("sizes", structure=1)
    assert [(r.name, r.getMessage()) for r in caplog.records] == [("egglift.sizes", "structures 2")]


def test_the_log_of_a_call_is_short_and_says_every_stage(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        el.optimize(el.array("x", el.f32, 1000).reduce(el.add, 0.0), "pocl", cache=False, measurements=2)
    assert {r.name.partition(".")[0] for r in caplog.records} == {"egglift"}
    assert {"egglift.saturation", "egglift.search", "egglift.measuring"} <= {r.name for r in caplog.records}
    assert len(caplog.records) < 50
