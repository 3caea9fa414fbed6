"""What kernels that `optimize` gives take, and what they return and refuse, whichever was chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from tests.api.dot_products import RNG, X, Y, by_model, dot, vectors

pytestmark = pytest.mark.short


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test starts without records."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def product() -> el.Kernel:
    """What the model chooses for the dot product."""
    return by_model(dot(), cache=False)


# ---------------------------------------------------------------------------------------- the user's program


def test_the_program_of_the_documentation_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")
    n, m, k = 100, 20, 30
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    dot = el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(x, y)))
    A, B = el.array("A", el.f32, (m, k)), el.array("B", el.f32, (k, n))
    product = A.map(
        lambda row: B.T.map(lambda col: el.reduce(el.add, 0.0, el.zip(row, col).map(lambda p: p[0] * p[1])))
    )
    blur = el.map(lambda w: el.reduce(el.add, 0.0, w) / 3, el.slide(3, 1, el.pad(1, 1, "clamp", x)))
    a, b = (RNG.integers(-8, 9, s).astype(np.float32) for s in ((m, k), (k, n)))
    kernel = el.optimize(product, budget=0.5)
    C = kernel(A=a, B=b)
    np.testing.assert_array_equal(C, a @ b)
    u, v = X[:n], Y[:n]
    assert el.interpret(dot, x=u, y=v) == u @ v == el.optimize(dot, budget=0.5)(x=u, y=v)
    edges = np.pad(u, 1, mode="edge")
    np.testing.assert_allclose(
        el.optimize(blur, budget=0.5)(u), (edges[:-2] + edges[1:-1] + edges[2:]) / 3, rtol=1e-6, atol=1e-6
    )


# ---------------------------------------------------------------------------------------- what goes in and out


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> el.Kernel:
    """The sums of the rows of a matrix, and the matrix doubled."""
    A = el.array("A", el.f32, (6, 8))
    program = el.tuple(A.map(lambda row: el.reduce(el.add, 0.0, row)), 2 * A)
    return el.optimize(program, "pocl", measure="none", cache=False)


M = X[:48].reshape(6, 8)


@pytest.mark.parametrize(
    "a",
    [
        M,
        np.asfortranarray(M),
        np.repeat(M, 2, axis=1)[:, ::2],
        M[::-1, ::-1].copy()[::-1, ::-1],
        M.astype(">f4"),
        M.astype(np.int16),
        M.astype(np.float16),
        M.tolist(),
        M.view(np.ma.MaskedArray),
    ],
    ids=["plain", "fortran", "strided", "reversed", "big-endian", "i16", "f16", "list", "subclass"],
)
def test_arrays_of_all_kinds_are_taken(rows: el.Kernel, a: Any) -> None:
    sums, doubled = rows(a)
    np.testing.assert_array_equal(sums, M.sum(1))
    np.testing.assert_array_equal(doubled, 2 * M)
    assert sums.dtype == doubled.dtype == np.float32


def test_a_read_only_array_is_taken(rows: el.Kernel) -> None:
    a = M.copy()
    a.flags.writeable = False
    np.testing.assert_array_equal(rows(A=a)[0], M.sum(1))


def test_arrays_on_the_device_give_arrays_on_the_device(rows: el.Kernel) -> None:
    import pyopencl.array as cl_array

    a = cl_array.to_device(rows.device.queue, M)
    sums, doubled = rows(a)
    assert isinstance(sums, cl_array.Array)
    assert (sums.shape, doubled.shape) == ((6,), (6, 8))
    np.testing.assert_array_equal(sums.get(), M.sum(1))
    np.testing.assert_array_equal(rows(doubled)[1].get(), 4 * M)
    np.testing.assert_array_equal(rows(a.base_data)[1].get(), 2 * M)


def test_a_kernel_runs_on_the_users_queue() -> None:
    import pyopencl as cl
    import pyopencl.array as cl_array

    from egglift.codegen.device.device import open_device

    device = open_device("pocl").device
    queue = cl.CommandQueue(cl.Context([device]))
    kernel = el.optimize(dot(), queue, measure="none")
    x, y = (cl_array.to_device(queue, a) for a in (X, Y))
    result = kernel(x, y)
    assert result.queue == queue
    assert result.get() == X @ Y
    assert el.optimize(dot(), queue.context, measure="none")(X, Y) == X @ Y
    assert el.optimize(dot(), device, measure="none")(X, Y) == X @ Y


def test_scalars_come_out_as_numpy_scalars_and_go_in_as_numbers() -> None:
    a, b = el.scalar("a", el.f64), el.scalar("b", el.i32)
    total, flag = by_model(el.tuple(a + b, b > 2))(1.5, 3)
    assert (type(total), total) == (np.float64, 4.5)
    assert (type(flag), flag) == (np.bool_, True)


def test_results_are_nested_as_the_program_nests_them() -> None:
    x, y = vectors()
    program = el.tuple(el.tuple(x + y, el.reduce(el.add, 0.0, x)), el.zip(x, y).map(lambda q: (q[1], q[0])))
    (total, s), (b, a) = by_model(program)(X, Y)
    np.testing.assert_array_equal(total, X + Y)
    assert s == X.sum()
    np.testing.assert_array_equal(b, Y)
    np.testing.assert_array_equal(a, X)


@pytest.mark.parametrize("measure", ["none", "sample"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x + 1.0,
        lambda x: el.reduce(el.add, 2.0, x),
        lambda x: el.reduce(el.maximum, float("-inf"), x),
        lambda x: el.tuple(x * 2.0, el.reduce(el.mul, 1.0, x)),
        lambda x: el.concat(x, x),
        lambda x: x.map(lambda v: el.fill(2, v)),
        lambda x: el.zip(x, x).map(lambda q: (q[0], q[1] > 0)),
    ],
    ids=["map", "sum", "max", "both", "concat", "nested", "tuples"],
)
def test_arrays_of_length_nought(program: Any, measure: str) -> None:
    x = el.array("x", el.f32, 0)
    given = np.empty(0, np.float32)
    kernel = el.optimize(program(x), "pocl", measure=measure, budget=0.2)
    assert kernel.profile(given).seconds >= 0
    assert "on the device" in str(kernel.profile())
    got = kernel(given)
    want = el.interpret(program(x), x=given)
    for g, w in zip(got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want]):
        assert np.shape(g) == np.shape(w)
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)


def test_a_program_without_inputs_runs() -> None:
    kernel = by_model(el.reduce(el.add, 0, el.iota(1000, el.i64)))
    assert kernel() == 499500
    assert kernel.inputs == ()


def test_an_input_that_is_the_result_is_copied() -> None:
    x, _ = vectors()
    result = by_model(x)(X)
    np.testing.assert_array_equal(result, X)
    assert not np.shares_memory(result, X)


# ---------------------------------------------------------------------------------------- what is refused


def test_an_unknown_device_is_an_error_that_lists_all() -> None:
    with pytest.raises(el.DeviceError, match=r"no OpenCL device 'no such'; there are: .+"):
        el.optimize(dot(), "no such")
    with pytest.raises(el.DeviceError, match="a name or None; got int"):
        el.optimize(dot(), 7)


@pytest.mark.parametrize(
    ("program", "options", "error", "message"),
    [
        (dot(), {"measure": "all"}, el.ArgumentError, '"sample" or "none", not \'all\''),
        ("no program", {}, el.EggliftError, "no program"),
        (None, {}, el.EggliftError, "None"),
        (dot(), {"rules": ["(rewrite (Nonsense x) x)"]}, el.RuleError, "Nonsense"),
        (dot(), {"rules": ["(rewrite x"]}, el.RuleError, "parse error"),
    ],
    ids=["measure", "text", "None", "unknown pattern", "unbalanced"],
)
def test_what_cannot_be_optimised_is_an_error(program: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        el.optimize(program, "pocl", **({"measure": "none"} | options))


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, "missing: x, y; the program takes x, y"),
        ((X,), {}, "missing: y"),
        ((X, Y, X), {}, "3 arguments given, but the program takes 2"),
        ((X,), {"x": Y}, "by position and by name: x"),
        ((X, Y), {"z": X}, "unknown: z"),
        ((X, Y[:-1]), {}, r"input y has shape \(2999,\), but the program takes \(3000,\)"),
        ((X, Y.astype(np.float64)), {}, "input y has dtype float64, but the program takes float32"),
        ((X, Y.astype(np.int32)), {}, "dtype int32"),
        ((X, None), {}, "input y"),
    ],
)
def test_arguments_that_do_not_fit_are_named(product: el.Kernel, args: Any, named: Any, message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        product(*args, **named)


def test_a_large_accumulator_is_folded_by_one_work_item() -> None:
    rows = el.array("A", el.f32, (3, 20000))
    kernel = el.optimize(el.fold(lambda acc, row: acc + row, el.fill(20000, 0.0), rows), measure="none", cache=False)
    a = np.arange(60000, dtype=np.float32).reshape(3, 20000)
    assert np.array_equal(kernel(A=a), a.sum(axis=0))
