"""Numbers as inputs: kernels are given them by value, or where they are if they are on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device
from tests.gates import array, late, queue

pytestmark = pytest.mark.short

N = 64
X = np.arange(N, dtype=np.float32)


def made(program: Any) -> Any:
    return el.optimize(program, "pocl", measure="none", cache=False)


@pytest.fixture(scope="module")
def scaled() -> Any:
    return made(el.scalar("a", el.f32) * el.array("x", el.f32, N) + 1)


def test_numbers_need_no_memory_on_the_device(scaled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = array(queue(scaled.device.context, "in order"), X)
    monkeypatch.setattr(Device, "upload", lambda *_: pytest.fail("a buffer is made"))
    for a in (2.5, 2, np.float32(2.5), np.array(2, np.float32), True):
        expected = np.float32(a) * X + 1
        np.testing.assert_array_equal(scaled(a, x).get(), expected)
        np.testing.assert_array_equal(scaled(a, X), expected)
        np.testing.assert_array_equal(scaled.bind(a, x)().get(), expected)


def test_a_number_on_the_device_is_not_waited_for(scaled: Any, gates: Any) -> None:
    home = queue(scaled.device.context, "in order")
    gate = gates(scaled.device.context)
    a = late(home, np.array(3, np.float32), gate)
    total = scaled.bind(a, array(home, X))
    result = scaled(a, X)
    assert result.events[0].command_execution_status > 0
    gate.open()
    for found in (result, total(), scaled(x=X, a=a)):
        np.testing.assert_array_equal(found.get(), 3 * X + 1)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (el.bool_, [False, True]),
        (el.i8, [-128, 127]),
        (el.u64, [0, 2**64 - 1, 2**53 + 1]),
        (el.i64, [-(2**63), 2**53 + 1]),
        (el.f32, [-0.0, np.inf, np.nan, 1e-45]),
        (el.f64, [0.1, -np.inf, 1e300]),
        (el.f16, [0.1, 65504.0]),
    ],
    ids=str,
)
def test_numbers_of_every_type_arrive_whole(kind: Any, values: list[Any]) -> None:
    k = made(el.scalar("a", kind))
    for value in values:
        expected = np.array(value, kind.dtype)
        for given in (value, expected, expected[()]):
            assert np.array(k(given)).tobytes() == expected.tobytes()


def test_numbers_that_do_not_fit_are_refused(scaled: Any) -> None:
    for wrong in (1e39, 10**39):
        with pytest.raises(el.ArgumentError, match="input a takes float32 values"):
            scaled(wrong, X)
    with pytest.raises(el.ArgumentError, match="input a has dtype float64"):
        scaled(np.float64(0.1), X)


def test_inputs_may_be_called_like_the_numbers_of_kernels() -> None:
    a, b = el.scalar("a", el.i32), el.scalar("a_value", el.i32)
    assert made(a - 2 * b)(7, 3) == 1


def test_an_iteration_may_start_at_a_number() -> None:
    k = made(el.iterate(3, lambda s: s * 2 + 1, el.scalar("a", el.i32)))
    assert k(5) == 47
    x = el.scalar("x", el.f32)
    means = el.iterate(2, lambda s: (s + el.array("y", el.f32, N)).sum(), x)
    assert made(means)(1.0, X) == ((1 + X).sum(dtype=np.float32) + X).sum(dtype=np.float32)


def test_a_boolean_byte_is_true_by_value_and_by_address() -> None:
    k = made(el.where(el.scalar("b", el.bool_), el.array("x", el.f32, N), 0))
    four = np.array(4, np.uint8).view(np.bool_)
    np.testing.assert_array_equal(k(four, X), X)
    home = queue(k.device.context, "in order")
    np.testing.assert_array_equal(k(array(home, four), array(home, X)).get(), X)
