"""Names of NumPy's that others make up: each, on arrays of several shapes and types, is NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.types import scalar_of
from tests.ir.agreement import Call, agree, equals

RNG = np.random.default_rng(3)
LINE, GRID = (RNG.normal(size=shape).astype(np.float32) for shape in (6, (3, 4)))
CUBE = RNG.integers(-9, 9, (2, 3, 4))
#: near 0 and far from it, halves, what is not finite
ODD = np.array([0.0, 1e-9, -1e-9, 0.5, 1.5, 2.5, -0.5, -2.5, 0.49999997, 3.7, -3.7, 88.9, -88.9, 1e30, 16777217.0])
ODD = np.concatenate([ODD, [np.inf, -np.inf, np.nan]])


@pytest.mark.parametrize("name", ["trunc", "rint"])
@pytest.mark.parametrize("a", [ODD, ODD.astype("f4"), -ODD, CUBE.astype("i4")], ids=["f8", "f4", "negative", "i4"])
def test_numbers_become_whole_as_in_numpy(name: str, a: Any) -> None:
    agree(lambda m, x: getattr(m, name)(x), a)


@pytest.mark.parametrize(
    "name", ["log1p", "expm1", "log2", "log10", "exp2", "sinh", "cosh", "reciprocal", "deg2rad", "rad2deg"]
)
@pytest.mark.parametrize("a", [ODD, ODD.astype("f4"), GRID], ids=["f8", "f4", "grid"])
def test_functions_of_one_number_are_those_of_numpy(name: str, a: Any) -> None:
    agree(lambda m, x: getattr(m, name)(x), a, exact=False)


@pytest.mark.parametrize("name", ["log1p", "expm1", "sinh", "cosh", "deg2rad", "rad2deg", "log10"])
@pytest.mark.parametrize("t", [np.int32, np.int16, np.int64])
def test_integers_become_the_floats_that_numpy_takes(name: str, t: Any) -> None:
    agree(lambda m, x: getattr(m, name)(x), np.array([1, 2, 3], t), exact=False)


@pytest.mark.parametrize("t", [np.float32, np.float64])
def test_hypot_is_that_of_numpy(t: Any) -> None:
    numbers = np.array([0, 3, -4, 1e-30, 1e30, np.inf, -np.inf, np.nan], t)
    x, y = (v.reshape(-1) for v in np.meshgrid(numbers, numbers))
    agree(lambda m, a, b: m.hypot(a, b), x, y, exact=False)


REARRANGED: list[Call] = [
    lambda m, x: m.ravel(x),
    lambda m, x: m.swapaxes(x, 0, -1),
    lambda m, x: m.swapaxes(x, 1, 1),
    lambda m, x: m.moveaxis(x, 0, -1),
    lambda m, x: m.moveaxis(x, -1, 0),
    lambda m, x: m.moveaxis(x, [0, 1], [1, 0]),
    lambda m, x: m.expand_dims(x, 0),
    lambda m, x: m.expand_dims(x, (0, -1)),
    lambda m, x: m.broadcast_to(x, (2, *x.shape)),
    lambda m, x: m.broadcast_to(m.expand_dims(x, 1), (*x.shape[:1], 5, *x.shape[1:])),
    lambda m, x: m.tile(x, 2),
    lambda m, x: m.tile(x, (3, 2)),
    lambda m, x: m.tile(x, (2, 1, 1, 2)),
    lambda m, x: m.repeat(x, 3),
    lambda m, x: m.repeat(x, 2, axis=0),
    lambda m, x: m.repeat(x, 2, axis=-1),
    lambda m, x: m.stack([x, x + 1]),
    lambda m, x: m.stack([x, x + 1, x], axis=1),
    lambda m, x: m.stack([x, x * 2.5], axis=-1),
    lambda m, x: x[::2],
    lambda m, x: x[:, None],
]


@pytest.mark.parametrize("f", REARRANGED)
@pytest.mark.parametrize("a", [GRID, CUBE], ids=["grid", "cube"])
def test_arrays_are_rearranged_as_in_numpy(f: Call, a: Any) -> None:
    agree(f, a)


@pytest.mark.parametrize("f", [REARRANGED[i] for i in (0, 6, 8, 10, 11, 13, 14, 16, 18, 19, 20)])
def test_vectors_are_rearranged_as_in_numpy(f: Call) -> None:
    agree(f, LINE)


WHOLE = {n: RNG.integers(-9, 9, shape).astype(float) for n, shape in {"v": 4, "m": (3, 4), "s": (2, 3, 4)}.items()}


PAIRS = [(name, pair) for pair in ("vv", "mm", "ss", "mv", "vm", "sm", "vs") for name in ("outer", "inner")]


@pytest.mark.parametrize(("name", "pair"), [*PAIRS, ("vdot", "vv"), ("vdot", "mm"), ("vdot", "ss")])
def test_products_are_those_of_numpy(name: str, pair: str) -> None:
    agree(lambda m, x, y: getattr(m, name)(x, y), *(WHOLE[n] for n in pair))


@pytest.mark.parametrize("pair", ["vv", "mv", "sv", "mm", "sm", "vm", "ss"])
@pytest.mark.parametrize("name", ["dot", "matmul"])
def test_dot_and_matmul_are_those_of_numpy(name: str, pair: str) -> None:
    x, y = (WHOLE[n] for n in pair)
    y = np.swapaxes(y, -1, -2).copy() if y.ndim > 1 else y
    agree(lambda m, a, b: getattr(m, name)(a, b), x, y)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_places_along_axes_are_those_of_numpy(name: str, axis: int | None, keepdims: bool) -> None:
    for a in (GRID, CUBE, RNG.integers(0, 2, (3, 4))):
        agree(lambda m, x: getattr(m, name)(x, axis=axis, keepdims=keepdims), a)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_norms_are_those_of_numpy(axis: Any) -> None:
    for a in (GRID, CUBE[0]):
        e = el.norm(el.array("x", scalar_of(a.dtype), a.shape), axis=axis)
        want = np.linalg.norm(a, axis=axis)
        equals(e, {"x": a}, np.asarray(want), 1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda m: m.zeros(3),
        lambda m: m.ones((2, 3)),
        lambda m: m.full((2, 2), 2.5),
        lambda m: m.full(3, 7),
        lambda m: m.eye(3),
        lambda m: m.eye(3, 4, 1),
        lambda m: m.eye(4, 3, -2),
        lambda m: m.linspace(0, 1, 7),
        lambda m: m.linspace(-3.0, 0.1, 50),
        lambda m: m.linspace(5, 5, 1),
        lambda m: m.linspace(0, 1, 0),
        lambda m: m.linspace(2, 3, 8, endpoint=False),
        lambda m: m.arange(5),
        lambda m: m.arange(2, 9, 3),
        lambda m: m.arange(9, 2, -2),
        lambda m: m.arange(0.5, 3.2, 0.3),
        lambda m: m.arange(4.0),
        lambda m: m.arange(3, 1),
    ],
)
def test_arrays_are_made_as_in_numpy(f: Callable[[Any], Any]) -> None:
    equals(f(el), {}, f(np), 4e-16, 1e-15)


def test_arrays_are_made_of_the_type_that_is_asked_for() -> None:
    made = [
        el.zeros(2, el.f32),
        el.ones(2, "i8"),
        el.full(2, 3, el.u8),
        el.eye(2, dtype=el.f32),
        el.arange(2, dtype=el.f32),
    ]
    assert [str(e.type) for e in made] == ["[f32]2", "[i8]2", "[u8]2", "[[f32]2]2", "[f32]2"]
    filled = el.full((2, 3), el.scalar("c", el.f32))
    assert el.interpret(filled, c=2).tolist() == [[2.0] * 3] * 2
    assert el.linspace(0, 1, 3, dtype=el.f32).type == el.array("x", el.f32, 3).type


x, v = el.array("x", el.f32, (3, 4)), el.array("v", el.f32, 5)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda: el.swapaxes(x, 0, 2), "it has no axis 2; there are 2"),
        (lambda: el.moveaxis(x, [0, 0], [0, 1]), "names an axis twice"),
        (lambda: el.moveaxis(x, [0, 1], 0), r"2 axes, \[0, 1\], go to 1 places, 0"),
        (lambda: el.expand_dims(x, 3), "the result has 3 axes, and no axis 3"),
        (lambda: el.expand_dims(x, (0, -4)), "name an axis twice"),
        (lambda: el.broadcast_to(x, (4, 4)), r"x has shape \(3, 4\), and cannot have \(4, 4\)"),
        (lambda: el.tile(x, -1), "must be 0 or more"),
        (lambda: el.stack([x, v]), r"arrays of one shape, not \(3, 4\), \(5,\)"),
        (lambda: el.stack([]), "are a list of one or more, and not"),
        (lambda: el.inner(x, v), r"the last axes have lengths 4 and 5"),
        (lambda: el.vdot(x, v), "the last axes have lengths 12 and 5"),
        (lambda: el.argmax(x, axis=2), "it has no axis 2"),
        (lambda: el.reciprocal(el.array("i", el.i32, 3)), "cast it to a float type"),
        (lambda: el.arange(0, 1, 0), "steps of 0"),
        (lambda: el.arange(el.scalar("n", el.i64)), "arange takes numbers"),
        (lambda: el.zeros(3, (el.f32, el.i32)), "no type of numbers"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_so(f: Callable[[], Any], message: str) -> None:
    with pytest.raises(el.ProgramError, match=message):
        f()
