"""Products of several factors are added in the order that takes the fewest steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import texts
from tests.egraph.stages.programs import arr

pytestmark = pytest.mark.short

A, B, C, x = arr("A", 30, 40), arr("B", 40, 50), arr("C", 50, 60), arr("x", 50)

CHAINS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "matrices times a vector": (
        lambda: (A @ B) @ x,
        ["stage0[0 < 40] = (add for 1 < 50 of", "stage1[0 < 30] = (add for 1 < 40 of (mul A[0,1] stage0[1]))"],
    ),
    "with a number between": (
        lambda: ((A @ B) * 2.0) @ x,
        [
            "stage0[0 < 40] = (add for 1 < 50 of",
            "stage1[0 < 30] = (mul 2.0 (add for 1 < 40 of (mul A[0,1] stage0[1])))",
        ],
    ),
    "the total of a product": (
        lambda: (A @ B).sum(),
        ["stage0[0 < 40] = (add for 1 < 30 of", "stage1[0 < 40] = (add for 1 < 50 of", "stage2[] = (add for 0 < 40 of"],
    ),
    "rows of a product of three, added": (
        lambda: (A @ B @ C).sum(axis=1),
        [
            "stage0[0 < 50] = (add for 1 < 60 of",
            "stage1[0 < 40] = (add for 1 < 50 of",
            "stage2[0 < 30] = (add for 1 < 40 of",
        ],
    ),
    "what is narrow in the middle": (
        lambda: (arr("U", 60, 3) @ arr("V", 3, 60)) @ arr("W", 60, 4),
        ["stage0[0 < 3, 1 < 4] = (add for 2 < 60 of", "stage1[0 < 60, 1 < 4] = (add for 2 < 3 of"],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_products_take_the_fewest_steps(name: str) -> None:
    program, expected = CHAINS[name]
    found = texts(program())
    assert len(found) == len(expected) and all(map(str.startswith, found, expected)), found


@pytest.mark.parametrize(
    "program",
    [
        lambda: A @ (B @ x),  # as good as it is
        lambda: A.T @ (A @ arr("y", 40)),
        lambda: (A @ B) @ C,  # all orders are much the same
        lambda: np.maximum(A @ B, 0.0) @ x,  # no product of sums
    ],
)
def test_other_products_stay_as_they_are_written(program: Callable[[], Any]) -> None:
    e = as_program(program())
    assert len(texts(e)) == len(stages_of(e, reassociate=False).stages) == 2


def test_sums_stay_where_additions_keep_their_order() -> None:
    first, _ = stages_of(as_program((A @ B) @ x), reassociate=False).stages
    assert [d.extent for d in first.dims] == [30, 50]


def test_a_kernel_of_a_chain_is_right() -> None:
    kernel = el.optimize((A @ B) @ x, "pocl", measure="none", cache=False)
    rng = np.random.default_rng(1)
    a, b, v = (rng.standard_normal(s).astype(np.float32) for s in ((30, 40), (40, 50), 50))
    np.testing.assert_allclose(kernel(a, b, v), a @ b @ v, rtol=1e-4, atol=1e-4)
