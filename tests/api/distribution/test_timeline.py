"""What each device does when."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import egglift as el
from egglift.codegen.device.timeline import Span, chrome_trace
from tests import several
from tests.api.distribution.programs import jacobi


def spans() -> tuple[Counter[tuple[int, str]], str, str]:
    """How often each device does what in four steps; the trace, and the summary."""
    kernel = several.kernel(jacobi(30, "clamp", 4))
    found = kernel.profile(np.ones((30, 8), np.float32))
    return Counter((s.place, s.name) for s in found.spans), found.timeline(), str(found)


def test_every_copy_and_kernel_of_each_device_is_there(three: Callable[..., Any]) -> None:
    counts, text, summary = three(spans)
    assert counts == {
        (place, name): times for place in range(3) for name, times in (("copies", 4), ("step0", 4), ("copies back", 1))
    }
    events = json.loads(text)["traceEvents"]
    names = [e["args"]["name"] for e in events if e["ph"] == "M"]
    assert [n.partition(",")[0] for n in names] == ["device 0", "device 1", "device 2"]
    assert len(summary.splitlines()) == 3 and "step0" in summary
    for place in range(3):
        own = [e for e in events if e["ph"] == "X" and e["tid"] == place]
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1 for a, b in pairwise(own))


def test_times_are_in_microseconds_and_in_order() -> None:
    text = chrome_trace([Span(0, "b", 2.0, 1.0), Span(0, "a", 0.5, 0.25)], {0: "one"})
    events = json.loads(text)["traceEvents"][1:]
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [("a", 5e5, 2.5e5), ("b", 2e6, 1e6)]


def test_kernels_of_one_device_are_a_timeline_too() -> None:
    kernel = el.optimize(el.sum(el.array("x", el.f32, 4096)), "pocl", measure="none")
    profiled = kernel.profile()
    events = json.loads(profiled.timeline())["traceEvents"][1:]
    assert [e["name"] for e in events] == [name for name, _ in profiled.timing.kernels]
