"""`jit`: functions of arrays that are optimised when they are called."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.signature import inputs_of

pytestmark = pytest.mark.short

RNG = np.random.default_rng(7)
BY_MODEL = {"device": "pocl", "measure": "none"}


def scaled(x: Any, by: Any = 2.0) -> Any:
    return x * by


def jitted(f: Any = scaled, **options: Any) -> Any:
    return el.jit(**BY_MODEL, **options)(f)


def numbers(*shape: int, type: Any = np.float32) -> Any:
    return RNG.integers(-8, 9, shape).astype(type)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that are optimised."""
    programs: list[Any] = []

    def optimize(program: Any, **options: Any) -> el.Kernel:
        programs.append(program)
        return el.optimize(program, **options)

    monkeypatch.setattr(sys.modules["egglift.jit"], "optimize", optimize)
    return programs


# ---------------------------------------------------------------------------------------- what it computes


def test_a_function_computes_what_it_says() -> None:
    @el.jit(device="pocl", measure="none")
    def dot(x: Any, y: Any) -> Any:
        """The inner product."""
        return (x * y).reduce(el.add, 0.0)

    a, b = numbers(1000), numbers(1000)
    assert dot(a, b) == a @ b
    assert dot(y=b, x=a) == dot(a, y=b) == a @ b
    assert (dot.__name__, dot.__doc__) == ("dot", "The inner product.")


def test_without_parentheses_it_decorates_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")

    @el.jit
    def both(A: Any, v: Any) -> Any:
        return A @ v, A.T

    A, v = numbers(5, 7), numbers(7)
    product, transposed = both(A, v)
    assert (product == A @ v).all() and (transposed == A.T).all()


def test_types_shapes_and_kinds_of_arguments_make_kernels(counted: list[Any]) -> None:
    f = jitted()
    calls = [numbers(10), numbers(10), numbers(11), numbers(2, 5), numbers(10, type=np.float64), np.float32(3)]
    for x in calls:
        assert (f(x) == x * 2).all()
    assert len(counted) == len(f.kernels) == 5
    f(numbers(10).astype(">f4")[::-1])
    assert len(counted) == 5  # byte and memory order are no types


def test_a_number_takes_the_type_of_the_arrays() -> None:
    f = jitted()
    types = {np.float32: "f4", np.float64: "f8", np.int32: "i4", np.uint8: "u1"}
    assert {t: inputs_of(f.program(numbers(4, type=t), 2))["by"].dtype.str[1:] for t in types} == types
    assert str(inputs_of(f.program(numbers(4, type=np.uint8), 300))["by"]) == "i64"
    assert str(inputs_of(f.program(numbers(4, type=np.int32), 0.5))["by"]) == "f64"
    assert str(inputs_of(f.program(3, True))["by"]) == "bool"
    assert str(inputs_of(f.program(numbers(4), np.float64(2)))["by"]) == "f64"  # NumPy's numbers have types
    result = f(numbers(4), 0.1)
    assert result.dtype == np.float32


def test_other_numbers_are_no_other_kernels(counted: list[Any]) -> None:
    f, x = jitted(), numbers(100)
    for by in (1.0, 2.0, 3, np.float32(4)):
        assert (f(x, by) == x * by).all()
    assert len(counted) == 1


def test_what_is_static_is_given_as_it_is(counted: list[Any]) -> None:
    def moved(x: Any, width: int, mode: str = "clamp") -> Any:
        assert isinstance(width, int | float) and isinstance(mode, str)
        return x.pad(int(width), 0, mode).take(len(x))

    f, x = jitted(moved, static=("width", "mode")), numbers(20)
    assert (f(x, 2)[2:] == x[:-2]).all()
    assert (f(x, 2, mode="wrap")[:2] == x[-2:]).all()
    f(x, 2, "wrap")
    assert len(counted) == 2
    f(x, 2.0)
    assert len(counted) == 3  # equal to 2, but another type


def test_an_argument_may_be_of_no_use() -> None:
    f = jitted(lambda x, unused: x + 1)
    x = numbers(5)
    assert (f(x, numbers(3)) == x + 1).all()


