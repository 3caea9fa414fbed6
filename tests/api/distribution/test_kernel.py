"""Several devices compute what one computes, whatever the length and the border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from tests import several
from tests.api.distribution.programs import PROGRAMS, agree, blur, jacobi, values
from tests.deep import every

Three = Callable[..., Any]
MODES = ["clamp", "mirror", "wrap", ("constant", 0.5)]


def differs(name: str, n: int, count: int) -> str:
    """What is wrong with the result of `count` devices, "" if nothing; and that more than one takes part."""
    program = el.as_program(PROGRAMS[name](n))
    kernel = several.kernel(program, count)
    given = values(program)
    if not agree(kernel(**given), el.interpret(program, **given)):
        return kernel.explain()
    return "" if all(len(of) == min(n, count) for of in kernel.shares.values()) and kernel.shares else "one device"


@pytest.mark.parametrize(("name", "count"), every(4, PROGRAMS, [2, 3]))
def test_several_devices_compute_what_one_does(three: Three, name: str, count: int) -> None:
    assert three(differs, name, 41, count) == ""


@pytest.mark.parametrize("name", ["total", "scan", "softmax", "histogram", "jacobi", "centred"])
def test_there_may_be_fewer_elements_than_devices(three: Three, name: str) -> None:
    assert three(differs, name, 2, 3) == ""


def differs_at_a_border(mode: Any, steps: int) -> str:
    program = el.as_program(jacobi(11, mode, steps) if steps else blur(11, mode))
    kernel, given = several.kernel(program), values(program)
    return "" if agree(kernel(**given), el.interpret(program, **given)) else kernel.explain()


@pytest.mark.parametrize(("mode", "steps"), every(2, MODES, [0, 1, 5]), ids=str)
def test_every_border_is_the_neighbours_rows(three: Three, mode: Any, steps: int) -> None:
    assert three(differs_at_a_border, mode, steps) == ""


def of_nothing(name: str) -> tuple[bool, int]:
    program = el.as_program(PROGRAMS[name](0))
    kernel, given = several.kernel(program), values(program)
    return agree(kernel(**given), el.interpret(program, **given)), len(kernel.shares)


@pytest.mark.parametrize("name", ["total", "scan", "softmax", "black_scholes"])
def test_nothing_is_left_to_one_device(three: Three, name: str) -> None:
    assert three(of_nothing, name) == (True, 0)


def explained(name: str) -> str:
    return several.kernel(PROGRAMS[name](41)).explain()


def test_who_has_what_is_explained(three: Three) -> None:
    text = three(explained, "product")
    assert "A: block" in text and "B: copy" in text
    assert "device 0: 0..14" in text and "device 2: 28..41" in text
    assert "overlap, 2 rows more than its own" in three(explained, "blur")


def number_of_kernels(n: int) -> int:
    return len(several.kernel(PROGRAMS["product"](n)).kernels)


def test_blocks_of_one_length_share_a_kernel(three: Three) -> None:
    assert three(number_of_kernels, 42) == 1
    assert three(number_of_kernels, 41) == 2
