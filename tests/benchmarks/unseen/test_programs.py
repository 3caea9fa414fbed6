"""Programs that were written unseen: each means what its NumPy function says."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.unseen.program import Unseen
from benchmarks.unseen.programs import PROGRAMS, chosen


@pytest.mark.parametrize("u", PROGRAMS, ids=lambda u: u.name)
def test_a_program_means_what_its_numpy_says(u: Unseen) -> None:
    program, inputs = u.program(*u.small), u.inputs("small")
    assert u.difference(program, u.numpy(**inputs), el.interpret(program, **inputs)) is None


@pytest.mark.parametrize("u", PROGRAMS, ids=lambda u: u.name)
def test_torch_takes_what_numpy_takes(u: Unseen) -> None:
    assert [*signature(u.torch).parameters] == ["torch", *signature(u.numpy).parameters][: 1 + len(u.inputs("small"))]


@pytest.mark.parametrize("u", PROGRAMS, ids=lambda u: u.name)
def test_torch_means_what_numpy_says(u: Unseen) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed")
    inputs = u.inputs("small")
    tensors = {name: torch.from_numpy(value) if value.shape else value.item() for name, value in inputs.items()}
    found = u.in_torch(torch, **tensors)
    found = tuple(part.numpy() for part in found) if isinstance(found, tuple) else found.numpy()
    assert u.difference(None, u.numpy(**inputs), found) is None


def test_names_differ_and_sizes_grow() -> None:
    assert len({u.name for u in PROGRAMS}) == len(PROGRAMS) == 149
    for u in PROGRAMS:
        assert len(u.small) == len(u.large) and np.prod(u.small) < np.prod(u.large), u.name


def test_sizes_go_by_scale() -> None:
    (u,) = chosen(["kronecker"])
    assert u.size("small") == u.size("cpu") == (4, 5) and u.size("gpu") == (128, 80)
    assert u.inputs("small")["b"].shape == (5, 5)


# ---------------------------------------------------------------------------------------- what is different


@pytest.fixture
def kronecker() -> Unseen:
    (u,) = chosen(["kronecker"])
    return replace(u, rtol=0.1, atol=0.01)


def test_floats_may_be_off_by_a_part_of_the_largest(kronecker: Unseen) -> None:
    want = np.array([0.0, 100.0, np.inf, np.nan])
    assert kronecker.difference(None, want, np.array([0.9, 109.0, np.inf, np.nan])) is None
    said = kronecker.difference(None, want, np.array([0.0, 100.0, np.inf, 0.0]))
    assert said == "result 0: 1 of 4 differ, first at (3,): 0.0 instead of nan"


def test_integers_are_the_same_whatever_their_type(kronecker: Unseen) -> None:
    want = np.array([1, 2]), np.array([100])
    assert kronecker.difference(None, want, (np.array([1, 2], "u1"), np.array([100], "i4"))) is None
    said = kronecker.difference(None, want, (np.array([1, 2]), np.array([101])))
    assert said == "result 1: 1 of 1 differ, first at (0,): 101 instead of 100"


def test_another_shape_is_a_difference(kronecker: Unseen) -> None:
    said = kronecker.difference(None, np.zeros(3), np.zeros((3, 1)))
    assert said == "result 0 has the shape (3, 1) instead of (3,)"
