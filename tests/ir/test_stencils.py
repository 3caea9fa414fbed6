"""Stencils in one, two and three dimensions against SciPy and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import egglift as el
from egglift.ir import patterns as p
from egglift.ir.errors import ProgramError
from egglift.ir.signature import inputs_of

pytestmark = pytest.mark.short

MODES: dict[str, Any] = {"clamp": "nearest", "mirror": "reflect", "wrap": "wrap", "constant": "constant"}
NUMPY: dict[str, Any] = {"clamp": "edge", "mirror": "symmetric", "wrap": "wrap", "constant": "constant"}
SHAPE = (4, 5, 6)


def given(mode: str) -> Any:
    return ("constant", 0) if mode == "constant" else mode


def grid(*shape: int) -> Any:
    return np.random.default_rng(1).integers(-9, 9, shape).astype(np.int32)


def clamped(i: Any, n: int) -> Any:
    return el.where(i < 0, 0, el.where(i < n, i, n - 1))


# ---------------------------------------------------------------------------------------- padding and windows


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_padding_continues_every_dimension_as_numpy_does(mode: str, dims: int) -> None:
    x = grid(*SHAPE[:dims])
    padded: Any = np.pad
    e = el.pad_nd([1, 2, 3][:dims], [2, 0, 1][:dims], given(mode), el.array("x", el.i32, x.shape))
    widths = [(1, 2), (2, 0), (3, 1)][:dims]
    assert (el.interpret(e, x=x) == padded(x, widths, NUMPY[mode])).all()


def test_every_dimension_may_have_a_mode_of_its_own() -> None:
    x = grid(4, 5)
    padded: Any = np.pad
    e = el.pad2d(1, [2, 1], ["wrap", ("constant", 7)], el.array("x", el.i32, x.shape))
    rows = padded(x, [(0, 0), (1, 1)], "constant", constant_values=7)
    assert (el.interpret(e, x=x) == padded(rows, [(1, 2), (0, 0)], "wrap")).all()


def test_a_value_of_the_program_pads_every_dimension() -> None:
    c, row = el.scalar("c", el.f32), el.array("row", el.f32, 5)
    m = np.arange(15, dtype=np.float32).reshape(3, 5)
    M = el.array("M", el.f32, (3, 5))
    given = {"M": m, "c": np.float32(7), "row": np.full(5, 7, np.float32)}
    for e, widths in (
        (el.pad2d(1, 2, ("constant", c), M), (1, 2)),
        (el.pad2d(1, 2, ("constant", c * 2 - 7), M), (1, 2)),
        (el.pad(1, 2, ("constant", c), M), ((1, 2), (0, 0))),
        (el.pad(1, 2, ("constant", row), M), ((1, 2), (0, 0))),
        (M.pad_up(4, c), ((0, 1), (0, 0))),
    ):
        inputs = {name: given[name] for name in inputs_of(el.as_program(e))}
        want = np.pad(m, widths, constant_values=7)
        np.testing.assert_array_equal(el.interpret(e, **inputs), want)
        np.testing.assert_array_equal(el.optimize(e, "pocl", measure="none", cache=False)(**inputs), want)


def test_a_value_that_pads_must_be_of_the_elements_type() -> None:
    M = el.array("M", el.f32, (3, 5))
    for wrong in (el.scalar("c", el.i32), el.array("row", el.f32, 4)):
        with pytest.raises(el.TypeMismatch, match="the padding is"):
            M.pad(1, 1, ("constant", wrong))


def test_a_function_of_the_index_pads_as_the_mode_it_spells() -> None:
    x, X = grid(4, 5), el.array("x", el.i32, (4, 5))
    modes: list[tuple[Callable[..., Any], str]] = [
        (clamped, "clamp"),
        (lambda i, n: el.where(i < 0, -1 - i, el.where(i < n, i, 2 * n - 1 - i)), "mirror"),
        (lambda i, n: i % n, "wrap"),
    ]
    for function, mode in modes:
        ours = el.interpret(el.pad2d(2, 3, function, X), x=x)
        assert (ours == el.interpret(el.pad2d(2, 3, mode, X), x=x)).all()


@pytest.mark.parametrize("size", [(3,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("step", [1, 2])
def test_windows_are_those_of_numpy(size: tuple[int, ...], step: int) -> None:
    x = grid(*SHAPE[: len(size)])
    windows = np.lib.stride_tricks.sliding_window_view(x, size)[(slice(None, None, step),) * len(size)]
    assert (el.interpret(el.slide_nd(size, step, el.array("x", el.i32, x.shape)), x=x) == windows).all()


def test_names_for_two_and_three_dimensions_say_the_same() -> None:
    X = el.array("x", el.i32, SHAPE)
    assert el.slide2d(2, 1, X).expr is el.slide_nd((2, 2), (1, 1), X).expr
    assert el.slide3d((2, 1, 2), 2, X).expr is el.slide_nd((2, 1, 2), (2, 2, 2), X).expr
    assert el.pad2d(1, 0, "wrap", X).expr is el.pad_nd((1, 1), (0, 0), "wrap", X).expr
    assert el.pad3d(1, 0, "wrap", X).expr is el.pad_nd(1, 0, ["wrap"] * 3, X).expr


def test_the_windows_of_the_thesis_are_these() -> None:
    """Definition 2.16 turns the rows of windows before it slides over the columns."""
    x, X = grid(5, 6), el.array("x", el.i32, (5, 6))
    theirs = X.slide(2, 1).map(lambda rows: rows.T.slide(3, 1).map(lambda window: window.T))
    assert (el.interpret(theirs, x=x) == el.interpret(el.slide2d((2, 3), 1, X), x=x)).all()


def test_no_padding_leaves_the_array() -> None:
    X = el.array("x", el.i32, (4, 5))
    assert el.pad2d(0, 0, "clamp", X).expr is X.expr
    assert isinstance(el.pad2d([1, 0], [0, 0], "clamp", X).expr, p.Pad)


# ---------------------------------------------------------------------------------------- stencils


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_stencil_is_given_the_window_around_every_element(mode: str, dims: int) -> None:
    x = grid(*SHAPE[:dims])

    def largest(w: Any) -> Any:
        for _ in range(dims - 1):
            w = w.join()
        return w.reduce(el.maximum)

    e = el.stencil(largest, (3,) * dims, 1, 1, 1, given(mode), el.array("x", el.i32, x.shape))
    assert (el.interpret(e, x=x) == ndimage.maximum_filter(x, 3, mode=MODES[mode])).all()


def test_a_stencil_takes_elements_of_other_grids_too() -> None:
    x, q = grid(4, 5), grid(4, 5) + 1
    X, Q = el.array("x", el.i32, (4, 5)), el.array("q", el.i32, (4, 5))
    e = el.stencil(lambda w, a, b: w[0][1] + a * b, (3, 3), 1, 1, 1, "clamp", X, Q, Q)
    assert (el.interpret(e, x=x, q=q) == np.pad(x, 1, "edge")[:-2, 1:-1] + q * q).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_convolution_of_one_dimension_is_scipys(mode: str, n: int) -> None:
    x, w = grid(9), grid(n)
    e = el.convolution1d(el.array("w", el.i32, n), given(mode), el.array("x", el.i32, 9))
    assert (el.interpret(e, x=x, w=w) == ndimage.correlate1d(x, w, mode=MODES[mode])).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(3, 3), (1, 5), (5, 3)])
def test_a_convolution_of_two_dimensions_is_scipys(mode: str, shape: tuple[int, int]) -> None:
    x, w = grid(7, 6), grid(*shape)
    expected = ndimage.correlate(x, w, mode=MODES[mode])
    X = el.array("x", el.i32, x.shape)
    assert (el.interpret(el.convolution2d(el.array("w", el.i32, shape), given(mode), X), x=x, w=w) == expected).all()
    assert (el.interpret(el.convolution2d(w, given(mode), X), x=x) == expected).all()


@pytest.mark.parametrize("mode", MODES)
def test_a_separable_convolution_is_that_of_the_outer_product(mode: str) -> None:
    x, u, v = grid(7, 6), grid(3), grid(5)
    X = el.array("x", el.i32, x.shape)
    e = el.separable_convolution2d(el.array("u", el.i32, 3), el.array("v", el.i32, 5), given(mode), X)
    assert (el.interpret(e, x=x, u=u, v=v) == ndimage.correlate(x, np.outer(u, v), mode=MODES[mode])).all()


def test_numbers_in_a_list_take_the_type_of_the_elements() -> None:
    x, i = el.array("x", el.f32, 8), el.array("i", el.i32, 8)
    assert el.convolution1d([1, 2, 1], "clamp", x).type == x.type
    assert el.convolution1d([0.5, 1.0, 0.5], "clamp", x).type == x.type
    assert el.convolution1d([1, 2, 1], "clamp", i).type == i.type
    assert str(el.convolution1d([0.5, 1.0, 0.5], "clamp", i).type) == "[f64]8"


def test_a_convolution_may_continue_rows_and_columns_differently() -> None:
    x, w = grid(7, 6), grid(3, 3)
    e = el.convolution2d(w, ["wrap", "clamp"], el.array("x", el.i32, x.shape))
    padded: Any = np.pad
    q = padded(np.pad(x, [(0, 0), (1, 1)], "edge"), [(1, 1), (0, 0)], "wrap")
    assert (el.interpret(e, x=x) == ndimage.correlate(q, w)[1:-1, 1:-1]).all()


@pytest.mark.parametrize("dims", [2, 3])
def test_a_stencil_iterates_over_a_grid(dims: int) -> None:
    x = grid(*SHAPE[:dims])

    def step(g: Any) -> Any:
        return el.stencil(lambda w: sum(_faces(w, dims)), (3,) * dims, 1, 1, 1, "wrap", g)

    expected = x
    for _ in range(3):
        expected = sum(np.roll(expected, s, axis=a) for a in range(dims) for s in (1, -1))  # type: ignore[assignment]
    assert (el.interpret(el.iterate(3, step, el.array("x", el.i32, x.shape)), x=x) == expected).all()


def _faces(w: Any, dims: int) -> list[Any]:
    middle = (1,) * dims
    return [w[(*middle[:a], s, *middle[a + 1 :])] for a in range(dims) for s in (0, 2)]


# ---------------------------------------------------------------------------------------- what is refused

V, M = el.array("v", el.f32, 8), el.array("m", el.f32, (8, 8))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda: el.stencil(sum, (3, 3), (1, 1, 1), 0, 0, "clamp", M), "3 numbers for 2 dimensions"),
        (lambda: el.pad2d(1, (1, 1, 1), "clamp", M), "3 numbers for 2 dimensions"),
        (lambda: el.pad2d(1, 1, ["clamp"], M), "1 modes for 2 dimensions"),
        (lambda: el.pad_nd((1, 1), (1, 1, 1), "clamp", M), "different numbers of dimensions"),
        (lambda: el.pad_nd((1, 1), 1, "clamp", V), "2 dimensions are given, but v is"),
        (lambda: el.slide2d(3, 1, V), "windows in 2 dimensions"),
        (lambda: el.pad2d(1, 1, "ends", M), "clamp, mirror, reflect, wrap, constant"),
        (lambda: el.convolution1d([1.0, 2.0], "clamp", V), "an even number of weights has no middle"),
        (lambda: el.convolution2d([1.0, 2.0, 1.0], "clamp", M), "these weights are a matrix"),
        (lambda: el.map_nd(lambda a: a, 0, M), "the depth of map_nd must be 1 or more"),
    ],
)
def test_what_does_not_fit_is_explained(program: Callable[[], Any], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        program()
