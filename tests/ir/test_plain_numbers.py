"""Numbers that people read have few digits and no exponents."""

from __future__ import annotations

import math
import re

import pytest

from egglift.ir.plain_numbers import duration, plain
from tests.test_layers import modules


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1 / 3, "0.333"),
        (999.7, "1000"),
        (4294.967, "4290"),
        (2e6, "2000000"),
        (1.5e-7, "0.00000015"),
        (-1234, "-1230"),
    ],
)
def test_numbers_have_no_exponents(value: float, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (9.9951e-10, "1 ns"),
        (9.9951e-4, "1 ms"),
        (0.99999, "1 s"),
        (1e5, "100000 s"),
        (1.234e-5, "12.3 us"),
        (0.0, "0 ns"),
        (math.inf, "-"),
        (None, "-"),
    ],
)
def test_times_change_their_unit_where_their_digits_do(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_no_time_has_an_exponent() -> None:
    for exponent in range(-13, 7):
        for digits in (1, 1.5, 9.99, 9.995, 9.9999):
            assert re.fullmatch(r"[\d.]+ (ns|us|ms|s)", duration(digits * 10.0**exponent))


def test_no_text_has_numbers_that_may_have_an_exponent() -> None:
    found = [
        f"{name}: {line.strip()}"
        for name, file in modules().items()
        if name.startswith("egglift") and name != "egglift.ir.plain_numbers"
        for line in file.read_text().splitlines()
        if re.search(r"\{[^{}]*:[.\d]*g\}", line) and "float(f" not in line
    ]
    assert found == []
