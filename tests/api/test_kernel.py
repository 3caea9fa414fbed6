"""Calling kernels: what goes in and what comes out.  The plans are written by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.device.device import Device, open_device, opencl
from egglift.codegen.device.execute import Timing
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, Launch, Plan
from egglift.codegen.kernel.imperative import PlannedKernel as Step
from egglift.ir import types as t
from egglift.ir.errors import ArgumentError
from egglift.ir.patterns import Apply, Arg, Expr, Get, Input, Map, Tup, Zip
from egglift.ir.types import Array, Scalar, Tuple, Type
from egglift.kernel import Kernel, Profiled

pytestmark = pytest.mark.short

C = {"bool": "uchar", "i8": "char", "i32": "int", "u64": "ulong", "f32": "float", "f64": "double"}


def elementwise(body: str, inputs: dict[str, tuple[Scalar, ...]], outputs: tuple[Scalar, ...], n: int) -> Plan:
    """A plan whose kernel runs `body` for each i < n, with buffers x0, x1, ... of inputs and y0, y1, ..."""
    given = {name: tuple(Buffer(f"{name}{i}", "global", s, n) for i, s in enumerate(ss)) for name, ss in inputs.items()}
    out = tuple(Buffer(f"y{i}", "global", s, n) for i, s in enumerate(outputs))
    params = (*(b for bs in given.values() for b in bs), *out)
    arguments = ", ".join(f"global {C[b.scalar.name]} *{b.name}" for b in params)
    source = f"kernel void k({arguments}) {{ int i = get_global_id(0); {body} }}\n"
    return Plan((Step("k", source, params, (n,), (1,), ()),), given, (), out, ((0, params),))


@dataclass(frozen=True)
class ByHand(Candidate):
    """A candidate whose plan was not compiled from its term."""

    written: Plan = field(kw_only=True)

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        return self.written


def kernel(program: Expr, plan: Plan) -> Kernel:
    chosen = ByHand("by hand", program, {}, Launch(), DeviceLimits(), 0.0, written=plan)
    return Kernel(program, chosen, open_device("pocl"), [chosen])


def doubled(type: Type, scalar: Scalar, n: int) -> Kernel:
    """y = x + x for any shape."""
    program: Expr = Input("x", type)
    return kernel(program, elementwise("y0[i] = x0[i] + x0[i];", {"x": (scalar,)}, (scalar,), n))


@pytest.fixture(scope="module")
def matrix() -> Kernel:
    return doubled(t.array_of(t.F32, (2, 3)), t.F32, 6)


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_arrays_go_in_by_name_or_place_and_keep_their_shape(matrix: Kernel) -> None:
    for result in (matrix(X), matrix(x=X)):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, 2 * X)
    assert matrix.inputs == ("x",)


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(X),
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
        X[::-1, ::-1],
        X.astype(">f4"),
        X.astype(np.float16),
        X.astype(np.int16),
        X.tolist(),
        np.broadcast_to(np.float32(3), (2, 3)),
    ],
    ids=["fortran", "strided", "reversed", "big-endian", "f16", "i16", "list", "broadcast"],
)
def test_any_layout_and_lossless_dtype_is_taken(matrix: Kernel, x: Any) -> None:
    np.testing.assert_array_equal(matrix(x), 2 * np.asarray(x, np.float32))


def test_a_read_only_array_is_taken_and_left_alone(matrix: Kernel) -> None:
    x = X.copy()
    x.flags.writeable = False
    result = matrix(x)
    result[0, 0] = 7
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, "missing: x; the program takes x"),
        ((X,), {"y": X}, "unknown: y"),
        ((X, X), {}, r"2 arguments given, but the program takes 1: \(x\)"),
        ((X,), {"x": X}, "by position and by name: x"),
        ((X.ravel(),), {}, r"input x has shape \(6,\), but the program takes \(2, 3\)"),
        (
            (X.astype(np.float64),),
            {},
            r"dtype float64, but the program takes float32; pass x.astype\('float32'\)",
        ),
        ((X.astype(np.int32),), {}, "dtype int32"),
        ((X.astype(np.complex64),), {}, "dtype complex64"),
        (([[1, 2], [3]],), {}, "input x is no array"),
        (("text",), {}, "shape"),
        ((None,), {}, "shape"),
    ],
)
def test_what_does_not_fit_is_named(matrix: Kernel, args: Any, named: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        matrix(*args, **named)


def test_scalars_come_back_as_numpy_scalars() -> None:
    k = doubled(t.F64, t.F64, 1)
    result = k(2.5)
    assert type(result) is np.float64
    assert result == 5
    assert k(np.float32(1)) == 2
    assert k(x=3) == 6


@pytest.mark.parametrize(("scalar", "bad"), [(t.I8, 200), (t.I8, 1.0), (t.U64, -1), (t.BOOL, 2)])
def test_python_numbers_must_fit(scalar: Scalar, bad: Any) -> None:
    with pytest.raises(ArgumentError, match=f"input x takes {scalar.dtype} values, and not {bad}"):
        doubled(scalar, scalar, 1)(bad)


def test_integers_up_to_the_edges_of_their_type_fit() -> None:
    same = kernel(Input("x", t.U64), elementwise("y0[i] = x0[i];", {"x": (t.U64,)}, (t.U64,), 1))
    assert same(2**64 - 1) == 2**64 - 1
    with pytest.raises(ArgumentError):
        same(2**64)


def test_arrays_of_tuples_are_tuples_of_arrays_both_ways() -> None:
    pairs = Array(4, Tuple((t.F32, t.I32)))
    swap = Map(Tup((Get(1, Arg(pairs.element)), Get(0, Arg(pairs.element)))), Input("x", pairs))
    k = kernel(swap, elementwise("y0[i] = x1[i]; y1[i] = x0[i];", {"x": (t.F32, t.I32)}, (t.I32, t.F32), 4))
    a, b = np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.int32)
    first, second = k((a, b))
    np.testing.assert_array_equal(first, b)
    np.testing.assert_array_equal(second, a)
    with pytest.raises(ArgumentError, match=r"input x is \[\(f32, i32\)\]4: give a tuple of 2"):
        k(a)
    with pytest.raises(ArgumentError, match=r"input x\[1\] has dtype float32"):
        k((a, a))


def test_bools_are_bools() -> None:
    k = kernel(Input("x", Array(3, t.BOOL)), elementwise("y0[i] = !x0[i];", {"x": (t.BOOL,)}, (t.BOOL,), 3))
    result = k(np.array([True, False, True]))
    assert result.dtype == np.bool_
    assert result.tolist() == [False, True, False]


def test_empty_arrays_go_through() -> None:
    x, y = Buffer("x", "global", t.F32, 0), Buffer("y", "global", t.F32, 0)
    k = kernel(Input("x", t.array_of(t.F32, (0, 3))), Plan((), {"x": (x,)}, (), (y,), ()))
    assert k(np.empty((0, 3), np.float32)).shape == (0, 3)


def test_positional_arguments_follow_the_names() -> None:
    b, a = Input("b", Array(2, t.F32)), Input("a", Array(2, t.F32))
    el = Arg(Tuple((t.F32, t.F32)))
    minus = Map(Apply("sub", (Get(0, el), Get(1, el))), Zip((b, a)))
    k = kernel(minus, elementwise("y0[i] = b0[i] - a0[i];", {"a": (t.F32,), "b": (t.F32,)}, (t.F32,), 2))
    assert k.inputs == ("a", "b")
    assert k(np.float32([1, 2]), np.float32([5, 5])).tolist() == [4, 3]
    assert k(np.float32([1, 2]), b=np.float32([5, 5])).tolist() == [4, 3]


# ---------------------------------------------------------------------------------------- on the device


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def on_device(device: Device, x: Any) -> Any:
    import pyopencl.array as cl_array

    return cl_array.to_device(device.queue, x)


def test_device_arrays_in_give_device_arrays_out(matrix: Kernel, device: Device) -> None:
    result = matrix(on_device(device, X))
    assert type(result).__module__ == "pyopencl.array"
    assert result.shape == (2, 3)
    np.testing.assert_array_equal(result.get(), 2 * X)
    np.testing.assert_array_equal((result + 1).get(), 2 * X + 1)
    np.testing.assert_array_equal(matrix(result).get(), 4 * X)


def test_a_part_of_a_device_array_is_read_from_where_it_starts(matrix: Kernel, device: Device) -> None:
    whole = on_device(device, np.arange(18, dtype=np.float32).reshape(6, 3))
    np.testing.assert_array_equal(matrix(whole[3:5]).get(), 2 * whole.get()[3:5])


def test_a_device_buffer_is_taken_if_it_is_large_enough(matrix: Kernel, device: Device) -> None:
    np.testing.assert_array_equal(matrix(device.upload(X)).get(), 2 * X)
    with pytest.raises(ArgumentError, match="input x is a buffer of 8 bytes, but the program reads 24"):
        matrix(device.upload(X.ravel()[:2]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.astype(np.float64), "input x is float64 of shape"),
        (lambda x: x[:1], r"of shape \(1, 3\)"),
    ],
)
def test_device_arrays_are_not_converted(matrix: Kernel, device: Device, change: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        matrix(change(on_device(device, X)))


def test_an_array_of_another_context_is_refused(matrix: Kernel, device: Device) -> None:
    other = open_device(opencl().Context([device.device]))
    with pytest.raises(ArgumentError, match=r"another OpenCL context; .*device=x.queue"):
        matrix(on_device(other, X))


def test_a_result_that_is_an_input_is_a_copy_of_it(device: Device) -> None:
    x = Buffer("x", "global", t.F32, 3)
    k = kernel(Input("x", Array(3, t.F32)), Plan((), {"x": (x,)}, (), (x,), ()))
    given = on_device(device, np.ones(3, np.float32))
    result = k(given)
    given.fill(5)
    assert result.get().tolist() == [1, 1, 1]


# ---------------------------------------------------------------------------------------- telling


def test_a_profile_names_every_kernel(matrix: Kernel) -> None:
    for profile in (matrix.profile(), matrix.profile(X)):
        assert profile.seconds > 0
        assert profile.bytes == 48
        assert "GB/s" in str(profile)
        assert "k " in str(profile)


def test_a_profile_says_no_spread_of_few_samples() -> None:
    empty = el.optimize(el.array("x", el.f32, 4)[:0], "pocl", measure="none", cache=False)
    assert str(empty.profile()) == "0 ns on the device: no kernel runs, as the results have no elements"
    few = Profiled(Timing(2e-6, (2e-6,), (("k", 2e-6),)), 4000)
    assert str(few).startswith("2 us on the device (1 sample); 2.0 GB/s of inputs and results\n  k ")
    many = Profiled(Timing(2e-6, (2e-6,) * 4, (("k", 2e-6),)), 4000)
    assert "(4 samples, spread 0.0%)" in str(many)


def test_a_kernel_shows_its_source_term_and_types(matrix: Kernel) -> None:
    assert "kernel void k" in matrix.source
    assert matrix.term is matrix.program
    assert "x: [[f32]3]2 -> [[f32]3]2" in repr(matrix)


@pytest.mark.deep
def test_a_candidate_whose_proof_is_too_long_is_still_explained() -> None:
    x = el.array("x", el.f32, (1, 5000))

    def softmax(row: el.Value) -> el.Value:
        powers = row.map(lambda v: el.exp(v - row.reduce(el.maximum, float("-inf"))))
        return powers.map(lambda v: v / powers.reduce(el.add, 0.0))

    kernel = el.optimize(x.map(softmax), measure="none", cache=False, candidates=99)
    shared = next(c for c in kernel.candidates if "[g{" in c.structure)  # the only row is shared out
    assert "map-one" in Kernel(kernel.program, shared, kernel.device, [shared]).explain()
    forgotten = replace(shared, form=None)  # its tile lengths are numbers only
    assert "map-one" in Kernel(kernel.program, forgotten, kernel.device, [forgotten]).explain()
