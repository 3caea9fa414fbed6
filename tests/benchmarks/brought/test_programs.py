"""Programs that users bring: each means what its NumPy says, and so does what is found for some of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest

import egglift as el
from benchmarks.brought.program import Brought
from benchmarks.brought.programs import PROGRAMS, chosen
from benchmarks.demo import difference

pytestmark = pytest.mark.short

#: of different fields and quickly searched
RUN = ("outer_update", "maxima_of_columns", "mask_mean", "max_pool", "hausdorff")


@pytest.mark.parametrize("b", PROGRAMS, ids=lambda b: b.name)
def test_a_program_means_what_its_numpy_says(b: Brought) -> None:
    program, inputs = b.program(*b.sizes.small), b.inputs("small")
    assert difference(program, b.numpy(**inputs), el.interpret(program, **inputs)) is None


@pytest.mark.parametrize("name", RUN)
def test_a_program_runs_as_its_numpy_says(name: str) -> None:
    (b,) = chosen([name])
    program, inputs = b.program(*b.sizes.small), b.inputs("small")
    kernel = el.optimize(program, "pocl", measure="none")
    assert difference(program, b.numpy(**inputs), kernel(**inputs)) is None


@pytest.mark.parametrize("b", [b for b in PROGRAMS if b.torch], ids=lambda b: b.name)
def test_torch_takes_what_the_program_takes(b: Brought) -> None:
    assert b.torch is not None
    assert set(signature(b.torch).parameters) == {"torch", *b.inputs("small")}


@pytest.mark.parametrize("b", PROGRAMS, ids=lambda b: b.name)
def test_torch_means_what_numpy_says(b: Brought) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed")
    inputs = b.inputs("small")
    found = b.in_torch(torch, **{name: torch.from_numpy(value) for name, value in inputs.items()})
    found = tuple(part.numpy() for part in found) if isinstance(found, tuple) else found.numpy()
    assert difference(b.program(*b.sizes.small), b.numpy(**inputs), found) is None


def test_names_differ_and_sizes_grow() -> None:
    assert len({b.name for b in PROGRAMS}) == len(PROGRAMS)
    for b in PROGRAMS:
        assert len({len(size) for size in b.sizes}) == 1, b.name
        assert b.sizes.small < b.sizes.cpu <= b.sizes.gpu, b.name
