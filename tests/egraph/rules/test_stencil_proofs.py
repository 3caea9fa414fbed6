"""The derivations of Hagedorn's thesis, in the e-graph."""

from __future__ import annotations

from dataclasses import replace

import pytest

import egglift as el
from benchmarks.programs import convolution_forms as forms
from benchmarks.programs.convolution_forms import FORMS, Sizes
from egglift.egraph.explanation.prove import explain, prove
from egglift.egraph.rules.phases import Limits
from egglift.ir import patterns as p
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32, I32, Array

SMALL = Limits(rows=6000, seconds=20)
WHOLE = Sizes()  # 17 by 17 weights, 4096 by 4096 elements, the tiles of the thesis


def three_points(n: int = 300) -> Expr:
    """Listing 3: `map (reduce (+) 0) (slide 3 1 (pad 1 1 clamp x))`."""
    return as_expr(el.stencil(lambda w: w.reduce(el.add), 3, 1, 1, 1, "clamp", el.array("x", el.f32, n)))


def three_points_in_tiles(size: int = 5, step: int = 3, n: int = 300) -> Expr:
    """Listing 4: a work-group for every tile, slid over by its work-items."""
    padded = p.Pad(1, 1, "clamp", p.Input("x", Array(n, F32)))

    def tile(x: Expr) -> Expr:
        return forms.fmap(lambda w: p.Fold(forms.ADD, forms.ZERO, w), p.Slide(3, 1, x), Level("local"))

    return p.Join(forms.fmap(tile, p.Slide(size, step, padded), Level("workgroup")))


def test_listing_3_is_listing_4() -> None:
    assert prove(three_points(), three_points_in_tiles())
    assert prove(three_points(), three_points_in_tiles(102, 100))


def test_tiles_that_overlap_too_little_or_too_much_are_not_equal() -> None:
    assert not prove(three_points(302), three_points_in_tiles(4, 3, 302), limits=SMALL)
    assert not prove(three_points(301), three_points_in_tiles(6, 3, 301), limits=SMALL)


def test_the_laws_of_that_derivation_are_those_of_the_thesis() -> None:
    laws = set(explain(three_points(), three_points_in_tiles()).laws)
    assert laws == {"slide-tiling", "map-workgroup", "map-local", "reduce-to-fold", "take-all"}


@pytest.mark.parametrize("local", [False, True])
def test_listing_1_is_listing_5_and_6(local: bool) -> None:
    assert prove(forms.high_level(WHOLE), forms.tiled(WHOLE, local))
    assert prove(forms.high_level(WHOLE), forms.tiled(replace(WHOLE, tile=(64, 4)), local))


@pytest.mark.parametrize("name", FORMS)
def test_every_kernel_of_table_1_is_derived(name: str) -> None:
    source = forms.high_level if name in ("00", "01", "02") else forms.high_level_separated
    assert prove(source(WHOLE), FORMS[name](WHOLE))


def test_listing_18_needs_every_optimisation_of_the_thesis() -> None:
    laws = explain(forms.high_level_separated(WHOLE), FORMS["12"](WHOLE), seconds=30).laws
    assert {
        "slide-tiling-2d",
        "to-global",
        "to-local",
        "increase",
        "transpose-transpose",
        "map-seq-unroll",
        "join-split",
        "map-workgroup",
        "map-local",
        "reduce-to-fold",
    } <= set(laws)


def test_a_convolution_of_unknown_weights_is_not_separated() -> None:
    assert not prove(forms.high_level(WHOLE), forms.high_level_separated(WHOLE), limits=SMALL)


def test_a_convolution_of_an_outer_product_is_separated() -> None:
    x, bell = el.array("x", el.i32, (40, 50)), el.literal([1, 4, 6, 4, 1], el.i32)
    weights = [[a * b for b in (1, 4, 6, 4, 1)] for a in (1, 4, 6, 4, 1)]
    direct = as_expr(el.convolution2d(weights, "clamp", x))
    passes = as_expr(el.separable_convolution2d(bell, bell, "clamp", x))
    assert prove(direct, passes)
    assert not prove(direct, passes, reassociate=False, limits=SMALL)
    weights[2][2] += 1
    assert not prove(as_expr(el.convolution2d(weights, "clamp", x)), passes, limits=SMALL)


def test_windows_of_the_thesis_are_ours() -> None:
    """Definition 2.16 slides over turned rows, definition 2.15 pads turned columns."""
    x = el.array("x", el.i32, (40, 50))
    theirs = x.slide(3, 1).map(lambda rows: rows.T.slide(5, 1).map(lambda window: window.T))
    assert prove(as_expr(x.map(lambda row: row.slide(5, 1))), as_expr(el.transpose(x.T.slide(5, 1).map(lambda w: w.T))))
    assert prove(as_expr(x.map(lambda row: row.pad(1, 2, "wrap"))), as_expr(x.T.pad(1, 2, "wrap").T))
    assert prove(as_expr(theirs), as_expr(el.slide2d((3, 5), 1, x)))


def test_the_middle_needs_no_padding() -> None:
    x = el.array("x", el.i32, 100)
    padded = x.pad(1, 2, "mirror")

    def sums(y: el.Value) -> el.Value:
        return y.slide(4, 1).map(lambda w: w.reduce(el.add))

    first, whole = sums(padded.take(4)), as_expr(sums(padded))
    assert prove(whole, as_expr(first.concat(sums(x), sums(padded.drop(98)))))
    assert not prove(whole, as_expr(first.concat(sums(x), sums(padded.take(5)))), limits=SMALL)


def test_two_steps_in_time_are_one_of_both() -> None:
    x = el.array("x", el.i32, 40)

    def step(y: el.Value) -> el.Value:
        return el.stencil(lambda w: w[0] + w[2], 3, 1, 1, 1, "clamp", y)

    assert prove(as_expr(x.iterate(6, step)), as_expr(x.iterate(3, lambda y: step(step(y)))))
    assert not prove(as_expr(x.iterate(6, step)), as_expr(x.iterate(2, lambda y: step(step(y)))), limits=SMALL)


def test_padding_twice_by_the_edge_is_padding_once() -> None:
    x = p.Input("x", Array(40, I32))
    assert prove(p.Pad(2, 3, "clamp", p.Pad(1, 1, "clamp", x)), p.Pad(3, 4, "clamp", x))
    assert not prove(p.Pad(2, 3, "mirror", p.Pad(1, 1, "mirror", x)), p.Pad(3, 4, "mirror", x), limits=SMALL)
