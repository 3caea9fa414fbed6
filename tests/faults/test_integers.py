"""Integers at their ends, where C leaves open what comes out: every operator is NumPy's, in kernels too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.device.execute import build
from egglift.ir.types import Scalar, scalar_of

INTEGERS = [scalar_of(np.dtype(name)) for name in ("i1", "u2", "i8", "i2", "i4", "u1", "u4", "u8")]
FLOATS = [el.f32, el.f64]
#: so many types are a sample; the others are tried with -m deep
SAMPLE = 3
SOME = [t if i < SAMPLE else pytest.param(t, marks=pytest.mark.deep) for i, t in enumerate(INTEGERS)]

OPERATORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, x, y: x + y,
    "sub": lambda m, x, y: x - y,
    "mul": lambda m, x, y: x * y,
    "quotient": lambda m, x, y: x // y,
    "rest": lambda m, x, y: x % y,
    "fmod": lambda m, x, y: m.fmod(x, y),
    "divide": lambda m, x, y: x / y,
    "left shift": lambda m, x, y: x << y,
    "right shift": lambda m, x, y: x >> y,
    "and": lambda m, x, y: x & y,
    "xor": lambda m, x, y: x ^ y,
    "not": lambda m, x, y: ~x,
    "minimum": lambda m, x, y: m.minimum(x, y),
    "negative": lambda m, x, y: -x,
    "absolute": lambda m, x, y: abs(x),
    "sign": lambda m, x, y: m.sign(x),
    "less": lambda m, x, y: x < y,
    "square": lambda m, x, y: x**2,
}


def ends(t: Scalar) -> Any:
    """Numbers of a type at which something may go wrong."""
    if t.is_float:
        return np.array([0, -0.0, 1.5, -2.5, 1e10, -1e10, np.inf, -np.inf, np.nan, 3e38, 1e-40, 255.9], t.dtype)
    low, high = np.iinfo(t.dtype).min, np.iinfo(t.dtype).max
    return np.array([low, low + 1, -1 if low else 0, 0, 1, 2, 3, 7, 31, 63, high - 1, high], object).astype(t.dtype)


def both(program: Any, **given: Any) -> tuple[Any, Any]:
    """What the interpreter and a kernel give for a tuple of arrays."""
    e, device = el.as_program(program), open_device("pocl")
    plan = compile_term(e, limits=device.limits)
    return el.interpret(e, **given), build(device, plan).run({name: [v] for name, v in given.items()})


@pytest.mark.parametrize("t", SOME, ids=str)
def test_operators_on_integers_at_their_ends_are_numpys(t: Scalar) -> None:
    a, b = (v.ravel() for v in np.meshgrid(ends(t), ends(t)))
    x, y = el.array("x", t, a.size), el.array("y", t, a.size)
    here, there = both(tuple(f(el, x, y) for f in OPERATORS.values()), x=a, y=b)
    with np.errstate(all="ignore"):
        wanted = [f(np, a, b) for f in OPERATORS.values()]
    for name, want, mine, kernels in zip(OPERATORS, wanted, here, there, strict=True):
        assert mine.dtype == kernels.dtype == want.dtype, name
        np.testing.assert_array_equal(mine, want, err_msg=name)
        np.testing.assert_array_equal(kernels, want, err_msg=name)


@pytest.mark.parametrize("t", [*SOME, *FLOATS], ids=str)
def test_casts_of_numbers_at_their_ends_are_defined(t: Scalar) -> None:
    x, a = el.array("x", t, ends(t).size), ends(t)
    targets = [*INTEGERS, *FLOATS, scalar_of(np.dtype(bool))]
    here, there = both(tuple(x.cast(target) for target in targets), x=a)
    for target, mine, kernels in zip(targets, here, there, strict=True):
        np.testing.assert_array_equal(kernels, mine, err_msg=str(target))
        if t.is_integer or not target.is_integer:  # else C, and NumPy, leave it open
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(mine, a.astype(target.dtype), err_msg=str(target))
