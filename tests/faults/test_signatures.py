"""What is called with the wrong thing gets an error of ours that names it: none of Python's own comes through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el

pytestmark = pytest.mark.short

v = el.array("v", el.f32, 8)
x = el.array("x", el.f32, (3, 4))
X = np.ones(8, np.float32)


@pytest.fixture(scope="module")
def kernel() -> el.Kernel:
    return el.optimize(v * 2, "pocl", measure="none", cache=False)


CALLS: dict[str, tuple[Callable[[el.Kernel], Any], str]] = {
    "an event that is none": (lambda k: k(X, wait_for=[3]), r"wait_for= is a list of pyopencl Events, and not \[3\]"),
    "events that are none": (lambda k: k(X, wait_for=3), "wait_for= is a list of pyopencl Events"),
    "a folder": (lambda k: k.save("/"), "it is a folder; give the name of a file"),
    "a path that is none": (lambda k: el.load(3), "load takes the path of a file"),  # type: ignore[arg-type]
    "an unknown option": (lambda k: el.optimize(v, foo=1), "el.optimize: it has no foo=; it takes"),  # type: ignore[call-overload]
    "a budget in words": (lambda k: el.optimize(v, budget="a"), "budget is a number, and not 'a'"),  # type: ignore[call-overload]
    "measurements in words": (lambda k: el.optimize(v, measurements="a"), "measurements is a number"),  # type: ignore[call-overload]
    "limits that are none": (lambda k: el.optimize(v, limits=3), "limits is el.Limits"),  # type: ignore[call-overload]
    "rows of different lengths": (lambda k: el.literal([[1, 2], [3]]), "is no array of numbers"),
    "a slice without an end": (lambda k: v[::0], "steps of 0"),
    "an element that is set": (lambda k: v.__setitem__(0, 1), "v does not change: write where"),
    "an element that is deleted": (lambda k: v.__delitem__(0), "v does not change: concat"),
    "a map of a number": (lambda k: el.map(3, v), "3 is no function: patterns take the function first"),  # type: ignore[arg-type]
    "a map with the array first": (lambda k: el.map(v, abs), r"map\(f, x\) takes the array last"),
    "a fold of one argument": (lambda k: el.fold(lambda a: a, 0, v), "the function .lambda.: too many positional"),
    "einsum without letters": (lambda k: el.einsum(v), "einsum takes subscripts first"),  # type: ignore[arg-type]
    "nothing beside nothing": (lambda k: el.concatenate([]), "a list of one or more"),
    "nothing beside nothing, flat": (lambda k: el.hstack([]), "a list of one or more"),
    "one array for a list": (lambda k: el.concatenate(v), "it has no axis 0"),  # type: ignore[arg-type]
    "a triangle of a vector": (lambda k: el.tril(v), "give a matrix"),
    "a range backwards": (lambda k: el.histogram(v, 3, (1, 0)), "must go from a number to a greater one"),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS.keys())
def test_what_does_not_fit_is_named(kernel: el.Kernel, call: Callable[[el.Kernel], Any], message: str) -> None:
    with pytest.raises(el.EggliftError, match=message):
        call(kernel)


def test_a_shape_may_be_an_array_of_numbers() -> None:
    assert el.array("a", el.f32, np.array([2, 3])).shape == (2, 3)  # type: ignore[arg-type]


def test_errors_of_a_users_function_come_through() -> None:
    with pytest.raises(TypeError, match="can't multiply|unsupported"):
        el.map(lambda e: [1] * "a", v)  # type: ignore[operator]
