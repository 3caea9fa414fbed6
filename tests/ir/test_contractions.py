"""Sums of products of several arrays are combined two by two."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.measurement.row_samples import operations
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program

pytestmark = pytest.mark.short

CASES = {
    "ijk,ip,jq,kr->pqr": ((5, 6, 7), (5, 2), (6, 3), (7, 4)),
    "ij,jk,kl->il": ((3, 4), (4, 5), (5, 6)),
    "i,i,i": ((4,), (4,), (4,)),
    "i,ij,j->": ((3,), (3, 4), (4,)),
    "ab,cd,ef->ace": ((2, 3), (2, 3), (2, 3)),
    "i,j,k->kij": ((2,), (3,), (4,)),
    "ii,ij,jk->k": ((3, 3), (3, 4), (4, 2)),
    "ab,bc,cd,de,ef,fg,gh->ah": ((2, 3), (3, 4), (4, 5), (5, 2), (2, 3), (3, 3), (3, 2)),
}


@pytest.mark.parametrize("subscripts", CASES)
def test_einsum_of_several_arrays_is_numpys(subscripts: str) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"x{i}": rng.integers(-3, 4, shape).astype("f4") for i, shape in enumerate(CASES[subscripts])}
    program = el.einsum(subscripts, *(el.array(name, el.f32, x.shape) for name, x in arrays.items()))
    want = np.einsum(subscripts, *arrays.values())
    got = np.asarray(evaluate(as_program(program), arrays))
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


DOTS = {
    "...ij,jk->...ik": ((2, 3, 4), (4, 5)),
    "...ij,jk": ((2, 3, 4), (4, 5)),
    "i...->...i": ((2, 3, 4),),
    "...i,...i->...": ((2, 3, 4), (3, 4)),
    "...,...->...": ((2, 3, 4), (1, 3, 4)),
    "i...,i->...": ((3,), (3,)),
    "...ii->...i": ((2, 3, 3),),
    "bii,bij->bij": ((2, 3, 3), (1, 3, 4)),
}


@pytest.mark.parametrize("subscripts", DOTS)
def test_dots_and_lengths_of_one_in_einsum_are_numpys(subscripts: str) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"x{i}": rng.integers(-3, 4, shape).astype("f4") for i, shape in enumerate(DOTS[subscripts])}
    program = np.einsum(subscripts, *(el.array(name, el.f32, x.shape) for name, x in arrays.items()))
    got, want = np.asarray(el.interpret(program, **arrays)), np.einsum(subscripts, *arrays.values())
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def test_axes_of_einsum_may_be_numbered() -> None:
    A, B = el.array("A", el.f32, (2, 3, 4)), el.array("B", el.f32, (4, 5))
    assert np.einsum(A, [0, 1, 2], B, [2, 3], [0, 1, 3]).expr is el.einsum("ijk,kl->ijl", A, B).expr
    assert el.einsum(A, [..., 2], B, [2, 3]).expr is el.einsum("...k,kl", A, B).expr


@pytest.mark.parametrize(
    ("subscripts", "message"),
    [
        (("...i->i",), "write ... in the result"),
        (("....i",), "one ... stands for axes"),
        (("ij,jk",), "of 1 arrays"),
        (("ijkl",), "names 4 axes of an array of 3"),
        (("ij",), "names 2 axes of an array of 3"),
        (("ijk->ii",), "result's letters must differ"),
    ],
)
def test_subscripts_that_do_not_fit_are_refused(subscripts: tuple[str], message: str) -> None:
    with pytest.raises(el.EggliftError, match=message):
        el.einsum(*subscripts, el.array("A", el.f32, (2, 3, 4)))


def test_lists_that_number_no_axes_are_refused() -> None:
    A = el.array("A", el.f32, (2, 3))
    for wrong in ((A,), (A, 3), (A, [0, 99]), (A, [0, "j"])):
        with pytest.raises(el.TypeMismatch, match="einsum"):
            el.einsum(*wrong)


def test_factors_are_summed_as_soon_as_they_can_be() -> None:
    X = el.array("X", el.f32, (64, 64, 64))
    A, B, C = (el.array(name, el.f32, (64, 8)) for name in "ABC")
    program = as_program(el.einsum("ijk,ip,jq,kr->pqr", X, A, B, C))
    assert operations(program) < 32 * 64**3 * 8  # at once: 64^3 * 8^3 products of four


def test_lengths_not_yet_known_are_those_that_they_are_like() -> None:
    n = el.size("n", like=1000)
    A, B, x = el.array("A", el.f32, (n, n)), el.array("B", el.f32, (n, n)), el.array("x", el.f32, n)
    products = el.einsum("ij,jk,k->i", A, B, x)
    kernel = el.optimize(products, "pocl", measure="none")
    rng = np.random.default_rng(0)
    a, b, v = (rng.integers(-3, 4, s).astype("f4") for s in ((5, 5), (5, 5), (5,)))
    np.testing.assert_array_equal(kernel(a, b, v), a @ (b @ v))
