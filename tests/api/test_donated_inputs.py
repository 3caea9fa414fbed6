"""`kernel(x, out=x)`: in place where each element is read for the one in its place; else by a copy; always right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.host_memory import HostMemory
from egglift.codegen.kernel.donation import donations, without_promises
from tests.gates import array, queue

pytestmark = pytest.mark.short

N = 1 << 15
X = np.random.default_rng(2).integers(-50, 50, N).astype("f4")
Y = X[::-1] + 3
x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)

PROGRAMS: dict[str, tuple[el.Value, Callable[[Any, Any], Any]]] = {
    "scaled": (x * 2.0 + y, lambda a, b: a * 2 + b),
    "squared": (x * x - y, lambda a, b: a * a - b),
    "the greatest off": (x - x.max() + y, lambda a, b: a - a.max() + b),
    "backwards": (x[::-1] + y, lambda a, b: a[::-1] + b),
    "neighbours": (x + x.roll(1) - y, lambda a, b: a + np.roll(a, 1) - b),
    "sums": (el.cumsum(x) + y, lambda a, b: np.cumsum(a) + b),
    "rows turned": (x.split(128).T.join() - y, lambda a, b: a.reshape(-1, 128).T.reshape(-1) - b),
}
#: what is written in place, and over which of its inputs
IN_PLACE = {"scaled": {"x", "y"}, "squared": {"x", "y"}, "the greatest off": {"x", "y"}, "backwards": {"y"}}


@pytest.fixture(scope="module", params=PROGRAMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def kernel(name: str) -> el.Kernel:
    return el.optimize(PROGRAMS[name][0], "pocl", measure="none", cache=False)


def given_up(kernel: el.Kernel) -> set[str]:
    """The inputs that a result may be written into."""
    (result,) = kernel.plan.outputs
    found = donations(kernel.plan).get(result, frozenset())
    return {n for n, (buffer,) in kernel.plan.inputs.items() if buffer in found}


def test_inputs_are_given_up_where_they_may_be(kernel: el.Kernel, name: str) -> None:
    assert given_up(kernel) >= IN_PLACE.get(name, set())
    assert name not in ("neighbours", "rows turned", "sums") or "x" not in given_up(kernel)
    assert name != "backwards" or "x" not in given_up(kernel)


def test_what_is_free_promises_nothing(kernel: el.Kernel) -> None:
    assert "restrict" in kernel.plan.source
    assert "restrict" not in without_promises(kernel.plan).source


@pytest.mark.parametrize("over", ["x", "y"])
def test_arrays_on_the_device_are_overwritten(kernel: el.Kernel, name: str, over: str) -> None:
    home, want = queue(kernel.device.context, "in order"), PROGRAMS[name][1](X, Y)
    a, b = array(home, X), array(home, Y)
    target = a if over == "x" else b
    assert kernel(a, b, out=target) is target
    np.testing.assert_allclose(target.get(), want, rtol=1e-5)
    np.testing.assert_array_equal((b if over == "x" else a).get(), Y if over == "x" else X)


@pytest.mark.parametrize("over", ["x", "y"])
def test_numpy_arrays_are_overwritten(kernel: el.Kernel, name: str, over: str) -> None:
    a, b = X.copy(), Y.copy()
    target = a if over == "x" else b
    assert kernel(a, b, out=target) is target
    np.testing.assert_allclose(target, PROGRAMS[name][1](X, Y), rtol=1e-5)


def test_one_array_for_both_inputs_and_the_result(kernel: el.Kernel, name: str) -> None:
    a, there = X.copy(), array(queue(kernel.device.context, "out of order"), X)
    want = PROGRAMS[name][1](X, X)
    kernel(a, a, out=a)
    kernel(there, there, out=there)
    np.testing.assert_allclose(a, want, rtol=1e-5)
    np.testing.assert_allclose(there.get(), want, rtol=1e-5)


def test_a_bound_call_overwrites_its_input_each_time(kernel: el.Kernel, name: str) -> None:
    home, want = queue(kernel.device.context, "in order"), X
    a, b = array(home, X), array(home, Y)
    launch = kernel.bind(a, b, out=a)
    for _ in range(2):
        launch()
        want = PROGRAMS[name][1](want, Y)
    np.testing.assert_allclose(a.get(), want, rtol=1e-4)


def test_an_array_that_overlaps_an_input_is_copied_to(kernel: el.Kernel, name: str) -> None:
    memory = np.concatenate([X, X])
    kernel(memory[:N].copy(), Y, out=memory[5 : N + 5])
    memory[: N + 5] = 0
    memory[:N] = X
    kernel(memory[:N], Y, out=memory[5 : N + 5])
    np.testing.assert_allclose(memory[5 : N + 5], PROGRAMS[name][1](X, Y), rtol=1e-5)


@pytest.fixture
def scaled() -> el.Kernel:
    return el.optimize(PROGRAMS["scaled"][0], "pocl", measure="none", cache=False)


def test_nothing_is_copied_in_place(scaled: el.Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    home = queue(scaled.device.context, "in order")
    a, b, c = array(home, X), array(home, Y), X.copy()
    scaled(a, b)
    monkeypatch.setattr(HostMemory, "result", lambda *_: pytest.fail("a result of its own"))
    monkeypatch.setattr(Device, "allocate", lambda *_: pytest.fail("memory of its own"))
    scaled(a, b, out=a)
    scaled(c, Y, out=c)
    np.testing.assert_array_equal(a.get(), X * 2 + Y)
    np.testing.assert_array_equal(c, X * 2 + Y)


def test_lengths_that_a_call_says_are_copied_for(monkeypatch: pytest.MonkeyPatch) -> None:
    n = el.size("n")
    k = el.optimize(el.array("v", el.f32, n) * 2.0, open_device("pocl").queue, measure="none", cache=False)
    for count in (5, 1000, N):
        v = X[:count].copy()
        k(v, out=v)
        np.testing.assert_array_equal(v, 2 * X[:count])
