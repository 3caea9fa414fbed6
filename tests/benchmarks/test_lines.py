"""Programs for several devices, with egglift and by hand: they compute the same, and their lines are counted."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.lines.table import lines_of, rows
from egglift.codegen.device.device import raw_devices
from tests import several
from tests.deep import every
from tests.documents import ROOT

pytestmark = pytest.mark.short

NAMES = [row.name for row in rows()]


@pytest.fixture(scope="module")
def three() -> Iterator[Callable[..., Any]]:
    with several.process() as call:
        yield call


def arguments(name: str, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return rng.random(shape).astype(np.float32)

    weights = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16
    return {
        "blur": (some(n, 30), weights),
        "dot": (some(n), some(n)),
        "heat": (some(n, 16), 5),
        "mandelbrot": (n, 40, 20),
        "product": (some(n, 33), some(33, 21)),
    }[name]


def both_ways(name: str, n: int) -> bool:
    """Are the results equal, with every device taking part?"""
    given = arguments(name, n)
    by_hand, short = (
        getattr(importlib.import_module(f"benchmarks.lines.{way}.{name}"), name) for way in ("by_hand", "short")
    )
    with pytest.MonkeyPatch.context() as patch:
        quick = partial(el.optimize, distribution="block", measure="none", cache=False)
        patch.setattr(el, "optimize", quick)
        found = short("all", *given)
    expected = by_hand(raw_devices(), *given)
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, 1e-4)


@pytest.mark.parametrize(("name", "n"), every(2, NAMES, [2, 41]))
def test_both_programs_compute_the_same(three: Callable[..., Any], name: str, n: int) -> None:
    assert three(both_ways, name, n)


def test_programs_take_less_than_half_of_the_lines() -> None:
    assert len(NAMES) == 5 and all(row.part < 0.5 for row in rows())
    assert all(row.part < 0.15 for row in rows() if row.name in ("blur", "dot", "product"))


def test_the_documented_table_is_the_counted_one() -> None:
    page = (ROOT / "docs" / "devices.md").read_text()
    for row in rows():
        assert f"| {row.name} | {row.short} | {row.by_hand} | {row.part:.0%} |" in page


def test_code_is_counted_and_what_is_said_of_it_is_not() -> None:
    said = '"""What\nit is."""\n\n# said\n'
    code = 'import a  # said\nTEXT = """\n// said\nx = 1;\n\n"""\n\n\ndef f():\n    "said"\n    return 1\n'
    assert lines_of(said + code) == len(["import", "TEXT", "x", '"""', "def", "return"])
