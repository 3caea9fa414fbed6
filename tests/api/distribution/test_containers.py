"""Vectors and matrices stay on devices from kernel to kernel; what is written reaches them, what is read comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device
from egglift.distribution import held
from egglift.ir.errors import ArgumentError, ShapeError
from tests import several
from tests.api.distribution.programs import PROGRAMS, jacobi

Three = Callable[..., Any]
N = 30


@contextmanager
def transfers() -> Iterator[Counter[str]]:
    """Counts the bytes that go to devices, come back, and are copied within a device."""
    seen: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        upload, write, copy = Device.upload, held.write_bytes, held.copy_bytes
        read, read_into = held.read_elements, held.read_bytes

        def uploaded(self: Device, array: Any) -> Any:
            seen["to"] += array.nbytes
            return upload(self, array)

        def written(device: Device, to: Any, at: int, array: Any) -> None:
            seen["to"] += array.nbytes
            write(device, to, at, array)

        def copied(*args: Any) -> None:
            seen["within"] += args[-1]
            copy(*args)

        def got(*args: Any) -> Any:
            found = read(*args)
            seen["back"] += found.nbytes
            return found

        def got_into(device: Device, source: Any, at: int, into: Any) -> None:
            seen["back"] += into.nbytes
            read_into(device, source, at, into)

        patch.setattr(Device, "upload", uploaded)
        patch.setattr(held, "read_bytes", got_into)
        patch.setattr(held, "write_bytes", written)
        patch.setattr(held, "read_elements", got)
        patch.setattr(held, "copy_bytes", copied)
        yield seen


def chain_of_kernels() -> tuple[list[int], bool, str]:
    """Bytes to the devices for each of three calls, is the result right, and where it is before it is looked at."""
    x = el.array("x", el.f32, N)
    double = several.kernel(x.map(lambda v: 2 * v))
    given = np.arange(N, dtype=np.float32)
    moved, value = [], el.Vector(given)
    for _ in range(3):
        with transfers() as seen:
            value = double(value)
            moved.append(seen["to"])
            assert not seen["back"] and not seen["within"]
    where = value.distribution
    return moved, bool(np.array_equal(np.asarray(value), 8 * given)), where


def test_results_are_passed_on_without_transfers(three: Three) -> None:
    moved, right, where = three(chain_of_kernels)
    assert moved == [4 * N, 0, 0] and right
    assert where == "block 0..10, 10..20, 20..30"


def written_between() -> tuple[float, float, int]:
    kernel, x = several.kernel(PROGRAMS["total"](N)), el.Vector(np.ones(N, np.float32))
    before = kernel(x)
    with transfers() as seen:
        kernel(x)
    again = seen["to"]
    x[0] = 11
    return float(before), float(kernel(x)), again


def test_what_is_written_on_the_host_reaches_the_devices(three: Three) -> None:
    assert three(written_between) == (30, 40, 0)


def copied_in(steps: int) -> tuple[int, int]:
    """Bytes that go to devices, and back, while an iteration runs, but for borders."""
    kernel = several.kernel(jacobi(N, "clamp", steps), 3)
    x = el.Matrix(np.ones((N, 8), np.float32))
    with transfers() as seen:
        kernel(x)
    return seen["to"], seen["back"]


def test_between_steps_nothing_but_borders_is_copied(three: Three) -> None:
    windows = (N + 2 * 2) * 8 * 4  # the rows at both ends are repeated on the devices themselves
    assert three(copied_in, 1) == three(copied_in, 7) == (windows + 2 * 8 * 4, 0)


def gathered_rows() -> bool:
    """A result in blocks of 10 is read in blocks and as a whole by another kernel."""
    x = el.array("x", el.f32, N)
    double = several.kernel(x.map(lambda v: 2 * v))
    centred = several.kernel(PROGRAMS["centred"](N), 2)
    given = np.arange(N, dtype=np.float32)
    found = centred(double(el.Vector(given)))
    return bool(np.allclose(found, 2 * given - 2 * given.mean()))


def test_another_distribution_is_made_of_what_is_there(three: Three) -> None:
    assert three(gathered_rows)


def pairs() -> tuple[str, bool]:
    kernel = several.kernel(PROGRAMS["black_scholes"](N))
    spot = np.linspace(0.5, 1, N, dtype=np.float32)
    calls, puts = kernel(el.Vector(spot))
    return type(puts).__name__, bool(np.allclose(calls - puts[:], spot - np.float32(0.98), atol=1e-5))


def test_arrays_of_tuples_are_a_container_for_each_component(three: Three) -> None:
    assert three(pairs) == ("Vector", True)


def test_a_container_is_an_array_to_numpy() -> None:
    m = el.Matrix([[1.0, 2.0], [3.0, 4.0]])
    assert (m.shape, m.dtype, len(m), m.distribution) == ((2, 2), np.float64, 2, "host")
    assert np.array_equal(np.asarray(m), [[1, 2], [3, 4]]) and m[1, 0] == 3
    m[0] = 0
    assert np.sum(m) == 7 and [row[1] for row in m] == [0, 4]


def test_a_vector_has_one_dimension() -> None:
    with pytest.raises(ShapeError, match=r"a Vector has 1 dimensions, and not shape \(2, 2\)"):
        el.Vector(np.ones((2, 2)))


def wrong_container() -> str:
    with pytest.raises(ArgumentError) as caught:
        several.kernel(PROGRAMS["total"](N))(el.Vector(np.ones(N + 1, np.float32)))
    return str(caught.value)


def test_a_container_of_another_shape_is_refused(three: Three) -> None:
    assert three(wrong_container) == "input x is f32 of shape (31,), but the program takes f32 of shape (30,)"


def buffers_made(steps: int) -> int:
    """How many buffers three devices make for an iteration."""
    kernel, made, allocate = several.kernel(jacobi(N, "clamp", steps), 3), [], Device.allocate

    def counted(self: Device, size: int) -> Any:
        made.append(size)
        return allocate(self, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Device, "allocate", counted)
        kernel(np.ones((N, 8), np.float32))
    return len(made)


def made_anew(steps: int) -> int:
    """The same in a process of its own, where no earlier kernel has left any."""
    with several.process() as call:
        return int(call(buffers_made, steps))


def test_a_step_has_the_buffers_of_the_step_before() -> None:
    assert made_anew(7) == made_anew(5) > 0


def test_what_one_device_computes_stays_there_too() -> None:
    v = el.array("v", el.f32, N)
    double = el.optimize(v * 2.0, devices=[0], measure="none")
    given = el.Vector(np.arange(N, dtype=np.float32))
    first = double(given)
    with transfers() as seen:
        again = double(first).wait()
    assert not seen["to"] and not seen["back"] and again.distribution == f"block 0..{N}"
    np.testing.assert_array_equal(again, 4 * given.numpy())


def test_one_device_sums_what_it_has() -> None:
    v = el.array("v", el.f32, N)
    total, given = el.optimize(v.sum(), devices=[0], measure="none"), el.Vector(np.arange(N, dtype=np.float32))
    assert total(given) == N * (N - 1) / 2
    with transfers() as seen:
        assert total(given) == N * (N - 1) / 2
    assert not seen["to"]
