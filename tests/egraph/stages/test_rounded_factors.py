"""Factors of products of f32 that are rounded to tf32 and written: which, how they lie, and what that means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.schedules.partitions import partitions
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.conversions import rounded
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import TF32
from tests.egraph.staged import exact_inputs, same, whole

ROUNDED = Partitioning(again=8, rounded=True)
B = el.array("B", el.f32, (20, 16))


def arr(name: str, *shape: int, t: Any = el.f32) -> Any:
    return el.array(name, t, shape)


def product() -> Any:
    return arr("A", 12, 20) @ B


def stages(program: Any) -> list[str]:
    """The stages of a program with rounded factors, which mean what it means where nothing is rounded."""
    e = as_program(program)
    found = stages_of(e, True, ROUNDED)
    assert same(e, whole(found), exact_inputs(e), 1e-4)
    return [text_of(s).split(" = ")[1] for s in found.stages]


@pytest.mark.parametrize(
    ("program", "written"),
    [
        (product, ["(cast tf32 A[0,1])", "(cast tf32 (transpose B)[0,1])"]),
        (lambda: arr("A", 12, 20) @ arr("B", 16, 20).T, ["(cast tf32 A[0,1])", "(cast tf32 B[0,1])"]),
        (lambda: arr("A", 20, 12).T @ B, ["(cast tf32 (transpose A)[0,1])", "(cast tf32 (transpose B)[0,1])"]),
        (
            lambda: el.maximum(arr("A", 12, 20), 0.0) @ B,
            ["(cast tf32 (maximum A[0,1] 0.0))", "(cast tf32 (transpose B)[0,1])"],
        ),
        (lambda: B.T @ B, ["(cast tf32 (transpose B)[0,1])"]),
    ],
)
def test_factors_are_written_with_steps_last(program: Callable[[], Any], written: list[str]) -> None:
    *found, product = stages(program())
    assert found == written
    other = len(written) - 1
    assert product.endswith(f"of (mul (cast f32 stage0[0,2]) (cast f32 stage{other}[1,2])))")


def test_factors_of_several_products_are_written_once() -> None:
    found = stages(product() + arr("A", 12, 20) @ arr("C", 20, 16))
    assert sum(text.startswith("(cast tf32") for text in found) == 3


def test_what_is_multiplied_again_is_written_rounded() -> None:
    """Between products there is no array of f32s, nor a stage that rounds it."""
    found = stages(el.maximum(product(), 0.0) @ arr("C", 16, 12))
    assert [text[:20] for text in found] == [
        "(cast tf32 A[0,1])",
        "(cast tf32 (transpos",
        "(cast tf32 (maximum ",
        "(cast tf32 (transpos",
        "(add for 2 < 16 of (",
    ]


@pytest.mark.parametrize(
    "program",
    [
        lambda: arr("A", 12, 20) @ arr("B", 20, 4),  # what is read four times is rounded as often
        lambda: arr("A", 12, 20) @ arr("v", 20),
        lambda: arr("A", 12, 20, t=el.f64) @ arr("B", 20, 16, t=el.f64),
        lambda: arr("A", 12, 20, t=el.f16) @ arr("B", 20, 16, t=el.f16),
        lambda: (arr("A", 12, 20)[:, None] * arr("B", 16, 20)).max(axis=2),
        lambda: (arr("A", 12, 20)[:, None] - arr("B", 16, 20)).sum(axis=2),
        lambda: el.slide(5, 1, arr("x", 100)) @ arr("B", 5, 16),  # windows overlap: a copy of each
    ],
)
def test_others_are_not_rounded(program: Callable[[], Any]) -> None:
    assert not any("tf32" in text for text in stages(program()))


def test_products_are_those_of_rounded_factors() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((12, 20), np.float32), rng.standard_normal((20, 16), np.float32)
    found = evaluate(whole(stages_of(as_program(product()), True, ROUNDED)), {"A": a, "B": b})
    exact = rounded(a, TF32).astype(np.float64) @ rounded(b, TF32).astype(np.float64)
    assert np.abs(found - exact).max() < 1e-5 < np.abs(found - a.astype(np.float64) @ b).max()


@pytest.mark.parametrize(
    ("kind", "reassociate", "tf32"), [("gpu", True, False), ("gpu", False, True), ("cpu", True, True)]
)
def test_nothing_is_rounded_unless_units_may(kind: str, reassociate: bool, tf32: bool) -> None:
    program = as_program(arr("A", 512, 512) @ arr("B", 512, 512))
    assert not any(steps.by.rounded for _, steps in partitions(program, kind, reassociate, tf32))
    assert any(steps.by.rounded for _, steps in partitions(program, "gpu", True, True))
