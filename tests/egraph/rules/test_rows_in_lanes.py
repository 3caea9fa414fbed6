"""Rows that are gone through in order, side by side: the lanes of a vector have a row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from egglift.options import Laws
from egglift.search import searched
from tests.harness import compute

CPU = presets()["pocl_cpu"]
Step = Callable[[Any, Any], Any]


def average(mean: Any, x: Any) -> Any:
    return 0.75 * mean + 0.25 * x


def gain(g: Any, x: Any) -> Any:
    """A gain that falls where the signal is loud: not linear in what is carried."""
    louder = g * (1.02 - 0.04 * abs(x * g))
    return el.clip(louder, 0.125, 4.0) if isinstance(g, el.Value) else np.clip(louder, 0.125, 4.0)


def in_numpy(step: Step, rows: Any, start: float) -> Any:
    carried, found = np.full(len(rows), start, np.float32), np.empty_like(rows)
    for i in range(rows.shape[1]):
        carried = np.asarray(step(carried, rows[:, i]), np.float32)
        found[:, i] = carried
    return found


def program(step: Step, count: int, length: int) -> Expr:
    rows = el.array("x", el.f32, (count, length))
    return el.as_program(rows.map(lambda row: el.accumulate(step, 1.0, row)))


def in_lanes(e: Expr, lanes: int) -> Expr:
    """The structure whose lanes have a row each."""
    graph = saturate(e).graph
    found = next(s for s in Extractor(graph, weights(CPU)).run() if "vV0(S(" in s.sign)
    return instantiate(found.term, {"V0": lanes})


@pytest.mark.parametrize("step", (average, gain))
@pytest.mark.parametrize(("count", "lanes"), ((64, 8), (67, 8), (70, 4), (65, 16)))
def test_lanes_go_through_rows_and_one_by_one_the_rest(step: Step, count: int, lanes: int) -> None:
    rows = np.random.default_rng(0).standard_normal((count, 13)).astype(np.float32)
    found = compute(in_lanes(program(step, count, 13), lanes), Launch(4, 64), x=rows)
    np.testing.assert_allclose(found.reshape(count, 13), in_numpy(step, rows, 1.0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("length", "most"), ((1000, 16), (1024, 4)))
def test_a_cpu_goes_through_many_rows_by_lanes(length: int, most: int) -> None:
    """Fewer where rows lie whole pages apart: those that are read and those that are written meet in the cache."""
    best = min(searched(program(gain, 4096, length), CPU, CPU.limits, Laws()), key=lambda c: c.estimate)
    assert best.structure == "GV0(vV0(S(c)))" and best.parameters["V0"] <= most


def test_what_is_computed_of_a_scan_goes_along() -> None:
    rows = el.array("x", el.f32, (64, 32))
    e = el.as_program(rows.map(lambda row: el.sqrt(el.accumulate(lambda m, v: 0.5 * m + v * v, 0.0, row))))
    assert any("vV0(S(c)" in s.sign for s in Extractor(saturate(e).graph, weights(CPU)).run())


def test_what_is_carried_may_be_several_numbers() -> None:
    rows = el.array("x", el.f32, (64, 32))
    e = rows.map(lambda row: el.accumulate(lambda s, v: (s[0] + v, s[1] * 0.5 + s[0]), (0.0, 1.0), row))
    assert any("vV0(S" in s.sign for s in Extractor(saturate(el.as_program(e)).graph, weights(CPU)).run())


def test_rows_that_are_only_read_have_no_such_lanes() -> None:
    e = el.as_program(el.array("x", el.f32, (64, 32)).map(lambda row: row.map(lambda v: v + 1)))
    assert not any("V0" in s.sign for s in Extractor(saturate(e).graph, weights(CPU)).run())
