"""Results that are components of what one kernel yields, each in its own order."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.terms.components import component_of
from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from tests.codegen.low import fmap, lit, op, total, vector
from tests.fuzz.guarded import run_all

ROWS = vector("rows", 6, 8)


def kernel() -> p.To:
    """Of each pair of columns, by a group: its elements, and their sum."""

    def pair(x: Expr) -> Expr:
        return p.Tup(
            (fmap(lambda row: fmap(lambda v: op("add", v, lit(1.0)), row, "seq"), x, "local"), total(p.Join(x)))
        )

    return p.To("global", fmap(pair, fmap(p.Transpose, p.Split(2, p.Transpose(ROWS))), "workgroup"))


def component(i: int) -> Expr:
    return fmap(lambda e: p.Get(i, e), kernel())


def in_order() -> Expr:
    """The elements, in the order of the matrix, without its last column."""
    columns = p.Join(fmap(p.Transpose, component(0)))
    return p.Transpose(p.Take(7, columns))


def test_a_component_may_be_laid_out() -> None:
    plain, laid = component_of(component(1)), component_of(in_order())
    assert plain is not None and plain.is_plain and plain.index == 1
    assert laid is not None and not laid.is_plain and laid.index == 0 and laid.array == kernel()


@pytest.mark.parametrize(
    "x", [ROWS, kernel(), fmap(lambda e: op("mul", p.Get(1, e), lit(2.0)), kernel()), p.Slide(2, 1, component(1))]
)
def test_what_is_computed_of_a_component_is_none(x: Expr) -> None:
    assert component_of(x) is None


def test_one_kernel_writes_results_in_their_own_order() -> None:
    device, inputs = open_device("pocl"), np.arange(48, dtype="f4").reshape(6, 8)
    term = p.Tup((in_order(), component(1)))
    plan = compile_term(term, limits=device.limits)
    assert len(plan.kernels) == 1
    expected = evaluate(term, {"rows": inputs})
    ((first, second),) = run_all(device, [plan], {"rows": [inputs]})
    np.testing.assert_array_equal(first.reshape(6, 7), expected[0])
    np.testing.assert_array_equal(second, expected[1])


def test_what_others_read_as_well_stays_as_it_is() -> None:
    device, inputs = open_device("pocl"), np.arange(48, dtype="f4").reshape(6, 8)
    again = fmap(lambda x: total(p.Join(x)), component(0), "global")
    term = p.Tup((in_order(), again))
    plan = compile_term(term, limits=device.limits)
    expected = evaluate(term, {"rows": inputs})
    ((first, second),) = run_all(device, [plan], {"rows": [inputs]})
    np.testing.assert_array_equal(first.reshape(6, 7), expected[0])
    np.testing.assert_array_equal(second, expected[1])
