"""Programs on two devices are the programs on one."""

from __future__ import annotations

from typing import Any

from benchmarks.scaling.__main__ import line
from benchmarks.scaling.programs import PROGRAMS
from tests.several import process


def lines() -> list[Any]:
    """What is printed for every program, on two devices."""
    return [line(shared, [0, 1], small=True) for shared in PROGRAMS]


def test_programs_that_are_shared_out_are_those_of_one_device() -> None:
    with process() as call:
        found = call(lines)
    assert [f["program"] for f in found] == [s.name for s in PROGRAMS]
    assert all(f["equal"] and f["one, s"] > 0 and f["of linear"] > 0 for f in found)
