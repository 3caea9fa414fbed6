"""The tiled matrix product is in the class of the plain one: blocked, k-split, staged, in registers, fetched ahead.

tiled_product.txt is that program as a GPU wants it, with its tile lengths as symbols: m0 x n0 blocks for work-groups,
chunks k0 of the sum in local memory (rows a0 and a1 longer), q0 x q1 chunks of c0 x c1 for each work-item.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.imperative import Launch
from egglift.egraph.graph.membership import find
from egglift.egraph.saturation.saturate import Saturated, saturate
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from tests.harness import compute

TILED = (Path(__file__).parent / "tiled_product.txt").read_text()
SIZES = {"m0": 16, "n0": 8, "k0": 6, "q0": 2, "c0": 2, "q1": 1, "c1": 4, "a0": 4, "a1": 1, "f0": 1}


def product(m: int, n: int, k: int) -> Expr:
    return as_program(el.array("A", el.f32, (m, k)) @ el.array("B", el.f32, (k, n)))


@pytest.fixture(scope="module")
def saturated() -> Saturated:
    return saturate(product(1024, 1024, 1024))


def test_the_plain_product_equals_the_tiled_one(saturated: Saturated) -> None:
    print(f"\n{saturated.rows} rows, {1e3 * saturated.seconds:.0f} ms, {saturated.stopped}")
    assert find(saturated.graph, loads(TILED)) == saturated.graph.root
    assert saturated.stopped == "fixpoint" and saturated.rows < 20_000


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(input A [[f32]1024]1024)", "(input B [[f32]1024]1024)"),  # B @ B
        ("0.0:f32", "1.0:f32"),  # one more in every element
        ("(mul (get 0 (get 1 arg)) (get 1 (get 1 arg)))", "(mul (get 1 (get 1 arg)) (get 1 (get 1 arg)))"),
        ("(drop ((1024/k0)*k0) arg)", "(take ((1024/k0)*k0) arg)"),  # the chunks again instead of the rest
    ],
)
def test_it_equals_no_other_program(saturated: Saturated, right: str, wrong: str) -> None:
    assert right in TILED
    assert find(saturated.graph, loads(TILED.replace(right, wrong))) != saturated.graph.root


@pytest.mark.parametrize("n", [40, 48, 61])
def test_it_multiplies_sides_that_its_tiles_divide_or_do_not(n: int) -> None:
    term = instantiate(loads(TILED.replace("1024", str(n))), SIZES)
    rng = np.random.default_rng(n)
    inputs = {name: rng.integers(-8, 9, (n, n)).astype(np.float32) for name in "AB"}
    expected = inputs["A"] @ inputs["B"]
    np.testing.assert_array_equal(evaluate(term, inputs), expected)
    found = compute(term, Launch(64), **inputs)
    np.testing.assert_array_equal(found.reshape(n, n), expected)
