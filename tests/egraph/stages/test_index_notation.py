"""What the element of each pattern at an index is, and what has no index notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import composed, exact_inputs, last, only_stage, result, texts
from tests.egraph.stages.programs import PROGRAMS, add_up, arr, dot

A, x, y = arr("A", 5, 7), arr("x", 7), arr("y", 7)
add_rows = el.operator(lambda a, b: el.map(lambda u, v: u + v, a, b), neutral=0.0)

#: a program, and its one stage as text
EQUATIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "map": (lambda: x.map(lambda v: v * v), "stage0[0 < 7] = (mul x[0] x[0])"),
    "zip": (lambda: x + y, "stage0[0 < 7] = (add x[0] y[0])"),
    "distl": (
        lambda: A.map(lambda r: add_up(r.map(lambda v: v * y[0]))),
        "stage0[0 < 5] = (add for 1 < 7 of (mul A[0,1] (at 0 y)))",
    ),
    "cross": (lambda: el.allpairs(lambda a, b: a - b, x, y), "stage0[0 < 7, 1 < 7] = (sub x[0] y[1])"),
    "transpose": (lambda: el.exp(A).T, "stage0[0 < 7, 1 < 5] = (exp A[1,0])"),
    "roll": (lambda: el.exp(x).roll(2) + x, "stage0[0 < 7] = (add (exp (roll 2 x)[0]) x[0])"),
    "fill": (lambda: x.map(lambda v: el.fill(3, v)), "stage0[0 < 7, 1 < 3] = x[0]"),
    "reduce": (lambda: A.map(lambda r: el.reduce(el.maximum, 1.0, r)), "stage0[0 < 5] = (maximum for 1 < 7 of A[0,1])"),
    "sums of sums": (lambda: add_up(A), "stage0[] = (add for 0 < 5, 1 < 7 of A[0,1])"),
    "sum of joined": (lambda: el.reduce(el.add, 0.0, el.join(A)), "stage0[] = (add for 0 < 5, 1 < 7 of A[0,1])"),
    "sum of arrays": (lambda: el.reduce(add_rows, 0.0, A), "stage0[0 < 7] = (add for 1 < 5 of A[1,0])"),
    "computed and joined": (lambda: el.join(el.exp(A)), "stage0[0 < 35] = (exp (join A)[0])"),
    "computed and split": (
        lambda: el.split(5, el.join(el.exp(A))),
        "stage0[0 < 7, 1 < 5] = (exp (split 5 (join A))[0,1])",
    ),
    "computed and taken": (lambda: el.take(3, el.exp(x)), "stage0[0 < 3] = (exp (take 3 x)[0])"),
    "computed and slid": (lambda: el.slide(3, 2, el.exp(x)), "stage0[0 < 3, 1 < 3] = (exp (slide 3 2 x)[0,1])"),
    "computed and gathered": (
        lambda: el.gather(arr("i", 4, t=el.i32), el.exp(x)),
        "stage0[0 < 4] = (exp (gather i x)[0])",
    ),
    "what is read as it is": (lambda: A.map(lambda r: r.map(lambda v: v)), "stage0[0 < 5, 1 < 7] = A[0,1]"),
    "iterate of a number": (
        lambda: x.map(lambda v: el.iterate(3, lambda a: a * a + 1, v)),
        "stage0[0 < 7] = (iterate 3 (add (mul arg arg) 1.0) x[0])",
    ),
    "read arrays side by side": (lambda: el.concat(x, y), "stage0[0 < 14] = (concat x y)[0]"),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_the_element_of_a_pattern_is_as_its_equation_says(name: str) -> None:
    program, text = EQUATIONS[name]
    assert texts(program()) == [text]


MEANINGS: dict[str, Callable[[], Any]] = {
    "computed and padded with a constant": lambda: el.pad(2, 1, ("constant", 4.0), el.exp(x)),
    "computed rows padded with rows": lambda: el.pad_nd([1, 2], [2, 0], ("constant", 3.0), el.exp(A)),
    "computed and padded up": lambda: el.pad_up(4, el.exp(x), 2.0),
    "padded with what is computed": lambda: A.map(lambda r: el.pad(1, 1, ("constant", r[0] * 2), r)),
    "computed arrays side by side": lambda: el.concat(el.exp(x), x * 2, y),
    "computed rows side by side": lambda: A.map(lambda r: el.concat(r, el.exp(r))),
    "tuples side by side": lambda: el.concat(el.zip(x, el.exp(y)), el.zip(y, x)).map(lambda v: v[0] - v[1]),
    "gathered at computed indices": lambda: A.map(lambda r: el.gather(r.map(lambda v: v.cast(el.i32) + 1), el.exp(r))),
    "gathered rows": lambda: el.gather(arr("i", 4, t=el.i32), el.exp(A)),
    "begun with what is computed": lambda: A.map(lambda r: el.reduce(el.add, r[0] * 2, r)),
    "a sum of computed arrays": lambda: A.map(lambda r: el.reduce(add_rows, 1.0, A.map(lambda s: s * r[0]))),
    "a fold of arrays": lambda: el.fold(lambda a, r: a * 0.5 + r, el.fill(7, el.literal(2.0, el.f32)), A),
    "joined and filled": lambda: A.map(lambda r: el.reduce(el.add, 0.0, el.join(r.map(lambda v: el.fill(3, v))))),
    "a composition of joined": lambda: el.reduce(composed, (1, 0), el.join(el.array("P", (el.i64, el.i64), (3, 4)))),
    "numbers that are iterated together": lambda: el.unzip(
        x.map(lambda v, w: el.iterate(4, lambda s: el.tuple(s[1], s[0] + s[1] * 0.5), el.tuple(v, w)), y)
    ),
    "an iteration of what is reduced": lambda: A.map(lambda r: el.iterate(3, lambda a: el.tanh(a) + 1, add_up(r))),
    "the last of joined": lambda: el.reduce(last, 0, el.join(el.array("i", el.i32, (3, 4)))),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_what_is_computed_and_laid_out_means_the_same(name: str) -> None:
    assert texts(MEANINGS[name]())


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages_mean_what_their_program_means(name: str) -> None:
    assert texts(PROGRAMS[name]())


N, O, C, H, W, K = 2, 3, 4, 6, 7, 3
image, filters = arr("x", N, C, H, W), arr("w", O, C, K, K)
last_channels, filters_last = arr("x", N, H, W, C), arr("w", O, K, K, C)
add_images = el.operator(lambda a, b: el.map(lambda r, s: el.map(lambda u, v: u + v, r, s), a, b), neutral=0.0)
EDGE = ("constant", 0.0)


def flat(v: Any) -> Any:
    return v if len(v.shape) == 1 else flat(el.join(v))


def windows(img: Any) -> Any:
    """h w c i j"""
    return el.transpose(img.map(lambda ch: el.slide2d(K, 1, el.pad2d(1, 1, EDGE, ch)))).map(el.transpose)


#: how a convolution with channels is written
CONVOLUTIONS: dict[str, Callable[[], Any]] = {
    "joined windows": lambda: image.map(
        lambda i: filters.map(lambda f: windows(i).map(lambda r: r.map(lambda w: dot(flat(w), flat(f)))))
    ),
    "nested sums": lambda: image.map(
        lambda i: filters.map(
            lambda f: windows(i).map(
                lambda r: r.map(lambda w: add_up(el.map(lambda a, b: add_up(el.map(dot, a, b)), w, f)))
            )
        )
    ),
    "a sum of images": lambda: image.map(
        lambda i: filters.map(
            lambda f: el.reduce(add_images, 0.0, el.map(lambda ch, k: el.convolution2d(k, EDGE, ch), i, f))
        )
    ),
    "stencils": lambda: image.map(
        lambda i: filters.map(
            lambda f: el.reduce(
                add_images,
                0.0,
                el.map(lambda c, k: el.stencil(lambda w: dot(flat(w), flat(k)), [K, K], 1, 1, 1, EDGE, c), i, f),
            )
        )
    ),
    "channels last": lambda: last_channels.map(
        lambda i: filters_last.map(lambda f: el.slide2d(K, 2, i).map(lambda r: r.map(lambda w: dot(flat(w), flat(f)))))
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_with_channels_are_one_stage(name: str) -> None:
    (text,) = texts(CONVOLUTIONS[name]())
    space = "4 < 3, 5 < 3, 6 < 4" if name == "channels last" else "4 < 4, 5 < 3, 6 < 3"
    assert f"(add for {space} of (mul " in text
    assert "w[1,4,5,6]" in text, "weights are read as they are"
    assert len(only_stage(CONVOLUTIONS[name]()).dims) == 4


#: what has none, and what is said of it
NONE: dict[str, tuple[Callable[[], Any], str]] = {
    "iterate": (lambda: el.iterate(3, lambda v: v.map(lambda e: e * 2), x), "iterate has no index notation"),
    "empty": (lambda: arr("x", 0).map(lambda v: v * 2), "an empty array"),
    "not element by element": (
        lambda: el.fold(lambda a, r: el.map(lambda v: v + r[0], a), x, A),
        "not element by element",
    ),
    "a computed begin of a fold": (
        lambda: A.map(lambda r: el.fold(lambda a, v: a * 2 + v, r[0] * 2, r)),
        "begins with what is computed",
    ),
    "a computed begin without a neutral element": (
        lambda: arr("I", 3, 4, t=el.i32).map(lambda r: el.reduce(last, r[0] * 2, r)),
        "begins with what is computed",
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_what_has_no_index_notation_is_refused(name: str) -> None:
    program, why = NONE[name]
    with pytest.raises(NoStages, match=why):
        stages_of(as_program(program()))


def test_what_is_scanned_or_counted_twice_is_so_once() -> None:
    scan = lambda: el.cumsum(A * 2.0, axis=1)  # noqa: E731
    assert sum("(add up to" in text for text in texts(el.tuple(scan().max(axis=1) * 2, scan().T))) == 1
    counts = lambda: el.bincount(arr("i", 50, t=el.i32), 8)  # noqa: E731
    found = texts(counts() / counts().sum() + el.cumsum(counts()) * 0)
    assert sum("(count for" in text for text in found) == 1


def test_numbers_that_are_iterated_together_are_so_once() -> None:
    (text,) = texts(MEANINGS["numbers that are iterated together"]())
    assert text.startswith("stage0[0 < 7] = (tuple (get 0 (iterate 4 ")


def test_sums_of_sums_stay_apart_where_order_is_kept() -> None:
    assert len(texts(add_up(arr("A", 5, 9)), reassociate=False)) == 2
    with pytest.raises(NoStages, match="begins with what is computed"):
        stages_of(as_program(A.map(lambda r: el.reduce(el.add, r[0] * 2, r))), reassociate=False)


def test_a_right_result_is_told_from_a_wrong_one() -> None:
    inputs = exact_inputs(as_program(x + y))
    assert np.array_equal(result(x + y, inputs)[0], inputs["x"] + inputs["y"])
