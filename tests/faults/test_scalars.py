"""Single numbers as inputs, Python's and NumPy's: kernels and the interpreter take the same ones, to the bit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.types import SCALARS, Scalar

pytestmark = pytest.mark.short

TYPES = list(SCALARS.values())
NUMBERS = [
    True,
    False,
    0,
    1,
    -1,
    4,
    127,
    128,
    -129,
    255,
    256,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    10**400,
    1.0,
    1.5,
    -0.0,
    1e-45,
    1e-310,
    1e39,
    float("nan"),
    float("inf"),
    np.True_,
    np.int8(3),
    np.uint64(2**64 - 1),
    np.float16(0.1),
    np.float32(0.1),
    np.float64(0.1),
    np.array(4, np.uint8).view(bool),
    np.array(7),
    1j,
    "1",
    None,
]


@cache
def kernel(t: Scalar) -> el.Kernel:
    s = el.scalar("s", t)
    return el.optimize(el.tuple(s, s), "pocl", measure="none", cache=False)


def outcome(run: Any) -> bytes | str:
    try:
        (result, _) = run()
    except el.ArgumentError as error:
        return str(error)
    return bytes(result.tobytes())


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_kernels_take_the_numbers_that_the_interpreter_takes(t: Scalar) -> None:
    program = kernel(t).program
    for number in NUMBERS:
        here, there = outcome(lambda v=number: el.interpret(program, s=v)), outcome(lambda v=number: kernel(t)(s=v))
        assert here == there, number


@pytest.mark.parametrize(
    ("t", "taken", "refused"),
    [
        (el.bool_, [True, 0, 1, np.True_], [2, -1, 1.0, np.int8(1)]),
        (el.i8, [True, -128, 127, np.True_, np.int8(3)], [-129, 128, 1.0, np.uint8(3)]),
        (el.u64, [0, 2**64 - 1, np.uint8(3)], [-1, 2**64, 0.0, np.int64(1)]),
        (el.f32, [2**64 - 1, 1e-310, float("inf"), np.float16(1)], [1e39, 1j, np.float64(0.1), np.int32(1)]),
        (el.f16, [65504, 1e-9, float("-inf"), np.int8(1)], [65520.0, 1e5, np.float32(1)]),
    ],
)
def test_numbers_that_a_type_holds_are_taken(t: Scalar, taken: list[Any], refused: list[Any]) -> None:
    s = el.scalar("s", t)
    for number in taken:
        with np.errstate(all="ignore"):
            assert el.interpret(s, s=number) == np.asarray(number).astype(t.dtype)
    for number in refused:
        with pytest.raises(el.ArgumentError, match="input s"):
            el.interpret(s, s=number)


def test_numbers_are_taken_alike_where_numpy_would_raise() -> None:
    with np.errstate(all="raise"):
        assert not el.interpret(el.array("x", el.f32, 2) * 2.0, x=[1e-310, 0.0]).any()
        assert kernel(el.f32)(s=1e-310) == (0, 0)


@pytest.mark.parametrize("t", [el.f32, el.f64], ids=str)
def test_numbers_and_texts_do_not_depend_on_how_numpy_prints(t: Scalar) -> None:
    number, array = np.array(1 / 3, t.dtype), np.array([1 / 3, 123456.789], t.dtype)
    text = el.dumps(el.literal(array))
    with np.printoptions(legacy="1.13"):
        assert el.interpret(el.literal(number)) == number
        assert el.dumps(el.literal(array)) == text
