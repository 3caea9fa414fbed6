"""Of combinations of values some are run on every commit, each value among them; the others with `-m deep`."""

from __future__ import annotations

import pytest

from tests.deep import every

AXES = (range(7), "abc", (10, 20))


def often(n: int) -> list[tuple[object, ...]]:
    return [tuple(p.values) for p in every(n, *AXES) if not p.marks]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_each_value_is_run_often_with_others(n: int) -> None:
    found = often(n)
    assert len(found) == pytest.approx(7 * 3 * 2 / n, abs=1)
    for place, values in enumerate(AXES):
        assert {row[place] for row in found} == set(values)


def test_what_is_not_run_often_is_run_with_the_deep_ones() -> None:
    assert len(every(3, *AXES)) == 42 and 0 < len(often(3)) < 42
    assert all(mark.name == "deep" for p in every(3, *AXES) for mark in p.marks)
