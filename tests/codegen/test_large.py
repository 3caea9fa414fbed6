"""Programs that are deep or share much compile in time and text that grow with their number of nodes."""

from __future__ import annotations

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from tests.codegen.low import fmap, lit, op, vector
from tests.harness import compute

ONES = np.ones(64, "f4")
x = vector("x", 64)


def squared(e: Expr, times: int) -> Expr:
    """e to the power 2^times: exponentially large as a tree."""
    for _ in range(times):
        e = op("mul", e, e)
    return e


def test_shared_scalars_are_computed_once() -> None:
    source = compile_term(fmap(lambda e: squared(e, 60), x, "global")).source
    assert source.count("*") < 200
    assert np.array_equal(compute(fmap(lambda e: squared(e, 60), x, "global"), x=ONES), ONES)


def test_shared_scalars_that_may_not_exist_are_computed_once() -> None:
    term = p.Pad(1, 1, "constant", fmap(lambda e: squared(e, 60), x), lit(2.0))
    assert compile_term(term).source.count("*") < 200
    assert np.array_equal(compute(term, x=ONES), [2, *ONES, 2])


def test_thousands_of_operations_in_a_row() -> None:
    def chain(e: Expr) -> Expr:
        for _ in range(4000):
            e = op("add", e, lit(1.0))
        return e

    assert np.array_equal(compute(fmap(chain, x, "global"), x=ONES), 4001 * ONES)


def test_hundreds_of_maps_become_one_loop() -> None:
    y: Expr = x
    for _ in range(300):
        y = fmap(lambda e: op("add", e, lit(1.0)), y)
    assert len(compile_term(y).kernels) == 1
    assert np.array_equal(compute(y, x=ONES), 301 * ONES)


def test_arrays_used_twice_are_read_once() -> None:
    y: Expr = x
    for _ in range(25):
        y = fmap(lambda e: op("add", p.Get(0, e), p.Get(1, e)), p.Zip((y, y)))
    assert len(compile_term(y).source) < 2000
    assert np.array_equal(compute(y, x=ONES), 2.0**25 * ONES)
