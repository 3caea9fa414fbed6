"""What values do not do: each refusal is ours, and says what to do."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import egglift as el

x = el.array("x", el.f32, 100)
s = el.scalar("s", el.f32)


@pytest.mark.parametrize("f", [sum, list, max, any, lambda v: dict(enumerate(v)), lambda v: [*v]])
def test_long_arrays_are_not_iterated_over(f: Any) -> None:
    with pytest.raises(el.ProgramError, match=r"x has 100 elements, and more than 64 are not taken .* el\.sum"):
        f(x)


def test_short_arrays_are_unpacked() -> None:
    y = el.array("y", el.f32, 64)
    total = sum(y)
    v = np.arange(64, dtype=np.float32)
    assert el.interpret(total, y=v) == v.sum()


@pytest.mark.parametrize("f", [np.asarray, np.array, np.asfortranarray])
def test_values_are_no_numpy_arrays(f: Any) -> None:
    for v in (x, s):
        with pytest.raises(el.TypeMismatch, match="has no elements while the program is .*, so it is no NumPy array"):
            f(v)


@pytest.mark.parametrize("f", [round, lambda v: round(v, 2), math.trunc, math.floor, math.ceil])
def test_rounding_by_python_names_the_functions(f: Any) -> None:
    with pytest.raises(el.TypeMismatch, match=r"use rint\(x\), floor\(x\), ceil\(x\) or trunc\(x\)"):
        f(s)


def test_divmod_is_quotient_and_remainder() -> None:
    v = np.linspace(-5, 5, 100, dtype=np.float32)
    for e, want in ((divmod(x, 2), divmod(v, 2)), (divmod(7.5, x), divmod(np.float32(7.5), v))):
        for got, right in zip(el.interpret(el.tuple(*e), x=v), want):
            np.testing.assert_array_equal(got, right)


# ---------------------------------------------------------------------------------------- attributes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("transpoze", r"x has no attribute 'transpoze'; did you mean x\.transpose\?"),
        ("redcue", r"did you mean x\.reduce\?"),
        ("exp", r"x has no attribute 'exp', but there is a function: el\.exp\(x\)"),
        ("argmx", r"did you mean x\.argmax\?"),
        ("sort", "x has no attribute 'sort': sorting is not in the language: max, min"),
        ("nonzero", "how many elements there are would depend on their values, .*where"),
        ("compress", "how many elements there are would depend"),
        ("tolist", "it has no value while the program is written: call the kernel"),
        ("qqqqqq", "x has no attribute 'qqqqqq'; docs/language.md lists what there is"),
    ],
)
def test_a_missing_attribute_names_what_there_is(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(x, name)


def test_bools_as_indices_are_refused_for_what_they_are() -> None:
    for mask in (x > 0, np.ones(100, bool), s > 0):
        with pytest.raises(el.TypeMismatch, match="x cannot be indexed by bools: how many elements there are would"):
            x[mask]


def test_hasattr_copies_and_pickles_still_work() -> None:
    assert not hasattr(x, "strides") and not hasattr(x, "__array_interface__") and hasattr(x, "shape")
    for v in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert v.expr is x.expr


def test_functions_of_numpy_that_are_missing_are_named() -> None:
    with pytest.raises(el.TypeMismatch, match=r"numpy\.nextafter is not taken in a program: the bits of floats"):
        np.nextafter(x, x)
