"""Plans on queues that run their commands in order, and on others.  The plans are written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, NdArray, open_device, opencl
from egglift.codegen.device.execute import Scratch, build
from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.types import F32
from tests.gates import queue

KINDS = ("in order", "out of order")
N = 1 << 12
X = np.arange(N, dtype=np.float32) % 7

#: in the end d[i] = 2 * s[N - 1 - i] + 1, after a while
TURN = """kernel void turn(global const float *s, global float *d) {
  int i = get_global_id(0); float v = s[N - 1 - i];
  for (int k = 0; k < WORK; ++k) v = v * 0.5f + 3.0f * (k & 1);
  d[i] = 2 * s[N - 1 - i] + (v < 1e9f);
}
"""


def turned(x: NdArray, times: int = 1) -> NdArray:
    for _ in range(times):
        x = 2 * x[::-1] + 1
    return x


def plan(*steps: str, work: int = 2000) -> Plan:
    """Launches from one buffer to another, as in "xt": x is the input, y the result, others are temporaries."""
    buffers = {name: Buffer(name, "global", F32, N) for name in "xytu"}
    source = TURN.replace("N", str(N)).replace("WORK", str(work))
    kernel = PlannedKernel("turn", source, (buffers["x"], buffers["y"]), (N,), (16,), ())
    launches = tuple((0, (buffers[a], buffers[b])) for a, b in steps)
    temporaries = tuple(buffers[name] for name in "tu" if name in "".join(steps))
    return Plan((kernel,), {"x": (buffers["x"],)}, temporaries, (buffers["y"],), launches)


#: how many launches, each of which needs the one before: the last two use each temporary again
PLANS = {"one kernel": ["xy"], "two": ["xt", "ty"], "an iteration": ["xt", *["tu", "ut"] * 4, "ty"]}


@pytest.fixture(scope="module")
def context() -> Any:
    return open_device("pocl").context


def opened(context: Any, kind: str) -> Device:
    """A device whose queue is the caller's."""
    return open_device(queue(context, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_gives_its_result_on_every_kind_of_queue(context: Any, kind: str, name: str) -> None:
    executable = build(opened(context, kind), plan(*PLANS[name]))
    for seed in range(5):
        x = X + seed
        (found,) = executable.run({"x": [x]}, poison=seed % 2 == 0)
        np.testing.assert_array_equal(found, turned(x, len(PLANS[name])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PLANS)
def test_results_of_launches_that_are_not_waited_for(context: Any, gates: Any, kind: str, name: str) -> None:
    device = opened(context, kind)
    executable, gate = build(device, plan(*PLANS[name])), gates(context)
    found = []
    for seed in range(4):
        chain = Chain(device.queue, [gate.event])
        (result,) = executable.enqueue({"x": [device.upload(X + seed)]}, chain)
        assert result.event == chain.last
        found.append((chain, result))
    assert not gate.is_open
    gate.open()
    for seed, (chain, result) in enumerate(found):
        (y,) = (device.download(chain, result.buffer, F32, N),)
        np.testing.assert_array_equal(y, turned(X + seed, len(PLANS[name])))


def test_a_result_carries_the_event_of_its_last_use(context: Any) -> None:
    x, y, z = (Buffer(name, "global", F32, N) for name in "xyz")
    kernel = plan("xy").kernels[0]
    both = Plan((kernel,), {"x": (x,)}, (), (y, z, x), ((0, (x, y)), (0, (x, z))))
    device = opened(context, "out of order")
    chain = Chain(device.queue)
    first, second, third = build(device, both).enqueue({"x": [X]}, chain)
    assert len({first.event, second.event, third.event}) == 3
    assert third.event == chain.last
    device.finish(chain)


def test_launches_are_timed_one_after_the_other(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cl, waits, events = opencl(), list[Any](), list[Any]()
    launch = cl.enqueue_nd_range_kernel

    def watched(*args: Any, wait_for: Any = None) -> Any:
        waits.append(wait_for)
        events.append(launch(*args, wait_for=wait_for))
        return events[-1]

    executable = build(opened(context, "out of order"), plan("xt", "tu", "uy"))
    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", watched)
    executable.time({"x": [X]}, warmup=0, least=1, most=1)
    assert waits == [None, [events[0]], [events[1]]]


def test_timing_begins_when_its_inputs_are_there(context: Any, gates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cl, gate, begun = opencl(), gates(context), list[bool]()
    launch, finish = cl.enqueue_nd_range_kernel, Chain.finish

    def watched(*args: Any, **named: Any) -> Any:
        begun.append(gate.is_open)
        return launch(*args, **named)

    def opening(chain: Chain) -> None:
        gate.open()
        finish(chain)

    device = opened(context, "in order")
    executable, chain = build(device, plan("xy")), Chain(queue(context, "out of order"), [gate.event])
    copy = device.clone(chain, device.upload(X), 4 * N)
    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", watched)
    monkeypatch.setattr(Chain, "finish", opening)
    executable.time({"x": [copy]}, chain=chain, most=5)
    assert begun and all(begun)


# ---------------------------------------------------------------------------------------- temporaries


def test_temporaries_are_kept_for_the_next_launches(context: Any, gates: Any) -> None:
    device, buffer, gate = opened(context, "in order"), Buffer("t", "global", F32, N), gates(context)
    scratch, chain = Scratch((buffer,)), Chain(device.queue, [gate.event])
    memory = scratch.take(device, chain)[buffer]
    device.poison(chain, memory, F32, N)
    assert scratch.take(device, Chain(device.queue))[buffer] is memory
    gate.open()
    device.finish(device.queue)
    assert scratch.take(device, Chain(queue(context, "out of order")))[buffer] is memory


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_run_side_by_side_shares_no_temporaries(context: Any, gates: Any, kind: str) -> None:
    device, buffer, gate = opened(context, kind), Buffer("t", "global", F32, N), gates(context)
    other = device.queue if kind == "out of order" else queue(context, "in order")
    scratch, held = Scratch((buffer,)), Chain(device.queue, [gate.event])
    over = scratch.take(device, Chain(device.queue))[buffer]
    memory = scratch.take(device, held)[buffer]
    assert memory is over
    device.poison(held, memory, F32, N)
    assert scratch.take(device, Chain(other))[buffer] is not memory


def test_independent_launches_do_not_wait_for_each_other(context: Any, gates: Any) -> None:
    device, gate = opened(context, "out of order"), gates(context)
    executable = build(device, plan("xt", "tu", "uy"))
    held, free = Chain(device.queue, [gate.event]), Chain(device.queue)
    (first,) = executable.enqueue({"x": [device.upload(X)]}, held)
    (second,) = executable.enqueue({"x": [device.upload(X + 1)]}, free)
    np.testing.assert_array_equal(device.download(free, second.buffer, F32, N), turned(X + 1, 3))
    assert not gate.is_open
    gate.open()
    np.testing.assert_array_equal(device.download(held, first.buffer, F32, N), turned(X, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_is_given_up_lives_while_it_is_used(context: Any, gates: Any, kind: str) -> None:
    device, gate = opened(context, kind), gates(context)
    chain = Chain(device.queue, [gate.event])
    (result,) = build(device, plan("xt", "tu", "uy")).enqueue({"x": [device.upload(X)]}, chain)
    others = [device.upload(np.full(N, -1, np.float32)) for _ in range(64)]  # where freed memory would lie
    gate.open()
    np.testing.assert_array_equal(device.download(chain, result.buffer, F32, N), turned(X, 3))
    assert others
