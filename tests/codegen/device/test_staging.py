"""Arrays on their way to a device with memory of its own: PoCL's stands for one, as all that differs is the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import staging
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, open_device, opencl
from egglift.codegen.device.staging import Staging
from tests.gates import queue

pytestmark = pytest.mark.short

CHUNK = 1 << 12
#: a part of a chunk, whole ones, as many as there are chunks and more, and an odd rest
SIZES = [1, 7, CHUNK - 1, CHUNK, 3 * CHUNK, 10 * CHUNK + 5]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "CHUNK", CHUNK)
    monkeypatch.setattr(staging, "LARGE", CHUNK // 4)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device that seems to have memory of its own."""
    for name in ("host_memory", "calls"):
        monkeypatch.setattr(f"egglift.codegen.device.{name}.LARGE", CHUNK // 4)
    monkeypatch.setattr("egglift.codegen.device.host_memory.is_shared", lambda _: False)
    return open_device("pocl").sibling()


@pytest.mark.parametrize("kind", ["in order", "out of order"])
@pytest.mark.parametrize("size", SIZES)
def test_bytes_go_there_and_come_back(size: int, kind: str) -> None:
    device = open_device("pocl")
    there, values = Staging(device), np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    chain = Chain(queue(device.context, kind))
    buffer = there.upload(chain, values)
    pinned, ordinary = there.pool.array(size), np.empty(size, np.uint8)
    for into in (pinned, ordinary):
        there.download(chain, buffer, into)
        np.testing.assert_array_equal(into, values)


def test_an_array_may_be_changed_when_it_is_on_its_way(gates: Any) -> None:
    device = open_device("pocl")
    gate, home = gates(device.context), queue(device.context, "in order")
    there, values = Staging(device), np.arange(2 * CHUNK, dtype=np.uint8)
    kept = values.copy()
    chain = Chain(home, [gate.event])
    buffer = there.upload(chain, values)
    values[:] = 0
    gate.open()
    into = np.empty_like(values)
    there.download(chain, buffer, into)
    np.testing.assert_array_equal(into, kept)


def test_calls_go_through_pinned_memory(apart: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 5 * CHUNK + 3
    x, a = el.array("x", el.f32, n), el.scalar("a", el.f32)
    k = el.optimize((a * x + 1, x > 5, x.sum()), apart, measure="none", cache=False)
    X = np.arange(n, dtype=np.float32)
    monkeypatch.setattr(Device, "upload", lambda *_: pytest.fail("not pinned"))
    y, mask, total = k(2.0, X)
    np.testing.assert_array_equal(y, 2 * X + 1)
    np.testing.assert_array_equal(mask, X > 5)
    assert total == X.sum(dtype=np.float64).astype(np.float32) or abs(total / X.sum() - 1) < 1e-5
    assert apart.staging.pool.holds(y)
    again = k(0.5, y)[0]
    np.testing.assert_array_equal(again, 0.5 * y + 1)
    out = (np.empty_like(X), np.empty(n, bool), np.empty((), np.float32))
    assert k(3.0, X, out=out) is out
    np.testing.assert_array_equal(out[0], 3 * X + 1)
    np.testing.assert_array_equal(k(1.0, X, out=(X, *out[1:]))[0], np.arange(n) + 1)


def test_results_take_pinned_memory_that_is_free(apart: Device) -> None:
    k = el.optimize(el.array("x", el.u8, 1 << 17) + 1, apart, measure="none", cache=False)
    first = k(np.zeros(1 << 17, np.uint8))
    address = first.__array_interface__["data"][0]
    second = k(first)
    assert second.__array_interface__["data"][0] != address and (second == 2).all()
    del first
    assert k(second).__array_interface__["data"][0] == address


def test_threads_do_not_take_each_others_chunks(apart: Device) -> None:
    n = 9 * CHUNK
    k = el.optimize(el.array("x", el.i32, n) + 1, apart, measure="none", cache=False)
    with ThreadPoolExecutor(4) as pool:
        for i, result in enumerate(pool.map(lambda i: k(np.full(n, i, np.int32)), range(12))):
            assert (result == i + 1).all()


def test_ordinary_memory_does_where_none_can_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    device, values, cl = open_device("pocl"), np.arange(3 * CHUNK, dtype=np.uint8), opencl()

    def none(*_: Any, **__: Any) -> Any:
        raise cl.MemoryError("enqueue_map_buffer")

    there, chain = Staging(device), Chain(device.queue)
    monkeypatch.setattr(cl, "enqueue_map_buffer", none)
    into = there.pool.array(values.nbytes)
    there.download(chain, there.upload(chain, values), into)
    np.testing.assert_array_equal(into, values)


@pytest.mark.parametrize("size", SIZES)
def test_without_pinned_memory_the_host_waits(size: int) -> None:
    device = open_device("pocl")
    there, values = Staging(device, pinned=False), np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    chain = Chain(device.queue)
    buffer, into = there.upload(chain, values), there.pool.array(size)
    there.download(chain, buffer, into)
    np.testing.assert_array_equal(into, values)


def test_pinned_memory_that_changes_bytes_is_not_used(monkeypatch: pytest.MonkeyPatch, apart: Device) -> None:
    fill = Staging._fill

    def wrong(self: Staging, target: Any, source: Any) -> None:
        fill(self, target, source)
        target[:1] ^= 1

    monkeypatch.setattr(Staging, "_fill", wrong)
    with pytest.warns(RuntimeWarning, match="pinned memory does not keep what is copied"):
        assert not staging.staging_of(apart).is_pinned
    x = np.arange(CHUNK, dtype=np.float32)
    kernel = el.optimize(el.array("x", el.f32, CHUNK) * 2.0, apart, measure="none", cache=False)
    np.testing.assert_array_equal(kernel(x), 2 * x)


def test_pinned_memory_that_keeps_bytes_is_used(apart: Device) -> None:
    assert staging.staging_of(apart).is_pinned
