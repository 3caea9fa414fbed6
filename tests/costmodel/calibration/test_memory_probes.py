"""Probes do the work that their rates are computed from: every result is recomputed in NumPy.

Those for GPUs run here too, on a small scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.device.execute import build
from egglift.codegen.kernel.imperative import Plan
from egglift.codegen.opencl.natives import Natives
from egglift.costmodel.calibration import arithmetic_probes, memory_probes
from egglift.costmodel.calibration.memory_rates import _chain_of_indices
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.profiles.profile import load_profile


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def run(device: Device, plan: Plan, **inputs: Any) -> np.ndarray[Any, Any]:
    """The probe's result."""
    shown = replace(plan, temporaries=(), outputs=plan.temporaries)
    given = {k: [np.array(v, np.int32) if isinstance(v, list) else v] for k, v in inputs.items()}
    return build(device, shown).run(given)[0]


def numbered(n: int) -> np.ndarray[Any, Any]:
    """Different numbers, small enough for exact sums."""
    return np.random.default_rng(0).permutation(n).astype(np.float32) % 512


@pytest.mark.parametrize("width", [1, 4, 16])
def test_a_cpu_reads_each_items_part_as_often_as_it_says(device: Device, width: int) -> None:
    x, groups, circle, first = numbered(1 << 12), 3, 8, 5
    y = run(device, memory_probes.read(x.size, width, False, groups), x=x, numbers=[24, 4, circle, first])
    parts = x[first * width : (first + groups * circle) * width].reshape(groups, circle, width)
    assert np.array_equal(y.reshape(groups, width), 3 * parts.sum(1))


@pytest.mark.parametrize(("step", "size"), [(512, 1000), (768, 1000), (768, 900), (256, 100)])
def test_reading_on_a_gpu_walks_in_a_circle(device: Device, step: int, size: int) -> None:
    x, first, count = numbered(1 << 12), 16, 8
    step %= size
    y = run(device, memory_probes.read(x.size, 4, True, 2), x=x, numbers=[count, step, size, first])
    places = (np.arange(512)[:, None] + step * np.arange(count)) % size
    assert np.array_equal(y.reshape(512, 4), x.reshape(-1, 4)[first:][places].sum(1))


