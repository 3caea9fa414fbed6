"""Measured numbers as a reader wants them."""

from __future__ import annotations

import pytest

from egglift.costmodel.calibration.summary import line, number
from egglift.costmodel.profiles.profile import Cache


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5.2e-6, "s", "5.2 us"),
        (999.7e9, "B/s", "1000 GB/s"),
        (1.25, "s", "1.25 s"),
        (0.0, "s", "0 s"),
        (3e-13, "s", "0.3 ps"),
        (4.125e12, "B/s", "4.12 TB/s"),
        (31.0, "op/s", "31 op/s"),
        (0.0, "B/s", "0 B/s"),
        (65536, "B", "64 KiB"),
        (3 << 20, "B", "3 MiB"),
        (100, "B", "100 B"),
        (13.0, "", "13"),
    ],
)
def test_numbers_have_three_digits_and_a_prefix_to_their_unit(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


def test_a_stage_is_one_line_of_its_fields() -> None:
    assert line({"launch": 5e-6, "op_costs": {"div": 13.0}}) == "launch 5 us; op_costs (div: 13)"
    assert line({"rates": {"f32": {"add": 2e11}}}) == "rates (f32: (add: 200 Gop/s))"
    caches = (Cache(1 << 20, 2e11), Cache(1 << 25, 5e10))
    assert line({"caches": caches}) == "caches 1 MiB at 200 GB/s, 32 MiB at 50 GB/s"
    rates = {"1": 1e10, "4": 2e10}
    assert line({"vector_rates": rates}) == "vector_rates (1: 10 GB/s, 4: 20 GB/s); widths that pay 1, 4"


def test_what_was_not_measured_is_said() -> None:
    assert "random not measured" in line({"random": None, "strided": {"1": 1e9}})


def test_of_a_long_curve_some_points_are_shown() -> None:
    curve = {str(4096 << k): 1e11 for k in range(40)}
    shown = line({"cache_curve": curve})
    assert shown.startswith("cache_curve 4 KiB: 100 GB/s, ")
    assert shown.count(":") <= 20
