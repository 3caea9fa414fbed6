"""Which steps the laws and the price give: who reads which part of what."""

from __future__ import annotations

from typing import Any

import pytest

import egglift as el
from egglift.egraph.distribution.distribute import distributed
from egglift.egraph.distribution.steps import Steps
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.signature import inputs_of
from tests.api.distribution.programs import PROGRAMS, agree, blur, values


def steps_of(program: Any, devices: int = 2, **more: Any) -> Steps:
    return distributed(el.as_program(program), devices, **more)


def shown(steps: Steps) -> list[tuple[str, dict[str, str]]]:
    """Kind of each step, and how its inputs are read."""
    return [(s.kind, {r.name: r.how for r in s.reads}) for s in steps.steps]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("total", [("reduce", {"x": "block"})]),
        ("dot", [("reduce", {"x": "block", "y": "block"})]),
        ("scan", [("scan", {"x": "block"})]),
        ("product", [("map", {"A": "block", "B": "copy"})]),
        ("manhattan", [("map", {"A": "block", "B": "copy"})]),
        ("softmax", [("map", {"x": "block"})]),
        ("black_scholes", [("map", {"spot": "block"})]),
        ("histogram", [("count", {"x": "block"})]),
        ("forces", [("map", {"part0": "block", "part1": "block", "x": "copy", "y": "copy"})]),
        ("centred", [("reduce", {"x": "block"}), ("map", {"step0": "copy", "x": "block"})]),
    ],
)
def test_each_array_is_read_by_the_part_that_is_needed(name: str, expected: list[Any]) -> None:
    assert shown(steps_of(PROGRAMS[name](64))) == expected


@pytest.mark.parametrize("mode", ["clamp", "mirror", "wrap", ("constant", 0.5)], ids=str)
def test_windows_overlap_and_rows_are_padded_by_devices(mode: Any) -> None:
    (step,) = steps_of(blur(64, mode)).steps
    (read,) = step.reads
    assert (read.how, read.window, read.step) == ("overlap", 3, 1)
    assert isinstance(read.source, p.Pad) and isinstance(read.source.x, p.Input)
    assert read.rows(10, 5) == (10, 17)
    assert inputs_of(step.program(5)) == {read.name: type_of(el.array("x", el.f32, (7, 9)).expr)}


def test_zipped_arrays_share_a_distribution() -> None:
    x, y, z = (el.array(name, el.f32, 60) for name in "xyz")
    (step,) = steps_of(el.zip(x, y, z).map(lambda p: p[0] * p[1] + p[2])).steps
    assert {r.how for r in step.reads} == {"block"} and len(step.reads) == 3


def sums() -> dict[str, Any]:
    x, y, z = (el.array(name, el.f32, 60) for name in "xyz")
    windows = (x * 2).pad(1, 1, "clamp").slide(3, 1)
    return {
        "the first": x * 2 + y,
        "the second": y + x * 2,
        "both": x * 2 + y * 3,
        "within": el.zip(x, y * 2, z).map(lambda p: p[0] + p[1] + p[2]),
        "twice": (x * 2 + y * 3) * (x - 1),
        "windows": el.zip(windows, y).map(lambda p: el.sum(p[0]) * p[1]),
    }


@pytest.mark.parametrize("name", sums())
def test_what_is_zipped_is_computed_by_who_has_it(name: str) -> None:
    assert [s.kind for s in steps_of(sums()[name]).steps] == ["map"]


def test_a_step_reads_blocks_of_what_another_has_scanned() -> None:
    x = el.array("x", el.f32, 60)
    first, second = steps_of(el.cumsum(x) + x).steps
    assert (first.kind, second.kind) == ("scan", "map") and second.of("step0") == ("block",)


def test_all_pairs_are_by_rows_of_the_first() -> None:
    a, b = el.array("a", el.f32, (40, 3)), el.array("b", el.f32, (30, 3))
    (step,) = steps_of(el.allpairs(lambda r, s: el.dot(r, s), a, b)).steps
    assert step.length == 40 and {r.name: r.how for r in step.reads} == {"a": "block", "b": "copy"}


def test_an_input_that_must_be_divided_is_no_copy() -> None:
    (step,) = steps_of(PROGRAMS["product"](64), divided=["B"]).steps
    assert (step.length, step.of("A"), step.of("B")) == (8, ("copy",), ("block",))


@pytest.mark.parametrize(("rows", "columns", "cut"), [(300, 20, "A"), (20, 300, "B")])
def test_of_a_product_the_smaller_factor_is_copied(rows: int, columns: int, cut: str) -> None:
    a, b = el.array("A", el.f32, (rows, 10)), el.array("B", el.f32, (10, columns))
    (step,) = steps_of(a @ b).steps
    assert step.of(cut) == ("block",) and step.length == 300


def test_without_reassociation_sums_stay_with_one_device() -> None:
    assert steps_of(PROGRAMS["total"](64), reassociate=False).steps == ()
    assert len(steps_of(PROGRAMS["softmax"](64), reassociate=False).steps) == 1


def test_what_follows_a_reduction_is_left_to_the_end() -> None:
    steps = steps_of(el.norm(el.array("x", el.f32, 64)))
    assert [s.kind for s in steps.steps] == ["reduce"]
    assert steps.last == p.Apply("sqrt", (p.Input("step0", type_of(steps.last)),))


@pytest.mark.parametrize("name", ["total", "product", "softmax", "dot", "black_scholes"])
def test_a_block_of_all_is_the_whole_program(name: str) -> None:
    """The program of a device, for a block as long as the array, computes what the source does."""
    program = el.as_program(PROGRAMS[name](16))
    (step,) = steps_of(program).steps
    given = values(program)
    whole = step.program(step.length)
    found = evaluate(whole, {r.name: given[next(iter(inputs_of(r.source)))] for r in step.reads})
    assert agree(found, evaluate(program, given))
