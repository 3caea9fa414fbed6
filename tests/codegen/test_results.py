"""Several results: those that are stored are written by kernels of their own, each with work-groups of its own."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Plan
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from tests.codegen.low import fmap, lit, op, total, vector
from tests.harness import run

X = vector("x", 6, 32)
DATA = np.arange(6 * 32, dtype=np.float32).reshape(6, 32)


def stored(x: Expr) -> Expr:
    return p.To("global", x)


def results(plan: Plan) -> list[np.ndarray]:
    return run(plan, {"x": DATA})


def test_work_groups_of_one_result_are_not_those_of_another() -> None:
    """Together they would be of 32 times 8 work-items."""
    halves = fmap(lambda row: fmap(lambda v: op("mul", lit(0.5), v), row, "local", 1), X, "workgroup")
    wholes = fmap(lambda row: fmap(lambda v: op("add", lit(1.0), v), row, "local"), X, "workgroup")
    plan = compile_term(p.Tup((stored(halves), stored(wholes))), limits=DeviceLimits(group_size=64))
    assert sorted(k.local_size for k in plan.kernels) == [(1, 32), (32,)]
    first, second = results(plan)
    np.testing.assert_array_equal(first, DATA.reshape(-1) * 0.5)
    np.testing.assert_array_equal(second, DATA.reshape(-1) + 1)


@pytest.mark.parametrize("first", [True, False])
def test_a_result_that_another_reads_is_computed_once(first: bool) -> None:
    sums = stored(fmap(lambda row: total(row), X, "global"))
    doubled = stored(fmap(lambda v: op("add", v, v), sums, "global"))
    plan = compile_term(p.Tup((sums, doubled) if first else (doubled, sums)))
    assert len(plan.kernels) == 2
    assert not plan.temporaries
    a, b = results(plan)
    expected = DATA.sum(1)
    np.testing.assert_array_equal(a, expected if first else 2 * expected)
    np.testing.assert_array_equal(b, 2 * expected if first else expected)


def test_the_same_result_twice_is_copied() -> None:
    sums = stored(fmap(lambda row: total(row), X, "global"))
    a, b = results(compile_term(p.Tup((sums, sums))))
    np.testing.assert_array_equal(a, DATA.sum(1))
    np.testing.assert_array_equal(b, DATA.sum(1))


def test_results_of_one_loop_stay_in_one_kernel() -> None:
    halves = fmap(lambda v: op("mul", lit(0.5), v), p.Join(X), "global")
    wholes = fmap(lambda v: op("add", lit(1.0), v), p.Join(X), "global")
    assert len(compile_term(p.Tup((halves, wholes))).kernels) == 1


def test_components_of_a_stored_array_are_written_at_once() -> None:
    pairs = stored(fmap(lambda v: p.Tup((op("mul", lit(0.5), v), op("add", lit(1.0), v))), p.Join(X), "global"))
    parts = tuple(fmap(lambda pair, i=i: p.Get(i, pair), pairs) for i in (0, 1))  # type: ignore[misc]
    plan = compile_term(p.Tup(parts))
    assert len(plan.kernels) == 1 and not plan.temporaries
    halves, wholes = results(plan)
    np.testing.assert_array_equal(halves, DATA.reshape(-1) * 0.5)
    np.testing.assert_array_equal(wholes, DATA.reshape(-1) + 1)
    swapped = results(compile_term(p.Tup((parts[1], parts[0]))))
    np.testing.assert_array_equal(swapped[0], wholes)


@pytest.mark.parametrize("others", ["before", "between", "twice", "one"])
def test_components_beside_other_results_are_written_at_once(others: str) -> None:
    pairs = stored(fmap(lambda v: p.Tup((op("mul", lit(0.5), v), op("add", lit(1.0), v))), p.Join(X), "global"))
    half, whole = (fmap(lambda pair, i=i: p.Get(i, pair), pairs, "global") for i in (0, 1))  # type: ignore[misc]
    sums = stored(fmap(lambda row: total(row), X, "global"))
    wanted = {
        "before": (sums, half, whole),
        "between": (whole, sums, half),
        "twice": (half, whole, half, sums),
        "one": (half, sums),
    }[others]
    plan = compile_term(p.Tup(wanted))
    assert len(plan.kernels) == (3 if others == "twice" else 2)
    assert len(plan.temporaries) == (1 if others == "one" else 0)
    expected = {id(half): DATA.reshape(-1) * 0.5, id(whole): DATA.reshape(-1) + 1, id(sums): DATA.sum(1)}
    for found, x in zip(results(plan), wanted, strict=True):
        np.testing.assert_array_equal(found, expected[id(x)])
