"""Inputs may be called anything, what Python and egglift use themselves too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

X = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize("name", ["self", "wide", "args", "named", "program", "inputs", "values", "caller"])
def test_an_input_is_given_by_any_name(name: str) -> None:
    e = el.array(name, el.f32, 4) * 2.0
    k = el.optimize(e, "pocl", measure="none", cache=False)
    np.testing.assert_array_equal(el.interpret(e, **{name: X}), 2 * X)
    np.testing.assert_array_equal(k(**{name: X}), 2 * X)
    np.testing.assert_array_equal(k.bind(**{name: X})(), 2 * X)
    assert k.profile(**{name: X}).seconds >= 0


def test_wide_is_the_evaluators_word_where_no_input_has_it() -> None:
    e = el.array("x", el.f32, 4) * 2.0
    assert el.interpret(e, x=X, wide=True).dtype == np.float64
    assert el.interpret(e, x=X, wide=False).dtype == el.interpret(e, x=X).dtype == np.float32
    with pytest.raises(el.ArgumentError, match="missing: wide; the program takes wide"):
        el.interpret(el.array("wide", el.f32, 4) * 2.0)


def test_a_parameter_of_jit_may_have_any_name() -> None:
    @el.jit(device="pocl", measure="none")
    def f(self: Any, queue: Any, out: Any, wait_for: Any) -> Any:
        return self + queue * out - wait_for

    given = {"self": X, "queue": X, "out": X, "wait_for": X}
    np.testing.assert_array_equal(f(**given), X * X)
    np.testing.assert_array_equal(f(X, X, X, X), X * X)
    assert f.kernel(**given) is f.kernel(X, X, X, X)
    assert f.program(**given) is f.program(X, X, X, X)
