"""NumPy's names of the array API standard: each, by the interpreter and by a kernel, is NumPy's; its list is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.array_api import LEFT_OUT, OTHERWISE, STANDARD, report
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.refusals import ABSENT
from egglift.ir.types import scalar_of
from tests.ir.agreement import Call, agree
from tests.ir.test_numpy_names import ODD

RNG = np.random.default_rng(11)
LINE = RNG.normal(size=6).astype(np.float32)
GRID, OTHER = RNG.normal(size=(3, 4)).astype(np.float32), RNG.normal(size=(3, 4)).astype(np.float32)
CUBE = RNG.integers(-9, 9, (2, 3, 4))
HOLES = np.where(RNG.random((3, 4)) < 0.3, np.nan, GRID).astype(np.float32)
SQUARE = RNG.integers(-3, 4, (3, 3))
NEAR = np.concatenate([np.linspace(-1, 1, 21), [1e-9, -1e-9, 0.0, -0.0, 1.5, -2.0, np.nan]])
SIGNED = np.concatenate([ODD, [-0.0]])


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arctanh"])
@pytest.mark.parametrize("a", [NEAR, NEAR.astype("f4")], ids=["f8", "f4"])
def test_inverse_functions_are_those_of_numpy(name: str, a: Any) -> None:
    agree(lambda m, x: getattr(m, name)(x), a, exact=False)


@pytest.mark.parametrize("name", ["arctan", "arcsinh", "arccosh", "cbrt"])
@pytest.mark.parametrize("a", [SIGNED, SIGNED.astype("f4"), NEAR, NEAR + 2], ids=["f8", "f4", "near 0", "near 2"])
def test_functions_of_any_number_are_those_of_numpy(name: str, a: Any) -> None:
    agree(lambda m, x: getattr(m, name)(x), a, exact=False)


EXACT: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "signbit": (lambda m, x: m.signbit(x), (SIGNED[:-2],)),
    "copysign": (lambda m, x: m.copysign(x, x[::-1]), (SIGNED[:15],)),
    "fmod": (lambda m, x: m.fmod(x, x[::-1]), (SIGNED[:15],)),
    "fmod of integers": (lambda m, x: m.fmod(x, 4), (CUBE,)),
    "fmax": (lambda m, x: m.fmax(x, x[::-1]), (HOLES,)),
    "fmin": (lambda m, x: m.fmin(x, x[::-1]), (HOLES,)),
    "logical_xor": (lambda m, x: m.logical_xor(x, x[::-1]), (SQUARE,)),
    "heaviside": (lambda m, x: m.heaviside(x, 0.5), (SIGNED,)),
    "nan_to_num": (lambda m, x: m.nan_to_num(x, nan=2.0), (SIGNED,)),
    "isclose": (lambda m, x: m.isclose(x, x * (1 + 1e-6)), (SIGNED,)),
    "isclose of NaN": (lambda m, x: m.isclose(x, x, equal_nan=True), (SIGNED,)),
    "around": (lambda m, x: m.around(x, 1), (GRID.astype("f8"),)),
    "around to tens": (lambda m, x: m.around(x, -1), (GRID.astype("f8") * 100,)),
    "round": (lambda m, x: m.round(x), (SIGNED,)),
    "fix": (lambda m, x: m.fix(x), (SIGNED,)),
    "conj": (lambda m, x: m.conj(x), (GRID,)),
    "imag": (lambda m, x: m.imag(x) + x, (GRID,)),
    "reshape": (lambda m, x: m.reshape(x, (2, -1)), (GRID,)),
    "reshape to a vector": (lambda m, x: x.reshape(-1), (CUBE,)),
    "reshape to more axes": (lambda m, x: x.reshape(2, 2, 3), (GRID,)),
    "flip": (lambda m, x: m.flip(x), (CUBE,)),
    "flip along axes": (lambda m, x: m.flip(x, (0, 2)), (CUBE,)),
    "flipud": (lambda m, x: m.flipud(x), (GRID,)),
    "fliplr": (lambda m, x: m.fliplr(x), (GRID,)),
    "rot90": (lambda m, x: m.rot90(x), (GRID,)),
    "rot90 backwards": (lambda m, x: m.rot90(x, -1), (GRID,)),
    "rot90 twice": (lambda m, x: m.rot90(x, 2), (GRID,)),
    "squeeze": (lambda m, x: m.squeeze(x[None, :, None]), (GRID,)),
    "permute_dims": (lambda m, x: m.permute_dims(x, (1, 2, 0)), (CUBE,)),
    "matrix_transpose": (lambda m, x: m.matrix_transpose(x), (CUBE,)),
    "concatenate": (lambda m, x, y: m.concatenate([x, y], axis=1), (GRID, OTHER)),
    "vstack": (lambda m, x, y: m.vstack([x, y[0]]), (GRID, OTHER)),
    "hstack": (lambda m, x, y: m.hstack([x, y]), (GRID, OTHER)),
    "hstack of vectors": (lambda m, x: m.hstack([x, x]), (LINE,)),
    "column_stack": (lambda m, x: m.column_stack([x, x]), (LINE,)),
    "meshgrid": (lambda m, x, y: m.meshgrid(x, y[0])[1] + m.meshgrid(x, y[0])[0], (LINE, GRID)),
    "meshgrid ij": (lambda m, x, y: m.meshgrid(x, y[0], indexing="ij")[0] - y[0], (LINE, GRID)),
    "broadcast_arrays": (lambda m, x: m.broadcast_arrays(x[:, :1], x[:1])[0], (GRID,)),
    "tril": (lambda m, x: m.tril(x, -1), (GRID,)),
    "triu of many": (lambda m, x: m.triu(x, 1), (CUBE,)),
    "diag of a vector": (lambda m, x: m.diag(x, -2), (LINE,)),
    "diag of a matrix": (lambda m, x: m.diag(x, 1), (GRID,)),
    "diagonal below": (lambda m, x: m.diagonal(x, -1), (GRID,)),
    "trace": (lambda m, x: m.trace(x), (SQUARE,)),
    "take_along_axis": (lambda m, x: m.take_along_axis(x, np.array([[1], [-1], [0]]), 1), (GRID,)),
    "take_along_axis 0": (lambda m, x: m.take_along_axis(x, np.array([[2, 0, 1, -1]]), 0), (GRID,)),
    "diff": (lambda m, x: m.diff(x), (CUBE,)),
    "diff twice": (lambda m, x: m.diff(x, 2, axis=1), (CUBE,)),
    "kron": (lambda m, x, y: m.kron(x, y), (SQUARE, SQUARE)),
    "kron of vectors": (lambda m, x: m.kron(x[0], x[1]), (SQUARE,)),
    "matrix_power": (lambda m, x: (m.linalg if m is np else m).matrix_power(x, 5), (SQUARE,)),
    "matrix_power 0": (lambda m, x: (m.linalg if m is np else m).matrix_power(x, 0) + x, (SQUARE,)),
    "ptp": (lambda m, x: m.ptp(x, axis=1), (GRID,)),
    "count_nonzero": (lambda m, x: m.count_nonzero(x, axis=0), (SQUARE,)),
    "zeros_like": (lambda m, x: m.zeros_like(x) + m.ones_like(x) + m.full_like(x, 3) + x, (CUBE,)),
}


@pytest.mark.parametrize("case", EXACT.values(), ids=EXACT.keys())
def test_every_element_is_numpys(case: tuple[Call, tuple[Any, ...]]) -> None:
    f, arrays = case
    inputs = {f"x{i}": el.array(f"x{i}", scalar_of(a.dtype), a.shape) for i, a in enumerate(arrays)}
    with np.errstate(all="ignore"):
        want, got = f(np, *arrays), el.interpret(f(el, *inputs.values()), **dict(zip(inputs, arrays)))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


NEARLY: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "logaddexp": (lambda m, x: m.logaddexp(x, x[::-1]), (SIGNED,)),
    "sinc": (lambda m, x: m.sinc(x), (GRID.astype("f8"),)),
    "average": (lambda m, x, y: m.average(x, axis=0, weights=y * y), (GRID, OTHER)),
    "nansum": (lambda m, x: m.nansum(x, axis=0), (HOLES,)),
    "nanprod": (lambda m, x: m.nanprod(x), (HOLES,)),
    "nanmean": (lambda m, x: m.nanmean(x, axis=1), (HOLES,)),
    "nanvar": (lambda m, x: m.nanvar(x, axis=1, ddof=1), (HOLES,)),
    "nanstd": (lambda m, x: m.nanstd(x), (HOLES,)),
    "sum where": (lambda m, x: m.sum(x, axis=0, where=x > 0), (GRID,)),
    "sum where, repeated": (lambda m, x: m.sum(x, where=x[:1] > 0), (GRID,)),
    "prod where": (lambda m, x: m.prod(x, axis=1, keepdims=True, where=x > 0), (GRID,)),
    "mean where": (lambda m, x: m.mean(x, axis=1, where=x > -2), (CUBE,)),
    "var where": (lambda m, x: m.var(x, axis=0, where=x > -0.5), (GRID,)),
    "std where": (lambda m, x: m.std(x, ddof=1, where=x > -0.5), (GRID,)),
    "max where": (lambda m, x: m.max(x, axis=1, initial=-1, where=x < 0), (GRID,)),
    "min initial": (lambda m, x: m.min(x, initial=-8), (CUBE,)),
    "any where": (lambda m, x: m.any(x, axis=0, where=x > 1), (GRID,)),
    "all where": (lambda m, x: m.all(x > 0, where=x > 0), (GRID,)),
    "einsum product": (lambda m, x, y: m.einsum("ij,kj->ik", x, y), (GRID, OTHER)),
    "einsum without arrow": (lambda m, x, y: m.einsum("ij,ik", x, y), (GRID, OTHER)),
    "einsum trace": (lambda m, x: m.einsum("ii", x), (SQUARE,)),
    "einsum diagonal": (lambda m, x: m.einsum("ii->i", x), (SQUARE,)),
    "einsum of three": (lambda m, x, y: m.einsum("ij,kj,kl->il", x, y, y), (GRID, OTHER)),
    "einsum batched": (lambda m, x: m.einsum("bij,bkj->bik", x, x), (CUBE,)),
    "einsum sum": (lambda m, x: m.einsum("ijk->k", x), (CUBE,)),
    "einsum outer": (lambda m, x: m.einsum("i,j->ji", x, x), (LINE,)),
    "tensordot": (lambda m, x: m.tensordot(x, x, ([0, 2], [0, 2])), (CUBE,)),
    "tensordot of one axis": (lambda m, x, y: m.tensordot(x, y.T, 1), (GRID, OTHER)),
    "vecdot": (lambda m, x, y: m.vecdot(x, y), (GRID, OTHER)),
}


@pytest.mark.parametrize("case", NEARLY.values(), ids=NEARLY.keys())
def test_sums_and_products_are_numpys(case: tuple[Call, tuple[Any, ...]]) -> None:
    f, arrays = case
    with np.errstate(all="ignore"):
        exact = np.asarray(f(np, *arrays)).dtype.kind != "f"
    agree(f, *arrays, exact=exact)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda x: el.reshape(x, (5, -1)), "12 elements do not make"),
        (lambda x: el.squeeze(x, 0), "axis 0 has length 3, and not 1"),
        (lambda x: x.max(where=x > 0), "there may be none, .* or give initial="),
        (lambda x: x.sum(where=el.ones((2, 3, 4)) > 0), "where= of shape .* it must be that, or 1 along an axis"),
        (lambda x: el.einsum("ij,jk", x, x), "axes 'j' have lengths 4 and 3"),
        (lambda x: el.einsum("ijk", x), "names 3 axes of an array of 2"),
        (lambda x: el.matrix_power(x, 2), "give a square matrix"),
        (lambda x: el.take_along_axis(x, np.zeros((2, 1), int), 1), "all but axis 1 must be the same"),
    ],
)
def test_what_does_not_fit_is_refused(f: Call, why: str) -> None:
    with pytest.raises(ShapeError, match=why):
        f(el.array("x", el.f32, (3, 4)))  # type: ignore[call-arg]


def test_einsum_is_a_product_where_it_says_one() -> None:
    x, y = el.array("x", el.f32, (3, 4)), el.array("y", el.f32, (4, 5))
    assert el.einsum("ij,jk->ik", x, y).expr is (x @ y).expr
    with pytest.raises(TypeMismatch, match="give letters for the axes of each array"):
        el.einsum("ij;jk", x, y)


# ---------------------------------------------------------------------------------------- what there is


def test_names_of_the_standard_are_there_or_left_out() -> None:
    names = {n for text in STANDARD.values() for n in text.split()}
    assert {n for n in names if hasattr(el, n)} == names - set(LEFT_OUT)
    assert set(LEFT_OUT) <= names and set(OTHERWISE) <= names - set(LEFT_OUT)
    printed = report()
    assert all(f"{n}" in printed for n in names)
    assert max(map(len, printed.splitlines())) <= 100


@pytest.mark.parametrize("name", ["sort", "nonzero", "compress", "solve"])
def test_a_name_that_is_left_out_says_why(name: str) -> None:
    with pytest.raises(AttributeError, match=f"egglift has no '{name}': {ABSENT[name][:20]}"):
        getattr(el, name)


def test_a_name_that_is_missing_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="egglift has no 'tensrdot'; did you mean el.tensordot?"):
        el.tensrdot  # noqa: B018
    with pytest.raises(AttributeError, match="docs/numpy.md lists"):
        el.qqqqqq  # noqa: B018


def test_methods_are_the_functions_of_their_names() -> None:
    x = el.array("x", el.f32, (3, 4))
    assert (x.ndim, x.size) == (2, 12)
    for mine, other in (
        (x.reshape(4, 3), el.reshape(x, (4, 3))),
        (x.flatten(), el.ravel(x)),
        (x.clip(0, 1), el.clip(x, 0, 1)),
        (x.argmax(axis=0), el.argmax(x, axis=0)),
        (x.swapaxes(0, 1), x.T),
        (x.dot(x.T), el.dot(x, x.T)),
        (x.round(1), el.round(x, 1)),
    ):
        assert mine.expr is other.expr
