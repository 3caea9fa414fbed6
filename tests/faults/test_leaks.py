"""Memory stays what it is over many calls of each kind, over shapes optimised, and kernels loaded and dropped."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import host_memory
from egglift.codegen.device.device import open_device
from tests.gates import array, queue

pytestmark = [pytest.mark.short, pytest.mark.usefixtures("few_objects")]

N = 1 << 14
X = np.arange(N, dtype=np.float32)
#: calls, and the bytes by which memory may grow for each of them: an event of OpenCL's is larger, and so is an array.
#: Arrays that are kept are more than the slack after few calls, all else after very many
CALLS, BYTES, SLACK = 60, 200, 1 << 20
MANY = 10_000


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def growth(call: Callable[[], object], times: int) -> int:
    """By how many bytes memory grows over so many calls, when some have been made: of two tries, the less."""
    for _ in range(times // 4):
        call()
    found = []
    for _ in range(2):
        before = resident()
        for _ in range(times):
            call()
        found.append(resident() - before)
    return min(found)


@pytest.fixture(scope="module")
def kernel() -> Any:
    a, x = el.scalar("a", el.f32), el.array("x", el.f32, N)
    return el.optimize((a * x, (a * x).sum()), "pocl", measure="none", cache=False)


@pytest.fixture(scope="module")
def apart() -> Any:
    """A kernel of a device that seems to have memory of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_memory, "is_shared", lambda _: False)
        k = el.optimize(el.array("x", el.f32, 1 << 20) + 1, open_device("pocl").sibling(), measure="none", cache=False)
        k(np.zeros(1 << 20, np.float32))
    return k


@el.jit(device="pocl", measure="none", cache=False)
def sums(a: Any) -> Any:
    return a.sum(axis=1)


def ways(kernel: Any) -> dict[str, Callable[[], object]]:
    """Each way to call."""
    home, apart = kernel.device.queue, queue(kernel.device.context, "out of order")
    there, other = array(home, X), array(apart, X)
    number = array(home, np.array(2, np.float32))
    out = np.empty_like(X), np.empty((), np.float32)
    out_there = array(home, out[0]), array(home, out[1])
    launch, launch_there = kernel.bind(2.0, X, out=out), kernel.bind(2.0, there, out=out_there)
    square = np.ones((64, 64), np.float32)

    def refused() -> None:
        with pytest.raises(el.ArgumentError):
            kernel(2.0, X[1:])

    def fetched() -> None:
        kernel(2.0, there)[1].get()

    return {
        "NumPy": lambda: kernel(2.0, X),
        "a part that begins anywhere": lambda: kernel(2.0, np.append(X, X)[3 : N + 3]),
        "what is converted": lambda: kernel(2.0, X.astype(np.float16)),
        "NumPy with out": lambda: kernel(2.0, X, out=out),
        "on the device": fetched,
        "on an out-of-order queue": lambda: kernel(2.0, other)[1].get(),
        "a number on the device": lambda: kernel(number, there)[1].get(),
        "on the device with out": lambda: (kernel(2.0, there, out=out_there), home.finish()),
        "bound": launch,
        "bound on the device": lambda: (launch_there(), home.finish()),
        "jit": lambda: sums(square),
        "jit of another order": lambda: sums(square[:, ::2].T),
        "refused": refused,
    }


NAMES = (
    "NumPy",
    "a part that begins anywhere",
    "what is converted",
    "NumPy with out",
    "on the device",
    "on an out-of-order queue",
    "a number on the device",
    "on the device with out",
    "bound",
    "bound on the device",
    "jit",
    "jit of another order",
    "refused",
)


def test_growth_is_seen() -> None:
    kept: list[mmap] = []

    def grow() -> None:
        kept.append(mmap(-1, X.nbytes))  # of the system: what others have given up is not used again
        kept[-1].write(bytes([1]) * X.nbytes)

    assert growth(grow, CALLS) > SLACK + CALLS * BYTES


@pytest.mark.parametrize("way", NAMES)
def test_memory_is_flat_over_many_calls(kernel: Any, way: str) -> None:
    assert growth(ways(kernel)[way], CALLS) < SLACK + CALLS * BYTES


@pytest.mark.deep
@pytest.mark.parametrize("way", NAMES)
def test_memory_is_flat_over_ten_thousand_calls(kernel: Any, way: str) -> None:
    assert growth(ways(kernel)[way], MANY) < SLACK + MANY * BYTES


def test_memory_is_flat_where_a_device_has_its_own(apart: Any) -> None:
    values = np.zeros(1 << 20, np.float32)
    assert growth(lambda: apart(values), 20) < 8 << 20  # two arrays


def loaded(path: Path) -> Callable[[], object]:
    return lambda: el.load(path, "pocl")(2.0, X)


def test_memory_is_flat_over_kernels_loaded_and_dropped(kernel: Any, tmp_path: Path) -> None:
    kernel.save(tmp_path / "k")
    assert growth(loaded(tmp_path / "k"), 8) < 24 << 20


@pytest.mark.deep
def test_memory_is_flat_over_a_hundred_kernels_loaded(kernel: Any, tmp_path: Path) -> None:
    kernel.save(tmp_path / "k")
    assert growth(loaded(tmp_path / "k"), 100) < 100 << 20


@pytest.mark.deep
def test_memory_is_flat_over_five_hundred_shapes_optimised() -> None:
    lengths = iter(range(1000, 10_000))

    def optimised() -> None:
        x = el.array("x", el.f32, next(lengths))
        el.optimize(x.sum(), "pocl", measure="none", cache=False)

    assert growth(optimised, 200) < 200 << 20
