"""Tiles that asynchronous copies bring, some steps ahead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.ir.errors import CodegenError
from egglift.ir.parser import loads
from egglift.ir.text import dumps
from tests.codegen.emission.test_tiles import GPU, TILE, kernel, matrix
from tests.codegen.emulated_fragments import emulated
from tests.codegen.kernel.test_barriers import without_barriers
from tests.codegen.low_tiles import Tile, product
from tests.deep import sampled
from tests.harness import run
from tests.oclgrind import LIMITS, examine

COPYING = replace(GPU, asynchronous_copies=True)


#: how many buffers there are, and steps
AHEAD = ((2, 1), (2, 5), (3, 1), (3, 2), (3, 5), (4, 5))


@pytest.mark.parametrize("ahead", sampled(AHEAD, lambda ahead: ahead in ((2, 1), (3, 5))), ids=str)
def test_products_are_computed_from_tiles_that_are_copied_ahead(ahead: tuple[int, int]) -> None:
    buffers, steps = ahead
    k = TILE.k * steps
    a, b = matrix(32, k), matrix(k, 64, 1)
    plan = compile_term(product(32, 64, k, replace(TILE, buffers=buffers)), limits=COPYING)
    (result,) = run(emulated(plan), {"A": a, "B": b})
    np.testing.assert_allclose(result.reshape(32, 64), a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_each_step_awaits_its_own_copies_and_one_barrier() -> None:
    for buffers in (2, 3, 4):
        found = kernel(product(32, 32, 80, replace(TILE, buffers=buffers)), COPYING)
        assert found.source.count("barrier(") == 1
        assert found.source.count(f"  await_copies_{buffers - 2}();") == 1
        assert found.local_bytes == buffers * 2 * 8 * 32 * 4
        assert "// prefetch" not in found.source and "float r" not in found.source.split("// mapLocal")[0]


def test_the_barrier_between_copies_and_steps_is_needed() -> None:
    limits = replace(LIMITS, asynchronous_copies=True)
    plan = emulated(compile_term(product(16, 16, 12, Tile(16, 16, 4, 4, 4, buffers=3)), limits=limits))
    inputs = {"A": [matrix(16, 12).reshape(-1)], "B": [matrix(12, 16).reshape(-1)]}
    whole, broken = examine([(plan, inputs), (without_barriers(plan), inputs)])
    assert whole.clean
    assert any("race" in message for message in broken.messages)


def test_buffers_of_three_are_counted_and_others_divided() -> None:
    counted, divided = (kernel(product(32, 32, 80, replace(TILE, buffers=n)), COPYING).source for n in (3, 4))
    assert " % 3)" not in counted and "_2 < 2 ? " in counted
    assert " % 4)" in divided and " < 3 ? " not in divided


def test_a_device_that_copies_nothing_asynchronously_is_named() -> None:
    with pytest.raises(CodegenError, match="this device copies nothing asynchronously; choose a prefetch, no buffers"):
        kernel(product(32, 32, 32, replace(TILE, buffers=3)))


def test_buffers_and_rotated_rows_are_kept_as_text() -> None:
    text = dumps(product(32, 32, 32, replace(TILE, buffers=3)))
    assert "(reduceSeqBuffers 3" in text and dumps(loads(text)) == text
    rotated = "(toLocalSwizzled 2 (input A [[f32]32]16))"
    assert dumps(loads(rotated)).strip() == rotated
