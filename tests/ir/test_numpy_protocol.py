"""NumPy's own functions, called with values of a program, build what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.errors import TypeMismatch

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 8
x = el.array("x", el.f32, (3, 4))

CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "sum of columns": lambda v: np.sum(v, axis=0),
    "mean that keeps its axis": lambda v: np.mean(v, 1, keepdims=True),
    "var": lambda v: np.var(v, axis=1, ddof=1),
    "amax": lambda v: np.amax(v, axis=0),
    "argmax": lambda v: np.argmax(v, axis=1),
    "where": lambda v: np.where(v > 0.5, v, 0.0),
    "clip": lambda v: np.clip(v, 0.25, 1.0),
    "dot": lambda v: np.dot(v, v.T),
    "outer": lambda v: np.outer(v[0], v[1]),
    "norm": np.linalg.norm,
    "transpose": np.transpose,
    "transpose of three axes": lambda v: np.transpose(np.stack([v, v]), (2, 0, 1)),
    "concatenate": lambda v: np.concatenate([v, v + 1]),
    "roll": lambda v: np.roll(v, 1),
    "ravel": np.ravel,
    "log1p": np.log1p,
    "square": np.square,
    "isnan": np.isnan,
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS.keys())
def test_functions_of_numpy_build_the_program(f: Callable[[Any], Any]) -> None:
    built = f(x)
    assert isinstance(built, el.Value)
    np.testing.assert_allclose(np.asarray(el.interpret(built, x=X)), f(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (np.sort, "numpy.sort is not taken in a program: sorting is not in the language"),
        (
            lambda v: np.nansum(v, dtype=np.float64),
            r"numpy.nansum: it has no dtype=: cast .*; it takes \(x, axis=, keepdims=\)",
        ),
        (lambda v: np.linalg.norm(v, 2), "norm of order 2 of matrices needs singular values"),
        (np.linalg.inv, "numpy.inv is not taken in a program: a chain of steps"),
    ],
)
def test_others_are_refused_with_what_there_is(f: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(TypeMismatch, match=why):
        f(x)


def test_concatenation_is_along_any_axis() -> None:
    for axis in (0, 1, -1, None):
        built = np.concatenate([x, x + 1], axis=axis)
        np.testing.assert_array_equal(el.interpret(built, x=X), np.concatenate([X, X + 1], axis=axis))
