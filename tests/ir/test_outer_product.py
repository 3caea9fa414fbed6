"""Which literal matrices are found to be outer products."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.outer_product import factors
from egglift.ir.patterns import Constant
from egglift.ir.types import I32, Array


def constant(matrix: object, dtype: str) -> Constant:
    e = as_expr(np.asarray(matrix, dtype))
    assert isinstance(e, Constant)
    return e


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "i8"])
def test_the_factors_of_an_outer_product_multiply_to_it(dtype: str) -> None:
    u, v = np.array([0, 1, 4, 6], dtype), np.array([2, 0, 6], dtype)
    found = factors(constant(np.outer(u, v), dtype))
    assert found is not None
    a, b = (np.asarray(evaluate(x, {})) for x in found)
    assert np.allclose(np.outer(a, b), np.outer(u, v)) and a.dtype == b.dtype == np.dtype(dtype)


def test_a_gaussian_is_found_although_it_is_rounded() -> None:
    bell = np.exp(-(np.arange(-8, 9) ** 2) / 32).astype(np.float32)
    assert factors(constant(np.outer(bell, bell), "f4")) is not None


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0], [0, 1]],
        [[1, 2, 1], [2, 4, 3]],
        [[0, 0], [0, 0]],
        [[1, 2], [0.5, 1 + 1e-4]],
        [[float("nan"), 1], [1, 1]],
        [[float("inf"), 1], [1, 1]],
        [[1, 2, 3]],
        [[1], [2]],
    ],
)
def test_what_is_none_has_no_factors(matrix: object) -> None:
    assert factors(constant(matrix, "f8")) is None


def test_large_integers_do_not_overflow() -> None:
    assert factors(constant([[2**62, 2**61], [2**61, 2**61]], "i8")) is None
    assert factors(constant([[2**62, 2**61], [2**61, 2**60]], "i8")) is not None


def separated(weights: object, reassociate: bool = True) -> bool:
    """Does saturation find a program with the weights of a pass along one dimension?"""
    e = as_expr(el.convolution2d(weights, "clamp", el.array("x", el.i32, (40, 50))))
    classes = saturate(e, reassociate=reassociate).graph.classes
    weights_of_a_pass = Array(3, I32)
    return any(n.op == "Constant" and n.data[1] == weights_of_a_pass for nodes in classes.values() for n in nodes)


def test_only_weights_that_are_an_outer_product_are_separated() -> None:
    bell = np.array([1, 2, 1], np.int32)
    assert separated(np.outer(bell, bell))
    assert not separated(np.outer(bell, bell) + np.eye(3, dtype=np.int32))


def test_without_reassociation_nothing_is_separated() -> None:
    bell = np.array([1, 2, 1], np.int32)
    assert not separated(np.outer(bell, bell), reassociate=False)
