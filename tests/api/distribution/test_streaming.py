"""Arrays that are larger than a device's memory go through it in blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.distribution import held
from egglift.distribution.shares import Share, cut, shares_of
from egglift.ir.errors import OutOfMemory
from egglift.kernel import Kernel
from tests import several
from tests.api.distribution.programs import PROGRAMS, agree, jacobi, values

Three = Callable[..., Any]


def streamed(name: str, n: int, memory: int, count: int) -> tuple[bool, int]:
    """Is the result right, and how many blocks are there?"""
    program = el.as_program(jacobi(n, "mirror", 3) if name == "jacobi" else PROGRAMS[name](n))
    kernel = several.kernel(program, count, None if count == 1 else "block", memory=memory)
    given = values(program)
    right = agree(kernel(**given), el.interpret(program, **given))
    return right, max(len(of) for of in kernel.shares.values())


@pytest.mark.parametrize(
    ("name", "n", "memory", "blocks"),
    [
        ("total", 100, 4 * 50 + 4, 4),
        ("black_scholes", 100, 12 * 30, 7),
        ("jacobi", 20, 8 * 4 * 14, 7),
        ("scan", 100, 8 * 25, 9),
        ("product", 10, 12 * 8 * 4 + 20 * 4 * 4, 5),
    ],
)
def test_a_device_with_little_memory_computes_in_blocks(
    three: Three, name: str, n: int, memory: int, blocks: int
) -> None:
    right, made = three(streamed, name, n, memory, 1)
    assert right and made == blocks


def test_two_devices_stream_side_by_side(three: Three) -> None:
    right, made = three(streamed, "total", 100, 4 * 25 + 4, 2)
    assert right and made == 10


def too_small(memory: int) -> str:
    with pytest.raises(OutOfMemory) as caught:
        several.kernel(PROGRAMS["product"](10), 1, None, memory=memory)
    return str(caught.value)


def test_copies_that_do_not_fit_are_an_error_with_their_size(three: Three) -> None:
    said = three(too_small, 200)
    assert said.startswith("device 0: ") and "may use 200 bytes" in said and "384 of them copies" in said


def test_blocks_are_as_long_as_devices_are_fast() -> None:
    assert [s.count for s in shares_of(10, (1, 1, 1))] == [4, 4, 2]
    assert [s.count for s in shares_of(100, (3, 1))] == [75, 25]
    assert shares_of(2, (1, 1, 1)) == (Share(0, 0, 1), Share(1, 1, 1))
    assert shares_of(0, (1, 2)) == ()
    assert [s.count for s in shares_of(10, (1000, 1))] == [10]


def test_long_blocks_are_cut_where_they_are() -> None:
    assert cut((Share(0, 0, 7), Share(1, 7, 2)), (4, 2)) == (
        *(Share(0, 0, 2), Share(0, 2, 2, lane=1), Share(0, 4, 2), Share(0, 6, 1, lane=1)),
        Share(1, 7, 2),
    )
    assert [s.count for s in cut((Share(0, 0, 3),), (1,))] == [1, 1, 1]


def side_by_side() -> tuple[bool, int, list[int]]:
    """Is one block moved while another is computed; on how many queues; and how often is a copy brought to a device?"""
    program = el.as_program(PROGRAMS["product"](40))
    kernel, given, both = (
        several.kernel(program, 1, None, memory=384 + 8 * 4 * 20),
        values(program),
        threading.Barrier(2),
    )
    call, upload, queues, copies = Kernel.__call__, held.upload, set(), []

    def together(self: Kernel, *args: Any, **named: Any) -> Any:
        queues.add(self.device.queue)
        both.wait(timeout=600)  # a second block has its arguments
        return call(self, *args, **named)

    def uploaded(device: Any, array: Any) -> Any:
        copies.append(array.nbytes)
        return upload(device, array)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", together)
        patch.setattr(held, "upload", uploaded)
        found = kernel(**given)
    return agree(found, el.interpret(program, **given)), len(queues), copies


def test_two_blocks_are_on_a_device_at_a_time(three: Three) -> None:
    assert three(side_by_side) == (True, 2, [12 * 8 * 4])


def test_every_element_is_in_one_block() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, speeds = int(rng.integers(0, 40)), rng.random(int(rng.integers(1, 6))) + 0.01
        shares = cut(shares_of(n, tuple(speeds)), [int(rng.integers(1, 9))] * len(speeds))
        assert [i for s in shares for i in range(s.start, s.start + s.count)] == list(range(n))
