"""What takes long and is a function of one small integer is looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.partitions import partitions
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from egglift.options import Laws
from egglift.search import searched
from tests.egraph.staged import result, whole

SHAPE = (64, 80)


def picture(t: Any = el.u8, name: str = "x") -> Any:
    return el.array(name, t, SHAPE)


def power(x: Any) -> Any:
    return el.power(x.astype(el.f32) / 255, 2.2)


def standard(x: Any) -> Any:
    """The inverse of sRGB's curve."""
    v = x.astype(el.f32) / 255
    return el.where(v <= 0.04045, v / 12.92, el.power((v + 0.055) / 1.055, 2.4))


def tables_of(program: Any) -> list[str]:
    """The stages with tables, once they were found to mean the same for all values that a type has."""
    e = as_program(program)
    stages = stages_of(e, by=Partitioning(tables=True))
    values = np.resize(np.arange(256, dtype=np.uint8), SHAPE)
    inputs = {"x": values.view(np.int8) if "i8" in str(e) else values, "y": values[::-1]}
    for found, wanted in zip(result(whole(stages), inputs), result(e, inputs), strict=True):
        np.testing.assert_array_equal(found, wanted)
    return [text_of(s) for s in stages.stages]


def test_a_power_of_bytes_is_looked_up() -> None:
    table, found = tables_of(power(picture()))
    assert table.startswith("table0[0 < 256] = (pow ") and "pow" not in found
    assert found == "stage0[0 < 64, 1 < 80] = (map (gather arg %table0) x)[0,1]"


def test_all_that_is_computed_of_a_value_is_in_one_table() -> None:
    table, found = tables_of(standard(picture()))
    assert "where" in table and "where" not in found


def test_signed_bytes_are_looked_up_from_the_least() -> None:
    e = el.exp(picture(el.i8).astype(el.f32) / 32)
    stages = stages_of(as_program(e), by=Partitioning(tables=True))
    inputs = {"x": np.resize(np.arange(-128, 128, dtype=np.int8), SHAPE)}
    assert len(stages.stages) == 2
    np.testing.assert_array_equal(result(whole(stages), inputs)[0], result(e, inputs)[0])


def test_equal_functions_share_a_table() -> None:
    table, found = tables_of(power(picture()) - power(picture(name="y")))
    assert "pow" in table and found.count("gather") == 2


def test_what_is_reduced_is_looked_up_too() -> None:
    table, found = tables_of(standard(picture()).sum(axis=1))
    assert "pow" in table and "add for 1 < 80 of (map (gather arg %table0) x)[0,1]" in found


def test_nothing_else_may_go_into_a_table() -> None:
    """A factor of the row's own stays outside; a function of two values has no table."""
    rows = el.array("y", el.u8, SHAPE)
    assert len(tables_of(el.power(picture().astype(el.f32), rows.astype(el.f32) / 255))) == 1
    table, found = tables_of(power(picture()) * rows)
    assert "y" not in table and "mul" in found


@pytest.mark.parametrize("cheap", (lambda x: x.astype(el.f32) / 255, lambda x: el.sqrt(x.astype(el.f32)) + 1))
def test_what_is_soon_computed_is_not_looked_up(cheap: Any) -> None:
    assert len(tables_of(cheap(picture()))) == 1


@pytest.mark.parametrize("other", (el.u16, el.i32, el.f32))
def test_other_types_have_no_tables(other: Any) -> None:
    stages = stages_of(as_program(power(picture(other))), by=Partitioning(tables=True))
    assert len(stages.stages) == 1


def test_few_elements_are_computed_in_place() -> None:
    few = stages_of(as_program(power(el.array("x", el.u8, (8, 8)))), by=Partitioning(tables=True))
    assert len(few.stages) == 1


def test_a_cpu_looks_up_powers_of_a_large_picture() -> None:
    cpu = presets()["pocl_cpu"]
    program = as_program(power(el.array("x", el.u8, (1024, 1024))))
    best = min(searched(program, cpu, cpu.limits, Laws()), key=lambda c: c.estimate)
    first, last = best.plan.kernels
    assert "pow(" in first.alone and "pow(" not in last.alone


def test_only_programs_with_such_functions_have_the_choice() -> None:
    def ways(program: Any) -> list[Partitioning]:
        return [steps.by for _, steps in partitions(as_program(program), "cpu", True)]

    assert any(by.tables for by in ways(power(picture())))
    assert not any(by.tables for by in ways(picture().astype(el.f32) / 255))
