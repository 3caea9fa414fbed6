"""The ways to cut a program into stages that a search goes through."""

from __future__ import annotations

import pytest

import egglift as el
from egglift.egraph.schedules.partitions import partitions
from egglift.egraph.stages.partitioning import Partitioning
from egglift.ir.lifting import as_program


def firsts(program: object, kind: str) -> list[str]:
    """The shape of the first stage of each."""
    found = partitions(as_program(program), kind, True)
    return ["x".join(str(d.extent) for d in whole.stages[0].dims) for whole, _ in found]


@pytest.mark.parametrize("kind", ("cpu", "gpu"))
def test_sums_of_boxes_begin_in_either_direction(kind: str) -> None:
    boxes = el.sliding_window_view(el.array("x", el.f32, (64, 50)), (7, 7))
    assert {"64x44", "58x50"} <= set(firsts(boxes.mean(axis=(2, 3)), kind))


def test_one_direction_is_one_partition() -> None:
    rows = el.sliding_window_view(el.array("x", el.f32, (64, 50)), 7, axis=1)
    assert firsts(rows.mean(axis=2), "cpu").count("64x44") == 1


def test_partitions_differ_in_their_stages() -> None:
    x = el.array("x", el.f32, (64, 50))
    ways = [steps.by for _, steps in partitions(as_program((x + 1).sum(axis=1)), "cpu", True)]
    assert ways[0] == Partitioning() and len(set(ways)) == len(ways)
    assert not any(by.down for by in ways)
