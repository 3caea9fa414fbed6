"""The model decides whether a second device pays; who forces it gets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.cli import main
from egglift.costmodel.links.links import Links
from egglift.distribution.building import Request, distributed_kernel
from egglift.distribution.opening import open_devices
from tests import several
from tests.api.distribution.programs import PROGRAMS, agree, values

Three = Callable[..., Any]


def chosen(name: str, n: int, links: Links, distribution: Any = None) -> tuple[int, str]:
    """How many devices take part, and why."""
    request = Request(el.as_program(PROGRAMS[name](n)), open_devices("all"), distribution)
    kernel = distributed_kernel(request, several.plain, links)
    return len({s.place for of in kernel.shares.values() for s in of}) or 1, kernel.why


FAST = {"latency": 1e-7, "start": 1e-7}


@pytest.mark.parametrize(
    ("name", "n", "links", "count"),
    [
        ("forces", 4096, Links(**FAST), 3),
        ("forces", 4096, Links(**FAST, together=0.2), 1),
        ("forces", 16, Links(), 1),
        ("total", 1 << 16, Links(latency=1e-2), 1),
        ("total", 1 << 16, Links(**FAST), 3),
        ("total", 1 << 16, Links(**FAST, beside=1e-3), 1),
    ],
)
def test_a_second_device_takes_part_where_it_pays(three: Three, name: str, n: int, links: Links, count: int) -> None:
    found, why = three(chosen, name, n, links)
    assert found == count
    assert why.startswith("3 devices take") and "one takes" in why


def test_a_forced_distribution_is_no_question_of_price(three: Three) -> None:
    count, why = three(chosen, "forces", 16, Links(), "block")
    assert (count, why) == (3, "3 devices take part, as asked")
    assert three(chosen, "forces", 16, Links(**FAST), "single")[0] == 1


def optimised(name: str, **more: Any) -> tuple[bool, str]:
    program = el.as_program(PROGRAMS[name](30))
    kernel = el.optimize(program, devices="all", measure="none", cache=False, **more)
    given = values(program)
    return agree(kernel(**given), el.interpret(program, **given)), kernel.explain()


def test_optimize_takes_devices(three: Three) -> None:
    right, text = three(optimised, "softmax", distribution="block")
    assert right and "x: block" in text
    right, text = three(optimised, "softmax")
    assert right and "by the model" in text


def test_distributions_are_for_several_devices() -> None:
    with pytest.raises(el.ArgumentError, match=r"devices=\[\.\.\.\]: name the devices"):
        el.optimize(PROGRAMS["total"](30), distribution="block")


def run_time_length() -> str:
    with pytest.raises(el.ArgumentError) as caught:
        el.optimize(el.sum(el.array("x", el.f32, el.size("n"))), devices="all")
    return str(caught.value)


def test_run_time_lengths_are_for_one_device(three: Three) -> None:
    assert "n are known when it is called: several devices take numbers" in three(run_time_length)


def calibrated() -> dict[str, Any]:
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        assert main(["calibrate", "--devices", "--json"]) == 0
    return dict(json.loads(out.getvalue()))


def test_the_links_of_all_devices_are_calibrated(three: Three) -> None:
    links = three(calibrated)
    assert 0 < links["together"] <= 1 and len(links["to"]) == 1


def test_an_unequal_device_has_a_longer_block(three: Three) -> None:
    assert three(unequal) == [9, 9, 22]


def unequal() -> list[int]:
    """The last of three devices is said to be another kind, and is 2.5 times as fast."""
    from dataclasses import replace

    opened = open_devices("all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opened[2], "info", replace(opened[2].info, name="another"))

        def timed(program: Any, device: Any, known: Any = None) -> Any:
            kernel = several.plain(program, device)
            faster = 2.5 if device is opened[2] else 1.0
            object.__setattr__(kernel.chosen, "estimate", 1e-3 / faster)
            return kernel

        request = Request(el.as_program(PROGRAMS["softmax"](40)), opened, "block")
        kernel = distributed_kernel(request, timed, Links())
        x = np.random.default_rng(0).random((40, 6)).astype(np.float32)
        assert agree(kernel(x), el.interpret(PROGRAMS["softmax"](40), x=x))
        return [s.count for s in kernel.shares["step0"]]