@pytest.mark.parametrize("stride", [1, 4, 32])
def test_strided_loads_are_so_far_apart_and_go_on_a_line_further(device: Device, stride: int) -> None:
    x, line, count = numbered(1 << 12), 8, 8
    bits, per = (x.size // stride).bit_length() - 1, x.size // stride
    y = run(device, memory_probes.strided(x.size, True, 1), x=x, numbers=[count, stride, bits, line, 0])
    m = np.arange(count) * 256 + np.arange(256)[:, None]
    places = (m % per * stride + m // per * line) % x.size
    assert np.array_equal(y, x[places].sum(1))
    assert len(np.unique(places)) == min(m.size, x.size // min(stride, line)), "no place twice"


@pytest.mark.parametrize("stride", [1, 4, 32])
def test_strided_loads_of_a_cpu_are_one_walk_for_each_item(device: Device, stride: int) -> None:
    x, line, count, skip = numbered(1 << 12), 16, 8, 128
    bits, per = (x.size // stride).bit_length() - 1, x.size // stride
    y = run(device, memory_probes.strided(x.size, False, 2), x=x, numbers=[count, stride, bits, line, skip])
    m = np.arange(2) * count + skip
    start = m % per * stride + m // per * line
    assert np.array_equal(y, x[(start[:, None] + np.arange(count) * stride) % x.size].sum(1))


@pytest.mark.parametrize("gpu", [False, True])
def test_scattered_loads_go_everywhere(device: Device, gpu: bool) -> None:
    x, count, seed = numbered(1 << 12), 64, 7
    y = run(device, memory_probes.scattered(x.size, gpu, 1), x=x, numbers=[count, seed])
    h = (np.arange(y.size, dtype=np.uint32) + np.uint32(seed)) * np.uint32(2654435761)
    total, seen = np.zeros(y.size, np.float32), set[int]()
    for _ in range(count):
        h = h * np.uint32(1664525) + np.uint32(1013904223)
        places = (h >> np.uint32(6)) % x.size
        total += x[places]
        seen.update(places.tolist())
    assert np.array_equal(y, total)
    assert len(seen) > (0.9 * x.size if gpu else 0.9 * count)


@pytest.mark.parametrize(("gpu", "part"), [(False, 0), (False, 1), (True, 0)])
def test_a_copy_copies_its_part(device: Device, gpu: bool, part: int) -> None:
    x, parts = numbered(1 << 12), 1 if gpu else 2
    size = x.size // parts
    y = run(device, memory_probes.copy(x.size, parts, 4, gpu, 2), x=x, numbers=[part * size // 4])
    assert np.array_equal(y[part * size :][:size], x[part * size :][:size])


@pytest.mark.parametrize("stride", [1, 8, 32])
def test_local_reads_are_so_many_words_apart(device: Device, stride: int) -> None:
    y = run(device, memory_probes.local_strided(64, 1), numbers=[16, stride])
    at = (np.arange(64)[:, None] * stride + np.array([0, 8])) & 4095
    assert np.array_equal(y, (at[:, :, None] + np.arange(8)).sum((1, 2)))


def test_a_chain_of_indices_is_one_cycle_and_is_followed(device: Device) -> None:
    after = _chain_of_indices(64)
    place, seen = 0, []
    for _ in range(64):
        place = int(after[place])
        seen.append(place)
    assert sorted(seen) == list(range(64))
    for start, end in ((0, seen[4]), (seen[1], seen[6])):
        assert run(device, memory_probes.chase(64, 5), x=after, numbers=np.array([start], np.int32))[0] == end


def stepped(type: str, op: str, steps: int, items: int) -> np.ndarray[Any, Any]:
    """The sum of the chains after some steps, for each work-item."""
    t = np.dtype({"f": "float32", "i": "int32"}[type[0]])
    a, r = [(np.arange(items) + k + 2).astype(t) for k in range(arithmetic_probes.CHAINS)], t.type(3)
    for _ in range(steps):
        for k in range(arithmetic_probes.CHAINS):
            b = a[(k + 1) % arithmetic_probes.CHAINS]
            match op:
                case "add":
                    a[k] = a[k] + b
                case "mul":
                    a[k] = a[k] * b
                case "fma":
                    a[k] = a[k] * r + r
                case "div":
                    a[k] = r // (a[k] | 1) if type == "i32" else r / a[k]
                case "minimum":
                    a[k] = np.minimum(a[k], b)
                case "convert":
                    a[k] = a[k] + r
    return sum(a[1:], a[0])


@pytest.mark.parametrize(
    ("type", "op"),
    [
        *(("f32", op) for op in ("add", "fma", "div", "minimum", "convert")),
        *(("i32", op) for op in ("add", "mul", "div")),
    ],
)
@pytest.mark.parametrize("gpu", [False, True])
def test_chains_take_every_step(device: Device, type: str, op: str, gpu: bool) -> None:
    plan, operations = arithmetic_probes.chain(type, op, gpu, 1, Natives())
    items = 256 if gpu else 1
    y = run(device, plan, numbers=[3, 3]).reshape(items, -1)
    assert operations == y.size * arithmetic_probes.CHAINS * (2 if op == "convert" else 1)
    with np.errstate(over="ignore"):
        assert np.allclose(y, stepped(type, op, 3, items)[:, None], rtol=1e-5)


def test_numbers_taken_in_turn_give_a_time(device: Device) -> None:
    rig = Rig(device, load_profile(device))
    probe = rig.build(memory_probes.scattered(1 << 12, False, 2))
    x = rig.filled(1 << 12)
    for turns in ([[4, 0]], [[4, 0], [4, 8]]):
        assert 0 < rig.seconds_in_turn(probe, turns, 0.001, x=x) < 10
