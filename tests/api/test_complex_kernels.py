"""Kernels of complex numbers take and give NumPy's and pyopencl's arrays as they are, and compute what NumPy does."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl.array as cla
import pytest

import egglift as el
from egglift.codegen.device.device import open_device
from egglift.ir.errors import ArgumentError
from egglift.ir.signature import inputs_of
from egglift.length_kernel import LengthKernel

pytestmark = pytest.mark.short

RNG = np.random.default_rng(8)


def numbers(*shape: int, dtype: str = "c8") -> Any:
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(dtype)


N = 96
A, B = numbers(N), numbers(N)


def optimised(e: Any, **options: Any) -> Any:
    return el.optimize(e, "pocl", measure="none", only=["schedules"], cache=False, **options)


@cache
def multiplied() -> Any:
    """x * y + z of two arrays and a number."""
    x, y = el.array("x", el.c64, N), el.array("y", el.c64, N)
    return optimised(x * y + el.scalar("z", el.c64))


def close(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * float(np.abs(want).max()))


WANT = A * B + np.complex64(1 - 2j)


def test_numpy_arrays_go_in_and_out_as_they_are() -> None:
    k = multiplied()
    close(k(A, B, 1 - 2j), WANT)
    close(k(x=A, y=B, z=np.complex64(1 - 2j)), WANT)
    close(k(A.real, B, 2), A.real * B + np.complex64(2))
    wide = np.repeat(A, 2)
    close(k(wide[::2], B[::-1], 1 - 2j), A * B[::-1] + np.complex64(1 - 2j))
    assert str(k).startswith("Kernel(x: [c64]96, y: [c64]96, z: c64 -> [c64]96")


def test_results_go_into_arrays_that_are_given() -> None:
    k, out = multiplied(), np.empty(N, "c8")
    assert k(A, B, 1 - 2j, out=out) is out
    close(out, WANT)
    own = A.copy()
    k(own, B, 1 - 2j, out=own)  # an element of x is read for both parts of the result's
    close(own, WANT)
    with pytest.raises(ArgumentError, match="the result is complex64"):
        k(A, B, 1, out=np.empty((N, 2), "f4"))
    with pytest.raises(ArgumentError, match="dtype complex128"):
        k(A.astype("c16"), B, 1)


def test_complex_arrays_go_to_memory_of_a_devices_own() -> None:
    k = multiplied()
    caller = k._prepared()
    assert caller._in_place
    try:
        caller._in_place = False
        close(k(A, B, 1 - 2j), WANT)
        close(k(A, B, 1 - 2j, out=np.empty(N, "c8")), WANT)
    finally:
        caller._in_place = True


def test_arrays_on_the_device_are_complex() -> None:
    k, queue = multiplied(), open_device("pocl").queue
    x, y = (cla.to_device(queue, v) for v in (A, B))
    found = k(x, y, 1 - 2j)
    assert isinstance(found, cla.Array) and found.dtype == np.complex64
    close(found.get(), WANT)
    k(x, y, 1 - 2j, out=found)
    k(x, y, 1 - 2j, out=x)
    close(x.get(), WANT)
    close(k(cla.to_device(queue, A), y[:], cla.to_device(queue, np.array(1 - 2j, "c8"))).get(), WANT)


def test_bound_calls_take_complex_arrays() -> None:
    x, queue = A.copy(), open_device("pocl").queue
    launch = multiplied().bind(x, B, 1 - 2j)
    close(launch(), WANT)
    x[:] = B
    close(launch(), B * B + np.complex64(1 - 2j))
    close(multiplied().bind(cla.to_device(queue, A), cla.to_device(queue, B), 1 - 2j)().get(), WANT)


def test_kernels_of_complex_numbers_are_kept(tmp_path: Path) -> None:
    k = multiplied()
    k.save(tmp_path / "kernel")
    for again in (el.load(tmp_path / "kernel", "pocl"), pickle.loads(pickle.dumps(k)), k.use(0)):
        close(again(A, B, 1 - 2j), WANT)
    assert k.profile(A, B, 1j).seconds > 0 and k.profile().bytes == 3 * A.nbytes + 8
    (launch,) = k.kernels
    assert [a.shape for a in launch.arguments] == [(N, 2), (N, 2), (2,), (N, 2)]
    assert k.explain()
    with pytest.raises(ArgumentError, match="only real numbers"):
        k.with_constants(z=1)
    with pytest.raises(ArgumentError, match="complex numbers, which are computed on one device"):
        el.optimize(k.program, devices=["pocl", "pocl"])


def test_jit_takes_complex_arrays() -> None:
    @el.jit(device="pocl", measure="none", only=["schedules"], cache=False)
    def turned(x: Any, a: Any, b: Any) -> Any:
        return x.T * a + b

    m = numbers(4, 6)
    close(turned(m, 2.5, 1j), m.T * 2.5 + 1j)
    assert {n: str(t) for n, t in inputs_of(turned.program(m, 2.5, 1j)).items()} == {
        "a": "f32",
        "b": "c64",
        "x": "[[c64]6]4",
    }
    close(turned(m.real, np.complex64(1j), 1.0), m.real.T * np.complex64(1j) + 1.0)
    assert len(turned.kernels) == 2


def test_lengths_of_complex_arrays_are_known_at_calls() -> None:
    n = el.size("n", min=1, like=64)
    x, y = el.array("x", el.c64, n), el.array("y", el.c64, n)
    k = optimised(x * y.conj())
    assert isinstance(k, LengthKernel)
    for count in (1, 7, 64, N):
        close(k(A[:count], B[:count]), A[:count] * B[:count].conj())
    with pytest.raises(ArgumentError, match="n is 3 where"):
        k(A[:3], B[:4])


# ---------------------------------------------------------------------------------------- whole programs


def test_a_fourier_transform_is_a_product_with_a_matrix() -> None:
    n, rows = 16, 3
    turns = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n).astype("c8")
    given = numbers(rows, n)
    k = optimised(el.array("x", el.c64, (rows, n)) @ turns)
    close(k(given), np.fft.fft(given).astype("c8"))


def test_a_mandelbrot_set_is_numpys() -> None:
    def steps(start: Any) -> Any:
        def step(z: Any, count: Any) -> Any:
            inside = z.real * z.real + z.imag * z.imag < 4
            return el.where(inside, z * z + start, z), count + inside.astype("i4")

        return el.iterate(12, lambda state: el.tuple(*step(*state)), el.tuple(start, el.literal(0, "i4")))[1]

    grid = (np.linspace(-2, 1, 12)[None, :] + 1j * np.linspace(-1, 1, 8)[:, None]).astype("c8")
    z, counts = grid, np.zeros(grid.shape, "i4")
    for _ in range(12):
        inside = z.real * z.real + z.imag * z.imag < 4
        z, counts = np.where(inside, z * z + grid, z), counts + inside.astype("i4")
    x = el.array("x", el.c64, grid.shape)
    np.testing.assert_array_equal(optimised(x.map(lambda row: row.map(steps)))(grid), counts)


def test_a_gate_acts_on_one_qubit_of_a_state() -> None:
    gate = np.array([[1, 1j], [1j, 1]], "c8") / np.float32(2**0.5)
    state, qubits, place = numbers(2**5), 5, 2
    x = el.array("x", el.c64, 2**qubits).reshape((2**place, 2, 2 ** (qubits - place - 1)))
    k = optimised(el.einsum("ij,ajb->aib", gate, x).reshape((2**qubits,)))
    close(k(state), np.einsum("ij,ajb->aib", gate, state.reshape(2**place, 2, -1)).reshape(-1))


def test_a_filter_with_complex_weights_is_numpys() -> None:
    weights, signal = numbers(5), numbers(64)
    x = el.array("x", el.c64, 64)
    k = optimised(x.slide(5).map(lambda window: (window * weights[::-1].copy()).sum()))
    close(k(signal), np.convolve(signal, weights, "valid"))
