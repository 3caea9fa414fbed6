"""Iterations exchange borders between steps: windows of the state on each device, and what moves between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device import borders
from egglift.codegen.device.borders import Border, Exchange
from egglift.codegen.device.device import NO_ROOM, Device, opencl
from egglift.codegen.device.rows import read_bytes, upload
from egglift.costmodel.links.links import Links
from egglift.distribution.building import Request, distributed_kernel
from egglift.distribution.iterating import Window, windows_of
from egglift.distribution.kernel import DistributedKernel
from egglift.distribution.opening import open_devices
from egglift.distribution.shares import Share, shares_of
from egglift.egraph.distribution.distribute import distributed
from egglift.ir.errors import OutOfMemory
from egglift.steps import time_steps
from tests import several
from tests.api.distribution.programs import agree, jacobi, values
from tests.deep import every

Three = Callable[..., Any]
MODES = ["clamp", "mirror", "wrap", ("constant", 0.5)]
#: elements of a row that begins where a part of a buffer may
WIDE = 64


def heat(n: int, m: int, mode: Any, steps: int, far: int = 1) -> Any:
    """Each element becomes the mean of some around it."""
    size = 2 * far + 1

    def mean(w: el.Value) -> Any:
        return (w[0, far] + w[far, 0] + w[far, 2 * far] + w[2 * far, far] + w[far, far]) / 5

    x = el.array("x", el.f32, (n, m))
    return el.iterate(steps, lambda s: el.stencil(mean, (size, size), 1, far, far, mode, s), x)


def kernel(program: Any, count: int, edge: int) -> DistributedKernel:
    made = several.kernel(program, count)
    assert made.windows is not None
    made.windows = replace(made.windows, edge=edge)
    return made


def differs(program: Any, count: int, edge: int, chunk: int = 1 << 20, contained: bool = False) -> str:
    """What is wrong with a result, "" if nothing."""
    given = values(el.as_program(program))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(borders, "CHUNK", chunk)
        made = kernel(program, count, edge)
        taken = {n: el.Matrix(v) for n, v in given.items()} if contained else given
        found = [made(**taken), made(**taken)]  # the second call finds the first one's memory
    right = all(agree(f, el.interpret(program, **given)) for f in found)
    same = all(np.array_equal(taken[n], v) for n, v in given.items())
    return "" if right and same else made.explain()


@pytest.mark.parametrize(("mode", "width", "steps"), every(6, MODES, [8, WIDE], [1, 2, 5]), ids=str)
def test_borders_are_exchanged_after_a_step(three: Three, mode: Any, width: int, steps: int) -> None:
    assert three(differs, heat(20, width, mode, steps), 3, 0) == ""


@pytest.mark.parametrize(("mode", "how", "contained"), every(6, MODES, [(1, 1 << 20), (2, 64)], [False, True]), ids=str)
def test_or_beside_the_rest_of_it(three: Three, mode: Any, how: tuple[int, int], contained: bool) -> None:
    far, chunk = how
    assert three(differs, heat(31, WIDE, mode, 4, far), 3, far, chunk, contained) == ""


def waves(n: int, m: int) -> Any:
    """A state of two arrays: how high, and how fast."""
    x = el.array("x", (el.f32, el.f32), (n, m))

    def moved(s: el.Value) -> el.Value:
        return el.stencil(
            lambda w: el.tuple(w[0, 1][0] + w[1, 1][1], w[2, 1][1] - w[1, 0][0] / 4), (3, 3), 1, 1, 1, "wrap", s
        )

    return el.iterate(3, moved, x)


def differs_of_two(edge: int) -> bool:
    program = waves(16, WIDE)
    rng = np.random.default_rng(0)
    x = tuple(rng.random((16, WIDE)).astype(np.float32) for _ in range(2))
    return agree(kernel(program, 2, edge)(x), el.interpret(program, x=x))


@pytest.mark.parametrize("edge", [0, 1])
def test_a_state_may_be_several_arrays(three: Three, edge: int) -> None:
    assert three(differs_of_two, edge)


def found_windows(mode: Any, lengths: tuple[float, ...] = (1, 1, 1)) -> tuple[Window, ...]:
    again = time_steps(el.as_program(heat(30, 8, mode, 5)))
    assert again is not None
    steps = distributed(again.program, 3)
    made = windows_of(steps, again.state.name, {steps.steps[0].name: shares_of(30, lengths)})
    assert made is not None and made.needed == 1
    return made.each


@pytest.mark.parametrize(
    ("mode", "first", "last"),
    [
        ("clamp", ((0, 0, 1), (11, 10, 1)), ((0, 19, 1), (11, 29, 1))),
        ("wrap", ((0, 29, 1), (11, 10, 1)), ((0, 19, 1), (11, 0, 1))),
        (("constant", 0.5), ((11, 10, 1),), ((0, 19, 1),)),
    ],
    ids=str,
)
def test_a_window_is_the_block_and_rows_of_others(mode: Any, first: Any, last: Any) -> None:
    windows = found_windows(mode)
    assert [(w.share.start, w.rows, w.own) for w in windows] == [(0, 12, 1), (10, 12, 1), (20, 12, 1)]
    assert (windows[0].others, windows[2].others) == (first, last)
    assert windows[1].others == ((0, 9, 1), (11, 20, 1))
    assert bool(windows[0].fixed) == isinstance(mode, tuple)


def test_a_border_may_be_rows_of_several_devices() -> None:
    again = time_steps(el.as_program(heat(9, 8, "clamp", 5, far=3)))
    assert again is not None
    steps = distributed(again.program, 3)
    shares = (Share(0, 0, 1), Share(1, 1, 2), Share(2, 3, 6))
    made = windows_of(steps, again.state.name, {"step0": shares})
    assert made is not None and made.needed == 3
    sources = [(b.source, b.size) for b in made.borders(several_leaves()) if b.target == 2]
    assert sources == [(0, 32), (1, 64), *[(2, 32)] * 3]


def several_leaves() -> Any:
    from egglift.distribution.held import leaves_of
    from egglift.ir.types import F32, array_of

    return leaves_of(array_of(F32, (9, 8)))


def bytes_exchanged(steps: int) -> tuple[int, int]:
    """Bytes that devices send to the host in an iteration; and what one border has."""
    sent, send = [0], Exchange.send

    def counted(self: Exchange, *args: Any) -> None:
        sent[0] += sum(b.size for b in self.borders if b.source != b.target)
        send(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Exchange, "send", counted)
        kernel(heat(30, WIDE, "clamp", steps), 3, 1)(np.ones((30, WIDE), np.float32))
    return sent[0], 4 * WIDE


def test_between_steps_only_borders_go_through_the_host(three: Three) -> None:
    sent, border = three(bytes_exchanged, 5)
    assert sent == 4 * 4 * border  # two neighbours each have one border for the other, after each step but the last


def lost_on_the_way() -> str:
    """What is said where a device fails at an exchange; the kernel can be called again."""
    made, x = kernel(heat(30, WIDE, "clamp", 5), 3, 1), np.ones((30, WIDE), np.float32)
    cl, copy = opencl(), opencl().enqueue_copy

    def failing(queue: Any, *args: Any, **named: Any) -> Any:
        if queue.device == made.devices[1].device and named.get("is_blocking") is False:
            raise several.refusal(NO_ROOM[1])
        return copy(queue, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cl, "enqueue_copy", failing)
        with pytest.raises(OutOfMemory) as caught:
            made(x)
    assert np.array_equal(made(x), x)
    return str(caught.value)


def test_a_device_that_fails_at_an_exchange_is_named(three: Three) -> None:
    assert three(lost_on_the_way).startswith("device 1: ")


def chunks_of(size: int, chunk: int) -> bool:
    """Do long rows arrive as they were sent, in chunks, again and again?"""
    a, b = open_devices("all")[:2]
    rng = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(borders, "CHUNK", chunk)
        exchange = Exchange((a, b), [Border(0, 4, 1, 8, size), Border(1, 0, 0, 0, size)])
    good = len(exchange.borders) == 2 * -(-size // chunk)
    for _ in range(4):
        sent = [rng.integers(0, 256, size + 16).astype(np.uint8) for _ in range(2)]
        own = {i: [(upload(d, v), 0)] for i, (d, v) in enumerate(zip((a, b), sent, strict=True))}
        windows = {i: [upload(d, np.zeros(size + 16, np.uint8))] for i, d in enumerate((a, b))}
        exchange.send(own, {i: opencl().enqueue_marker(d.queue) for i, d in enumerate((a, b))})
        for i, events in exchange.receive(own, windows).items():
            opencl().enqueue_barrier((a, b)[i].queue, wait_for=events)
        good = good and np.array_equal(_got(b, windows[1][0], size + 16)[8 : 8 + size], sent[0][4 : 4 + size])
        good = good and np.array_equal(_got(a, windows[0][0], size + 16)[:size], sent[1][:size])
    exchange.finish()
    return good


def _got(device: Device, buffer: Any, size: int) -> Any:
    into = np.empty(size, np.uint8)
    read_bytes(device, buffer, 0, into)
    return into


@pytest.mark.parametrize(("size", "chunk"), [(64, 64), (1000, 64), (1000, 1 << 20)])
def test_long_borders_go_in_chunks(three: Three, size: int, chunk: int) -> None:
    assert three(chunks_of, size, chunk)


def test_an_iteration_that_needs_all_of_its_state_has_no_windows(three: Three) -> None:
    assert three(no_windows) == (True, True)


def no_windows() -> tuple[bool, bool]:
    x = el.array("x", el.f32, 20)
    far = el.iterate(2, lambda s: s.map(lambda a: a + 0.1 * s.map(lambda b: b - a).reduce(el.add, 0.0)), x)
    return several.kernel(far, 2).windows is None, several.kernel(jacobi(20), 2).windows is not None


def edges(links: Links) -> tuple[int, int, str]:
    """How many rows are computed first, how many kernels there are, and what is said."""
    whole = el.as_program(heat(240, WIDE, "clamp", 5))
    again = time_steps(whole)
    assert again is not None
    steps = (again.program, again.state.name, again.whole)
    made = distributed_kernel(Request(whole, open_devices("all"), "block", again=steps), several.plain, links)
    assert made.windows is not None
    return made.windows.edge, len(made.kernels), made.explain()


def test_rows_are_computed_first_where_the_exchange_is_long(three: Three) -> None:
    edge, kernels, text = three(edges, Links(latency=1e-2))
    assert (edge, kernels) == (1, 2) and "exchanged between, of 1 rows, while the rest is computed" in text
    edge, kernels, text = three(edges, Links(latency=1e-9, to={}, fro={}))
    assert (edge, kernels) == (0, 1) and text.splitlines()[1].endswith("only borders are exchanged between")
