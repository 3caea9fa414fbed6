"""Random programs hold what is said of them: text, meaning, everything that saturation equates, kernels.

These are the same on every run; `python -m tests.fuzz` checks as many more as there is time for.
"""

from __future__ import annotations

import random

import pytest

from egglift.codegen.device.device import open_device
from egglift.ir import patterns as p
from egglift.ir.forms import SLOTS
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.traverse import bodies, children, subterms
from egglift.ir.types import SCALARS, leaves
from tests.deep import sampled
from tests.fuzz.case import Case
from tests.fuzz.check import COMPILER, check
from tests.fuzz.generator import random_program
from tests.fuzz.style import style_of

CHUNK = 10
#: so many programs, and with `-m deep` so many
FEW, MANY = 30, 1000
#: of how many programs one has its kernels run, too
KERNELS = 6


def case_of(seed: int) -> Case:
    rng = random.Random(seed)
    style = style_of(rng)
    return Case(random_program(rng, style), style.name, seed)


@pytest.mark.parametrize("first", sampled(range(0, MANY, CHUNK), lambda first: first < FEW))
def test_random_programs_hold_what_is_said_of_them(first: int) -> None:
    for seed in range(first, first + CHUNK):
        case = case_of(seed)
        failure = check(case, None if seed % KERNELS else open_device(None))
        assert failure is None or failure.stage == COMPILER, f"seed {seed}: {failure}"


def test_a_wrong_law_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of another meaning among those that saturation gives fails in that stage, and only there."""
    case, other = case_of(3), loads("(input other f32)")
    assert check(case, None) is None
    monkeypatch.setattr("tests.fuzz.check.drawn", lambda graph, rng, depth: other)
    failure = check(case_of(3), None)
    assert failure is not None and failure.stage == "equals"


@pytest.mark.deep
def test_programs_are_of_all_patterns_types_and_lengths() -> None:
    programs = [case_of(seed).program for seed in range(700)]
    parts = [list(subterms(e)) for e in programs]
    found = {type(t) for part in parts for t in part}
    assert {c.__name__ for c in SLOTS.keys() - found} == {
        "Tree",
        "To",
        "ScanSeq",
        "ScanDoubling",
        "ScanLinked",
    }  # low-level
    assert {t.op for part in parts for t in part if isinstance(t, p.Apply)} == FUNCTIONS.keys()
    given = [leaf for part in parts for t in part if isinstance(t, p.Input) for leaf in leaves(t.type)]
    assert {str(s) for _, s in given} == SCALARS.keys()
    lengths = {n for shape, _ in given for n in shape}
    assert {0, 1, 2, 3, 5, 7, 16, 17, 31, 127, 251, 300} <= lengths
    assert max(map(nesting, programs)) >= 4


def nesting(e: Expr) -> int:
    """How deep bodies nest."""
    depth: dict[Expr, int] = {}
    for t in subterms(e):
        depth[t] = max((*(1 + depth[b] for b in bodies(t)), *(depth[c] for c in children(t))), default=0)
    return depth[e]
