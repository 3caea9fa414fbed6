"""Lists of numbers stand beside arrays where these are joined, as NumPy takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el

X = el.array("x", el.f32, 4)
JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "a number before": lambda m, x: m.concatenate([[0], x]),
    "numbers around": lambda m, x: m.concatenate([[0.0, 1.0], x, [3.0]]),
    "a row": lambda m, x: m.concatenate([[[1, 2, 3, 4]], x[None]]),
    "beside each other": lambda m, x: m.hstack([x, [1.0]]),
    "below each other": lambda m, x: m.vstack([x, [1.0, 2, 3, 4]]),
    "columns": lambda m, x: m.column_stack([[1.0, 2, 3, 4], x]),
}


@pytest.mark.parametrize("name", JOINED)
def test_lists_of_numbers_are_joined_as_by_numpy(name: str) -> None:
    x = np.arange(4, dtype=np.float32)
    expected = JOINED[name](np, x)
    for module in (np, el):
        found = el.interpret(JOINED[name](module, X), x=x)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_tuples_are_tuples_still() -> None:
    with pytest.raises(el.ProgramError):
        el.concatenate([(0.0, 1.0), X])


WITH_LISTS: dict[str, Callable[..., Any]] = {
    "a list on the left": lambda m, x: [1.0, 2.0, 3.0, 4.0] * x,
    "a tuple on the right": lambda m, x: x - (1, 2, 3, 4),
    "rows": lambda m, x: m.maximum(x, [[1], [2]]),
    "where": lambda m, x: m.where(x > 1, [1.0, 2.0, 3.0, 4.0], x),
    "a product": lambda m, x: m.stack([x, x]) @ [1.0, 2.0, 3.0, 4.0],
    "a product on the right": lambda m, x: m.dot([1, 2, 3, 4], x),
}


@pytest.mark.parametrize("name", WITH_LISTS)
def test_lists_of_numbers_are_operands_as_in_numpy(name: str) -> None:
    x = np.arange(4, dtype=np.float32)
    expected, found = WITH_LISTS[name](np, x), el.interpret(WITH_LISTS[name](np, X), x=x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_rows_of_several_lengths_are_no_array() -> None:
    with pytest.raises(el.ShapeError, match="its rows have several lengths"):
        [[1, 2], [3]] * X
