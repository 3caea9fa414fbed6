"""Every program of the catalogue, optimised with measured candidates on PoCL, equals NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, Size, entries, size_text
from egglift.costmodel.measurement.expected_results import agree, flatten
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.types import leaves

#: lengths of programs that have one; those of several are tried at their first shapes
QUICK = (1, 2, 7, 4097)
SHAPES = 3
#: what a candidate's status may be; all others say that egglift made a kernel that does not work
HARMLESS = ("ok", "model", "skipped", "inaccurate")


def cases(quick: bool) -> Iterator[Any]:
    """A parameter for every program and size; the sizes left out of the quick ones take minutes."""
    for e in entries():
        for size in e.sizes:
            if (size[0] in QUICK if len(size) == 1 else size in e.sizes[:SHAPES]) == quick:
                yield pytest.param(e, size, id=f"{e.name}-{size_text(size)}")


def check(entry: Entry, size: Size, budget: float) -> None:
    program = entry.program(*size)
    # in this process more candidates fit into the budget
    kernel = el.optimize(program, "pocl", budget=budget, cache=False, isolate=False)
    failed = [
        f"{c.structure} {c.parameters}: {c.status}: {c.reason}" for c in kernel.candidates if c.status not in HARMLESS
    ]
    assert not failed, "\n".join(failed)
    assert kernel.chosen.status == "ok"
    inputs = entry.inputs(*size, np.random.default_rng(size))
    scalars = [scalar for _, scalar in leaves(type_of(as_program(program)))]
    expected, actual = flatten(entry.reference(**inputs)), flatten(kernel(**inputs))
    for want, got, scalar in zip(expected, actual, scalars, strict=True):
        assert got.shape == want.shape
        assert got.dtype == scalar.dtype
        assert agree(want, got, scalar) is None


@pytest.mark.parametrize(("entry", "size"), list(cases(quick=True)))
def test_a_program_equals_numpy_and_no_candidate_fails(entry: Entry, size: Size) -> None:
    check(entry, size, budget=0.4)


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "size"), list(cases(quick=False)))
def test_a_large_program_equals_numpy_and_no_candidate_fails(entry: Entry, size: Size) -> None:
    check(entry, size, budget=10.0)
