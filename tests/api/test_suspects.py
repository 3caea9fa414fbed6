"""A user's law that does not hold is named, with a counter-example, where candidates computed something else."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.options import Laws
from egglift.suspects import suspicion

pytestmark = pytest.mark.short

MINUS = """;;; minus
(rewrite (Op2 "add" x y) (Op2 "sub" x y))
"""
SOUND = """;;; swap
(rewrite (Op2 "add" x y) (Op2 "add" y x))
"""
x, y = el.array("x", el.f32, 64), el.array("y", el.f32, 64)
X, Y = np.arange(64, dtype=np.float32), np.ones(64, np.float32)


def candidate(status: str) -> Candidate:
    e = el.as_program(x + y)
    return Candidate("s", e, {}, Launch(), DeviceLimits(), 1.0, status=status, reason="element 3 is 7, not 8")


def test_optimize_names_the_law_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="law minus in `rules` does not hold, and .* candidate") as seen:
            k = el.optimize(x + y, "pocl", rules=[SOUND, MINUS], isolate=False, measurements=2)
        (mine,) = [w for w in seen if "minus" in str(w.message)]
        assert mine.filename == __file__
        np.testing.assert_array_equal(k(X, Y), X + Y)


def test_the_counter_example_runs_and_shows_the_difference(capsys: pytest.CaptureFixture[str]) -> None:
    text = suspicion([candidate("wrong")], Laws(rules=(SOUND, MINUS)))
    assert text is not None and "This shows what is wrong with minus:" in text and "swap" not in text
    exec(text.partition("minus:\n")[2], {})
    left, right = capsys.readouterr().out.split("\n", 1)
    assert left.strip() != right.strip()


def test_laws_that_pass_their_tests_are_suspected_together() -> None:
    text = suspicion([candidate("wrong"), candidate("wrong")], Laws(rules=(SOUND,)))
    assert text is not None
    assert text.startswith(
        "2 candidates computed something else than the program, and the laws in `rules` are suspected"
    )
    assert "element 3 is 7, not 8" in text and "check-rules" in text


def test_nobody_is_suspected_without_reason() -> None:
    assert suspicion([candidate("ok"), candidate("build"), candidate("model")], Laws(rules=(MINUS,))) is None
    assert suspicion([candidate("wrong")], Laws()) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k = el.optimize(x + y, "pocl", rules=[SOUND], isolate=False, measurements=2, cache=False)
    np.testing.assert_array_equal(k(X, Y), X + Y)
