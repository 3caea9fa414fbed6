"""`kernel.kernels`: all that code of one's own needs to run a program's OpenCL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device, opencl
from egglift.ir.check import type_of
from egglift.ir.patterns import To
from egglift.ir.signature import inputs_of
from egglift.launches import LaunchedKernel, launches_of

pytestmark = pytest.mark.short

N = 64
X = np.linspace(0.1, 2, N, dtype=np.float32)


def launched(kernels: tuple[LaunchedKernel, ...], **given: Any) -> dict[str, Any]:
    """What the outputs hold after the launches, each compiled alone, by pyopencl and nothing else."""
    cl = opencl()
    context = cl.Context([open_device("pocl").device])
    queue, flags = cl.CommandQueue(context), cl.mem_flags
    memory = {name: cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=v) for name, v in given.items()}
    arguments = {a.name: a for k in kernels for a in k.arguments}
    for name, a in arguments.items():
        if name not in memory:
            memory[name] = cl.Buffer(context, flags.READ_WRITE, a.nbytes)
    for k in kernels:
        function = cl.Kernel(cl.Program(context, k.source).build(["-w"]), k.name)
        function(queue, k.global_size, k.local_size, *[memory[a.name] for a in k.arguments])
    found = {name: np.empty(a.shape, a.dtype) for name, a in arguments.items() if a.role == "output"}
    for name, array in found.items():
        cl.enqueue_copy(queue, array, memory[name])
    return found


def kernels(program: Any) -> tuple[LaunchedKernel, ...]:
    e = el.as_program(program)
    return launches_of(compile_term(e), inputs_of(e), type_of(e))


def stored(x: el.Value) -> el.Value:
    """The array, computed by a kernel of its own."""
    return el.Value(To("global", x.expr))


x = el.array("x", el.f32, N)


def test_each_launch_is_compiled_alone() -> None:
    """Both kernels take minima, by a function that the plan's source has once."""
    found = kernels(el.minimum(stored(el.minimum(x, 1.0)) * 3.0, 2.0))
    assert len(found) == 2 and all("minimum_f32(float" in k.source for k in found)
    np.testing.assert_array_equal(launched(found, x=X)["out"], np.minimum(3 * np.minimum(X, 1), 2))
    assert {a.role for k in found for a in k.arguments} == {"input", "output", "temporary"}


def test_launches_that_are_repeated_are_there_again() -> None:
    found = kernels(x.iterate(5, lambda v: v.map(lambda a: a * 2.0)))
    assert len(found) == 5 and len({k.name for k in found}) == 1
    np.testing.assert_array_equal(launched(found, x=X)["out"], 32 * X)


def test_components_have_names_of_their_own() -> None:
    pairs = el.array("p", (el.f32, el.i32), N)
    found = kernels((pairs.map(lambda a, b: a * 2.0), pairs.map(lambda a, b: b > 3)))
    numbers = np.arange(N, dtype=np.int32)
    result = launched(found, **{"p[0]": X, "p[1]": numbers})
    np.testing.assert_array_equal(result["out[0]"], 2 * X)
    np.testing.assert_array_equal(result["out[1]"], numbers > 3)


@pytest.mark.parametrize("name", ["out", "tmp", "tmp0", "tmp1"])
def test_an_input_named_like_a_buffer_is_told_apart(name: str) -> None:
    y = el.array(name, el.f32, N)
    found = kernels(stored(stored(y * 2.0) * 3.0) * 5.0)
    (result,) = launched(found, **{name: X}).values()
    np.testing.assert_array_equal(result, X * 2 * 3 * 5)


def test_a_result_is_told_from_inputs_of_its_name() -> None:
    found = kernels(el.array("out", el.f32, N) - el.array("out_", el.f32, N))
    result = launched(found, out=3 * X, out_=X)
    assert list(result) == ["out__"]
    np.testing.assert_array_equal(result["out__"], 3 * X - X)


def test_a_kernel_tells_its_launches() -> None:
    k = el.optimize(x * x, "pocl", measure="none", cache=False)
    (launch,) = k.kernels
    assert launch.source == k.source and launch.name in k.source
    assert [(a.name, a.role, a.shape, a.dtype, a.nbytes) for a in launch.arguments] == [
        ("x", "input", (N,), np.float32, 4 * N),
        ("out", "output", (N,), np.float32, 4 * N),
    ]
    np.testing.assert_array_equal(launched(k.kernels, x=X)["out"], X * X)
