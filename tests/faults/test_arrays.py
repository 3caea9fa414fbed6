"""Arrays of every kind as inputs: taken as NumPy means them, or refused by name."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

SHAPE = (2, 3)
X = np.arange(6, dtype=np.float32).reshape(SHAPE)
PROGRAM = el.array("x", el.f32, SHAPE) * 2
Run = Callable[[Any], Any]


class Refuses:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("I am no array")


def nested(depth: int) -> Any:
    found: Any = 1.0
    for _ in range(depth):
        found = [found]
    return found


def holds_itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.fixture(scope="module")
def kernel() -> el.Kernel:
    return el.optimize(PROGRAM, "pocl", measure="none", cache=False)


@pytest.fixture(params=["kernel", "interpreter"])
def run(request: pytest.FixtureRequest, kernel: el.Kernel) -> Run:
    return kernel if request.param == "kernel" else lambda x: el.interpret(PROGRAM, x=x)


TAKEN = {
    "reversed": X[::-1, ::-1],
    "strided": np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::2],
    "transposed": np.arange(6, dtype=np.float32).reshape(3, 2).T,
    "of one element": np.broadcast_to(np.float32(3), SHAPE),
    "of one row": np.broadcast_to(X[0], SHAPE),
    "big-endian": X.astype(">f4"),
    "unaligned": np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(SHAPE),
    "a field of records": np.ones(SHAPE, [("a", "i1"), ("b", "f4")])["b"],
    "np.matrix": np.asmatrix(X),
    "masked, but nothing hidden": np.ma.masked_array(X),
    "not numbers": np.full(SHAPE, np.nan, np.float32),
    "infinite": np.float32([[np.inf, -np.inf, 0], [-0.0, np.nan, 1]]),
    "the largest and the smallest": np.float32([[3e38, -3e38, 1e-38], [1e-45, -1e-45, 2]]),
    "nested lists": X.tolist(),
    "a buffer": memoryview(X),
}


@pytest.mark.parametrize("name", TAKEN)
def test_an_array_is_taken_as_numpy_means_it(run: Run, name: str) -> None:
    found = run(TAKEN[name])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, 2 * np.asarray(TAKEN[name], np.float32))
    assert type(found) is np.ndarray
    assert found.flags.writeable and found.flags.c_contiguous
    assert not np.may_share_memory(found, np.asarray(TAKEN[name]))


REFUSED = {
    "masked": (np.ma.masked_array(X, mask=X > 3), r"masked array that hides 2 elements; pass x.filled"),
    "objects": (X.astype(object), "dtype object"),
    "records": (np.ones(SHAPE, [("a", "f4")]), "dtype"),
    "complex": (X.astype(np.complex64), "dtype complex64"),
    "wider": (X.astype(np.longdouble), "dtype float128"),
    "dates": (X.astype("M8[s]"), "dtype datetime64"),
    "texts": (X.astype("U"), "dtype <U32"),
    "bytes": (b"abcdef", "input x"),
    "nothing": (None, "input x"),
    "a function": (len, "input x"),
    "a set": ({1, 2}, "input x"),
    "a number": (np.float32(1), r"shape \(\), but the program takes \(2, 3\)"),
    "empty": (np.zeros((0, 3), np.float32), r"shape \(0, 3\)"),
    "2^40 elements": (np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)), r"shape \(1048576, 1048576\)"),
    "of another library": (array.array("f", [1, 2, 3]), r"shape \(3,\)"),
    "a program": (PROGRAM, "input x"),
    "rows of different lengths": ([[1, 2], [3]], "input x"),
    "numbers that no float holds": ([[10**400] * 3] * 2, "input x"),
    "numbers and nothing": ([[1, 2, None]] * 2, "input x"),
    "an array that fails": (Refuses(), "input x is no array: I am no array"),
    "a list of 100,000 levels": (nested(100_000), "input x"),
    "a list that holds itself": (holds_itself(), "input x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_array_is_refused_by_name(run: Run, name: str) -> None:
    value, message = REFUSED[name]
    with pytest.raises(el.ArgumentError, match=message):
        run(value)


def test_two_inputs_may_share_memory() -> None:
    x, y = el.array("x", el.f32, 6), el.array("y", el.f32, 6)
    kernel = el.optimize(x - y, "pocl", measure="none", cache=False)
    whole = np.arange(7, dtype=np.float32)
    np.testing.assert_array_equal(kernel(whole[1:], whole[:-1]), np.ones(6))
    np.testing.assert_array_equal(kernel(whole[:-1], whole[:-1][::-1]), whole[:-1] - whole[:-1][::-1])
    np.testing.assert_array_equal(whole, np.arange(7))


@pytest.mark.parametrize("operator", ["add", "maximum"])
def test_a_reduction_of_what_is_not_finite_is_numpys(operator: str) -> None:
    x = el.array("x", el.f32, 257)
    kernel = el.optimize(x.reduce(getattr(el, operator)), "pocl", measure="none", cache=False)
    for special in (np.nan, np.inf, -np.inf):
        given = np.ones(257, np.float32)
        given[[0, 100]] = 0, special
        with np.errstate(all="ignore"):
            expected = getattr(np, operator).reduce(given)
        np.testing.assert_array_equal(kernel(given), expected)
