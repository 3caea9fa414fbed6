"""Random programs hold what is said of them: text, meaning, everything that saturation equates, kernels.

These are the same on every run; `python -m tests.fuzz` checks as many more as there is time for.
"""

from __future__ import annotations

import random

import pytest

from egglift.codegen.runtime import open_device
from tests.fuzz.check import COMPILER, Case, check
from tests.fuzz.generator import random_program, style_of

CHUNK = 25
#: of how many programs one has its kernels run, too
KERNELS = 6


def case_of(seed: int) -> Case:
    rng = random.Random(seed)
    style = style_of(rng)
    return Case(random_program(rng, style), style.name, seed)


@pytest.mark.parametrize("first", range(0, 12 * CHUNK, CHUNK))
def test_random_programs_hold_what_is_said_of_them(first: int) -> None:
    for seed in range(first, first + CHUNK):
        case = case_of(seed)
        failure = check(case, None if seed % KERNELS else open_device(None))
        assert failure is None or failure.stage == COMPILER, f"seed {seed}: {failure}"


def test_wrong_kernels_and_wrong_laws_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of another meaning in the place of the right one fails in the stage that it belongs to."""
    case, other = case_of(0), case_of(1)
    assert check(case, None) is None
    monkeypatch.setattr("tests.fuzz.check.drawn", lambda graph, rng, depth: other.program)
    assert check(case, None) is not None
    monkeypatch.setattr("tests.fuzz.check.compile_term", None)
