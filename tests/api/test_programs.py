"""Every program of the catalogue, optimised with measured candidates on PoCL, equals NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.costmodel.check import agree, flatten
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.types import leaves

QUICK = (1, 2, 7, 1000, 4097)
#: what a candidate's status may be; all others say that egglift made a kernel that does not work
HARMLESS = ("ok", "model", "skipped", "inaccurate")


def cases(quick: bool) -> Iterator[Any]:
    """A parameter for every program and length; the lengths left out of the quick ones take minutes."""
    for e in entries():
        for n in e.lengths:
            if (n in QUICK) == quick:
                yield pytest.param(e, n, id=f"{e.name}-{n}")


def check(entry: Entry, n: int, budget: float) -> None:
    program = entry.program(n)
    kernel = el.optimize(program, "pocl", budget=budget, cache=False)
    failed = [f"{c.structure} {c.parameters}: {c.status}: {c.reason}" for c in kernel.candidates
              if c.status not in HARMLESS]  # fmt: skip
    assert not failed, "\n".join(failed)
    assert kernel.chosen.status == "ok"
    inputs = entry.inputs(n, np.random.default_rng(n))
    scalars = [scalar for _, scalar in leaves(type_of(as_program(program)))]
    expected, actual = flatten(entry.reference(**inputs)), flatten(kernel(**inputs))
    for want, got, scalar in zip(expected, actual, scalars, strict=True):
        assert got.shape == want.shape
        assert got.dtype == scalar.dtype
        assert agree(want, got, scalar) is None


@pytest.mark.parametrize(("entry", "n"), list(cases(quick=True)))
def test_a_program_equals_numpy_and_no_candidate_fails(entry: Entry, n: int) -> None:
    check(entry, n, budget=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "n"), list(cases(quick=False)))
def test_a_large_program_equals_numpy_and_no_candidate_fails(entry: Entry, n: int) -> None:
    check(entry, n, budget=10.0)
