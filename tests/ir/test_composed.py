"""Functions that others make up are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.types import scalar_of

pytestmark = pytest.mark.short

VALUES = np.array([[-3, 0, 2], [7, 1, -1]])
ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 2.5], np.float32)


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "square"])
@pytest.mark.parametrize("a", [VALUES, VALUES.astype("i4"), VALUES.astype("f8"), ODD], ids=["i8", "i4", "f8", "odd"])
def test_functions_of_one_argument_are_those_of_numpy(name: str, a: np.ndarray[Any, Any]) -> None:
    found = el.interpret(getattr(el, name)(el.array("x", scalar_of(a.dtype), a.shape)), x=a)
    wanted = getattr(np, name)(a)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("bounds", [(-1, 1), (None, 1), (0, None)])
def test_values_are_clipped_as_in_numpy(bounds: tuple[int | None, int | None]) -> None:
    for a in (VALUES.astype("i4"), ODD):
        found = el.interpret(el.clip(el.array("x", scalar_of(a.dtype), a.shape), *bounds), x=a)
        np.testing.assert_array_equal(found, np.clip(a, *bounds))


def test_kernels_know_nan_and_infinities() -> None:
    x = el.array("x", el.f32, 5)
    for name in ("isnan", "isinf", "isfinite"):
        kernel = el.optimize(getattr(el, name)(x), "pocl", measurements=1)
        np.testing.assert_array_equal(kernel(x=ODD), getattr(np, name)(ODD))
