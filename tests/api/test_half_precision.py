"""Programs of f16 and bf16 from end to end: what NumPy computes in f32, rounded where it ends."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl.array as cla
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.codegen.device.device import open_device
from egglift.costmodel.measurement.expected_results import TOLERANCE
from egglift.ir import types
from egglift.ir.signature import inputs_of
from egglift.ir.types import BF16, F16, F32, Scalar
from tests.deep import every

pytestmark = pytest.mark.short

of_both = pytest.mark.parametrize("t", [F16, BF16], ids=str)
ROWS, COLUMNS = 24, 40


def matrix(t: Scalar, seed: int, rows: int = ROWS, columns: int = COLUMNS) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(t.dtype)


def softmax(row: Any) -> Any:
    powers = el.exp(row - row.reduce(el.maximum, float("-inf")))
    return powers / powers.sum()


def softmax_rows(x: Any) -> Any:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def padded(x: Any) -> Any:
    y = np.pad(x, 1, "edge")
    return (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]) * np.float32(0.25)


def stencil(x: Any) -> Any:
    y = el.pad2d(1, 1, "clamp", x)
    rows, columns = ROWS, COLUMNS
    return (
        y[0:rows, 1 : columns + 1]
        + y[2 : rows + 2, 1 : columns + 1]
        + y[1 : rows + 1, 0:columns]
        + y[1 : rows + 1, 2 : columns + 2]
    ) * 0.25


#: programs of two matrices and, of the same numbers in f32, NumPy's
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "map": (lambda a, b: el.tanh(a) * b + 1, lambda a, b: np.tanh(a) * b + 1),
    "sum": (lambda a, b: a.sum(), lambda a, b: a.sum()),
    "sums of columns": (lambda a, b: (a * b).sum(0), lambda a, b: (a * b).sum(0)),
    "mean and largest": (lambda a, b: a.mean(1) + b.max(1), lambda a, b: a.mean(1) + b.max(1)),
    "product": (lambda a, b: a @ b.T, lambda a, b: a @ b.T),
    "product with a vector": (lambda a, b: a @ b[0], lambda a, b: a @ b[0]),
    "rows of softmax": (lambda a, b: a.map(softmax), lambda a, b: softmax_rows(a)),
    "stencil": (lambda a, b: stencil(a), lambda a, b: padded(a)),
    "transposed": (lambda a, b: a.T, lambda a, b: a.T),
    "choice": (lambda a, b: el.where(a > b, a, b * 2), lambda a, b: np.where(a > b, a, b * 2)),
}


def agree(found: Any, want: Any, t: Scalar) -> bool:
    """Up to a few roundings, relative to the largest: partial sums may be stored on the way."""
    x, y = np.asarray(found, np.float64), np.asarray(want, np.float64)
    return bool(np.all(np.abs(x - y) <= TOLERANCE[t.name] * np.maximum(np.abs(y), np.sqrt(np.mean(y**2)))))


@pytest.mark.parametrize(("name", "t"), every(2, PROGRAMS, (F16, BF16)), ids=str)
def test_kernels_compute_what_numpy_computes_in_f32(name: str, t: Scalar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egglift.search.TRIES", 4)  # which candidates there are is not asked
    program, numpy = PROGRAMS[name]
    a, b = matrix(t, 1), matrix(t, 2)
    e = program(el.array("a", t, (ROWS, COLUMNS)), el.array("b", t, (ROWS, COLUMNS)))
    used = {n: v for n, v in (("a", a), ("b", b)) if n in inputs_of(el.as_program(e))}
    want = numpy(a.astype(np.float32), b.astype(np.float32))
    interpreted = el.interpret(e, **used)
    assert interpreted.dtype == t.dtype and agree(interpreted, want, t)
    kernel = el.optimize(e, "pocl", measure="none", cache=False)
    found = kernel(**used)
    assert found.dtype == t.dtype and agree(found, want, t)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data(), st.sampled_from([F16, BF16]))
def test_the_interpreter_is_numpy_for_single_operations(data: st.DataObject, t: Scalar) -> None:
    bits = data.draw(st.lists(st.integers(0, (1 << 16) - 1), min_size=2, max_size=20))
    x = np.array(bits, np.uint16).view(t.dtype)
    y = x[::-1].copy()
    f = data.draw(
        st.sampled_from([np.add, np.subtract, np.multiply, np.divide, np.maximum, np.sqrt, np.floor, np.less])
    )
    arrays = (x, y)[: f.nin]
    with np.errstate(all="ignore"):
        want = f(*(v.astype(np.float32) for v in arrays))
        want = want.astype(t.dtype) if want.dtype == np.float32 else want
    inputs = dict(zip("xy", arrays))
    found = el.interpret(f(*(el.array(n, t, len(x)) for n in inputs)), **inputs)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found.astype(np.float64), want.astype(np.float64))


def test_types_meet_as_in_numpy_and_bf16_as_f16_does() -> None:
    h, b = el.array("h", F16, 4), el.array("b", BF16, 4)
    assert [(h + el.array("o", o, 4)).type.element for o in (el.f32, el.i8, el.i16, el.i32)] == [
        el.f32,
        el.f16,
        el.f32,
        el.f64,
    ]
    assert [(b + el.array("o", o, 4)).type.element for o in (el.f32, el.i8, el.i16, el.i32, el.f16)] == [
        el.f32,
        el.bf16,
        el.f32,
        el.f64,
        el.f32,
    ]
    assert (h * 2.5).type == (h + 1).type == h.type and (b * 2.5).type == (b + 1).type == b.type
    assert (h @ h).type == F16 and (b @ b).type == BF16 and (b @ el.array("x", F32, 4)).type == F32


@of_both
def test_jit_takes_the_type_of_its_arrays(t: Scalar) -> None:
    @el.jit(device="pocl", measure="none", cache=False)
    def scaled(x: Any, by: Any) -> Any:
        return x * by

    x = matrix(t, 3)[0]
    found = scaled(x, 0.5)
    assert found.dtype == t.dtype and (found == (x.astype(np.float32) * 0.5).astype(t.dtype)).all()


@of_both
def test_kernels_are_saved_with_their_constants(t: Scalar, tmp_path: Path) -> None:
    weights = matrix(t, 4)[0]
    e = el.array("x", t, COLUMNS) * el.literal(weights) + 0.1
    kernel = el.optimize(e, "pocl", measure="none", cache=False)
    kernel.save(tmp_path / "kernel")
    x = matrix(t, 5)[0]
    assert el.loads(el.dumps(e)) is el.as_program(e)
    assert el.load(tmp_path / "kernel", device="pocl")(x).tobytes() == kernel(x).tobytes()


@of_both
def test_arrays_on_the_device_are_taken_and_given(t: Scalar) -> None:
    device = open_device("pocl")
    kernel = el.optimize(el.array("x", t, COLUMNS) * 2, device, measure="none", cache=False)
    x = matrix(t, 6)[0]
    there = cla.empty(device.queue, COLUMNS, t.dtype)
    device.upload(x)
    there.view(np.uint16).set(x.view(np.uint16))
    found = kernel(there)
    assert found.dtype == t.dtype
    assert (found.view(np.uint16).get().view(t.dtype) == x * t.dtype.type(2)).all()
    out = np.empty(COLUMNS, t.dtype)
    kernel(x, out=out)
    assert (out == x * t.dtype.type(2)).all()


def test_without_ml_dtypes_bf16_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name == "ml_dtypes":
            raise ImportError("No module named 'ml_dtypes'")
        return kept(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "ml_dtypes", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    types.bfloat16.cache_clear()
    try:
        x = el.array("x", el.bf16, 4)  # what needs no array needs no package
        assert (x + 1.5).type == x.type and el.dumps(x + 1.5)
        with pytest.raises(el.PackageMissing, match=r"pip install 'egglift\[bf16\]'"):
            el.interpret(x + 1, x=[1.0, 2.0, 3.0, 4.0])
    finally:
        monkeypatch.undo()
        types.bfloat16.cache_clear()


def test_allowing_tf32_is_part_of_a_kernel_and_of_its_file(tmp_path: Path) -> None:
    e = el.array("A", F32, (16, 16)) @ el.array("B", F32, (16, 16))
    kernels = [el.optimize(e, "pocl", measure="none", cache=False, allow_tf32=tf32) for tf32 in (False, True)]
    assert [k.options.laws.tf32 for k in kernels] == [False, True]
    kernels[1].save(tmp_path / "kernel")
    assert el.load(tmp_path / "kernel", device="pocl").options == kernels[1].options != kernels[0].options
    assert kernels[1].explain()