def test_jitted_functions_may_use_each_other() -> None:
    f = jitted()
    twice = jitted(lambda x: f(f(x)))
    x = numbers(9)
    assert (twice(x) == 4 * x).all()
    assert f.kernels == ()


def test_a_method_has_its_object_as_a_static_argument() -> None:
    class Model:
        def __init__(self, weight: float) -> None:
            self.weight = weight

        @el.jit(static="self", device="pocl", measure="none")
        def predict(self, x: Any) -> Any:
            return self.weight * x

    x = numbers(6)
    assert (Model(3.0).predict(x) == 3 * x).all()
    assert (Model(5.0).predict(x) == 5 * x).all()


def test_arrays_on_the_device_stay_there() -> None:
    cl = pytest.importorskip("pyopencl")
    array = pytest.importorskip("pyopencl.array")
    from egglift.codegen.device.device import open_device

    device = open_device("pocl")
    x = numbers(50)
    f = el.jit(device=device.queue, measure="none")(scaled)
    found = f(array.to_device(device.queue, x))
    assert isinstance(found, array.Array) and isinstance(found.queue, cl.CommandQueue)
    assert (found.get() == 2 * x).all()


# ---------------------------------------------------------------------------------------- kernels are kept


def test_threads_that_want_one_kernel_make_it_once(counted: list[Any]) -> None:
    f, x = jitted(), numbers(64)
    gate = threading.Barrier(4)

    def call(i: int) -> Any:
        gate.wait()
        return f(x, float(i))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(call, range(4)))
    assert all((r == x * i).all() for i, r in enumerate(results))
    assert len(counted) == 1


def test_what_failed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f, x = jitted(), numbers(3)

    def lost(program: Any, **options: Any) -> el.Kernel:
        raise el.DeviceError("the device is busy")

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["egglift.jit"], "optimize", lost)
        with pytest.raises(el.DeviceError, match="busy"):
            f(x)
    assert f.kernels == ()
    assert (f(x) == 2 * x).all()


def test_the_kernel_is_there_without_a_call() -> None:
    f = jitted()
    kernel = f.kernel(numbers(30), 3.0)
    assert isinstance(kernel, el.Kernel) and f.kernels == (kernel,)
    assert f.kernel(by=1.0, x=numbers(30)) is kernel


# ---------------------------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(), "missing a required argument: 'x'"),
        (lambda f: f(numbers(2), 1.0, 2.0), "too many positional arguments"),
        (lambda f: f(numbers(2), z=1), "unexpected keyword argument 'z'"),
        (lambda f: f([1, 2]), r"x is list, not an array or a number; convert it with numpy\.asarray"),
        (lambda f: f(np.array(["a"])), "x is <U1, which has no place in a program"),
        (lambda f: f(numbers(2), None), r"by is NoneType, .* jit\(static=\.\.\.\)"),
    ],
)
def test_arguments_that_do_not_fit_are_named(call: Any, message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        call(jitted())


def test_static_arguments_must_be_hashable() -> None:
    with pytest.raises(el.ArgumentError, match="by is static, but a list cannot be hashed"):
        jitted(static="by")(numbers(2), [1])


def test_functions_and_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(el.ArgumentError, match=r"parameters have names of their own, not \*xs"):
        el.jit(lambda *xs: xs[0])
    with pytest.raises(el.ArgumentError, match="has no parameter y, which static names"):
        el.jit(static="y")(scaled)
    with pytest.raises(
        el.ArgumentError, match="jit takes static, lengths and the options of optimize, not shape, tiles"
    ):
        el.jit(shape=3, tiles=2)
    with pytest.raises(el.ArgumentError, match="jit takes a function, not 3"):
        el.jit(3)  # type: ignore[call-overload]


def test_an_error_in_a_program_says_for_which_arguments() -> None:
    f = jitted(lambda x, y: x.zip(y))
    with pytest.raises(el.ShapeError, match="lengths 2 and 3 differ") as raised:
        f(numbers(2), numbers(3))
    assert raised.value.__notes__ == ["in <lambda>(x: f32[2], y: f32[3]), traced by jit"]
