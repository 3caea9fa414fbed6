"""Macro laws, bigger steps of one law each, follow from small laws where that is possible; the others are listed.

Each is stated on an instance: the program on its left side and that on its right, at given lengths, most of which no
tile divides.  With all macro laws left out, saturation shows the two equal.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from random import Random

import numpy as np
import pytest

import egglift as el
from egglift.egraph.explanation.prove import prove
from egglift.egraph.graph.encode import binary
from egglift.egraph.graph.membership import find
from egglift.egraph.rules.book import book, parse, rules_of
from egglift.egraph.rules.phases import Limits, Phase
from egglift.egraph.saturation.saturate import saturate
from egglift.egraph.soundness.batched_rewriting import rewritten
from egglift.egraph.soundness.check_laws import check_law, drawn
from egglift.egraph.soundness.choices import Choices
from egglift.egraph.soundness.instances import instance_of
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr
from egglift.ir.sizes import SizeOp, Sym
from egglift.ir.traverse import instantiate
from egglift.ir.types import F32, Array

MACROS = tuple(law.name for law in book().laws if law.macro)
SMALL = Limits(rows=4000, seconds=10)

#: Two small laws that the book can do without, for its macro laws take them in
WHOLE_CHUNKS = """
;;; whole-chunks
;; padUp k x = x, where k divides the length of x
(rule ((= e (PadUp (Num k) x)) (= (Arr (Num n) t) (type-of x)) (= (% n k) 0)) ((union e x)) :ruleset whole-chunks)
"""
MAP_TAKE = """
;;; map-take
;; map f (take m x) = take m (map f x)
(rule ((= e (Map f (Take m x))) (= (Arr n t) (type-of x))) ((union e (Take m (Map f x)))) :ruleset map-take)
"""

NATURALITY = (
    "it moves splits, deals or windows through an outer product or a zip of rows: as small laws, naturality of these "
    "views grew the graph to tens of thousands of rows without a fixpoint"
)
ORDER = "no smaller law cuts a fold whose operator may not be associative: this is the small law"
INTERCHANGE = "a loop around a fold becomes a fold over arrays: by small laws, an induction over the fold's steps"
CARRIES = "what is carried into each chunk is a scan itself: by small laws, an induction over the chunks"
FISSION = "it takes a body apart: no law undoes a substitution"
DISTRIBUTES = "it needs that products distribute over sums, which is no law of floating-point numbers"

#: Macro laws that small laws do not make of their left sides, and why
UNDERIVED = {
    "block": NATURALITY,
    "tile-outer": NATURALITY,
    "tile-row": NATURALITY,
    "slide-tiling-2d": NATURALITY,
    "slide-tiling-3d": NATURALITY,
    "fold-split": ORDER,
    "split-k": ORDER + "; and it is fissioned",
    "split-row": ORDER + "; and it is fissioned",
    "fission": FISSION,
    "scan-chunks": CARRIES,
    "interchange-outer": INTERCHANGE,
    "interchange-outer-into": INTERCHANGE,
    "interchange-row": INTERCHANGE,
    "interchange-row-into": INTERCHANGE,
    "interchange-window": INTERCHANGE,
    "separate": DISTRIBUTES,
}

Instance = Callable[[], tuple[el.Value, el.Value]]


def vector(n: int) -> el.Value:
    return el.array("x", el.f32, n)


def total(x: el.Value) -> el.Value:
    return x.reduce(el.add, 0.0)


def chunk() -> tuple[el.Value, el.Value]:
    """67 = 16 * 4 + 3."""
    x = vector(67)
    return total(x), total(x.take(64).split(4).map(total).concat(x.drop(64)))


def deal() -> tuple[el.Value, el.Value]:
    """8 workers take 2 elements each in turn, 4 times."""
    x = vector(64)
    dealt = el.transpose(x.split(2).split(8)).map(lambda chunks: chunks.join())
    return total(x), total(dealt.map(total))


def vectorise_reduce() -> tuple[el.Value, el.Value]:
    """Column i of 4 is folded by lane i."""
    x = vector(67)
    return total(x), total(x.take(64).split(4).transpose().map(total).concat(x.drop(64)))


def reduce_stride() -> tuple[el.Value, el.Value]:
    x = vector(67)
    return total(x), total(x.take(64).stride(8).concat(x.drop(64)))


def tile_map() -> tuple[el.Value, el.Value]:
    x = vector(67)
    in_chunks = x.take(64).split(16).map(lambda part: part.map(twice)).join()
    return x.map(twice), in_chunks.concat(x.drop(64).map(twice))


def twice(v: el.Value) -> el.Value:
    return v * 2.0


DERIVED: dict[str, Instance] = {
    "chunk": chunk,
    "deal": deal,
    "vectorise-reduce": vectorise_reduce,
    "reduce-stride": reduce_stride,
    "tile-map": tile_map,
    "vectorise-map": tile_map,  # the same equation, for lanes
}
#: derived by small laws and one of the two above
WITH_ONE_MORE = ("block-row", "slide-tiling")


def test_every_macro_law_is_derived_or_listed_with_its_reason() -> None:
    assert len(MACROS) == 24
    assert sorted([*DERIVED, *WITH_ONE_MORE, *UNDERIVED]) == sorted(MACROS)


@pytest.mark.parametrize("name", DERIVED)
def test_the_small_laws_derive_a_macro_law(name: str) -> None:
    left, right = DERIVED[name]()
    assert prove(as_expr(left), as_expr(right), disabled=MACROS)


@pytest.mark.parametrize("name", ["chunk", "vectorise-reduce", "tile-map"])
def test_a_wrong_instance_is_not_derived(name: str) -> None:
    """All elements but the last three are taken and none of those that are left out."""
    left, right = DERIVED[name]()
    e = as_expr(right)
    concat = e if isinstance(e, p.Concat) else e.x  # type: ignore[union-attr]
    assert isinstance(concat, p.Concat)
    wrong = concat.a if e is concat else p.Reduce(e.op, e.init, concat.a)  # type: ignore[union-attr]
    assert not prove(as_expr(left), wrong, disabled=MACROS, limits=SMALL)


def test_taking_commutes_with_a_map() -> None:
    (law,) = parse(MAP_TAKE)
    verdict = check_law(law)
    assert verdict.wrong is None and verdict.compared > 0


def test_padding_up_what_chunks_divide_adds_nothing() -> None:
    x = np.arange(12, dtype="f4")
    for k in (1, 2, 3, 4, 6, 12):
        assert np.array_equal(evaluate(p.PadUp(k, as_expr(vector(12))), {"x": x}), x)


def test_small_laws_block_rows_of_pairs_that_blocks_divide() -> None:
    """The instance of block-row: 64 points against 40 others, in blocks of 8."""
    others = el.array("y", el.f32, 40)

    def nearest(a: el.Value) -> el.Value:
        return others.map(lambda b: el.abs(a - b)).reduce(el.minimum, float("inf"))

    x = as_expr(vector(64).map(nearest))
    assert isinstance(x, p.Map)
    block = p.Map(x.body, p.Arg(Array(8, F32)))
    right = p.Take(64, p.Join(p.Map(block, p.Split(8, p.PadUp(8, x.x)))))
    assert prove(x, right, disabled=MACROS, rules=[WHOLE_CHUNKS])
    assert not prove(x, p.Take(56, right), disabled=MACROS, rules=[WHOLE_CHUNKS], limits=SMALL)


def test_small_laws_tile_windows_by_a_symbol() -> None:
    """The instance of slide-tiling: slide-slide tiles the windows, the map is promoted into the tiles and fused."""
    laws = ("slide-slide", "map-promotion", "map-fusion", "take-all")
    e = as_expr(el.stencil(total, 3, 1, 1, 1, "clamp", vector(300)))
    phase = Phase("derive", (*laws, "user"), 8, bottom=True)
    graph = saturate(e, laws=[*laws, "map-take"], rules=[MAP_TAKE], phases=[phase], limits=SMALL).graph
    (name,) = graph.symbols
    assert find(graph, binary(tiled_windows(e, name, 2))) == graph.root
    assert find(graph, binary(tiled_windows(e, name, 3))) is None  # tiles that overlap too much


def tiled_windows(e: Expr, name: str, overlap: int) -> Expr:
    """The right side of slide-tiling: tiles of windows, `name` long, over the padded input."""
    assert isinstance(e, p.Map) and isinstance(e.x, p.Slide)
    tile = Sym(name)
    count = SizeOp("/", SizeOp("+", 300, SizeOp("-", tile, 1)), tile)
    beyond = SizeOp("-", SizeOp("*", count, tile), 300)
    size = SizeOp("+", tile, overlap)
    windows = p.Slide(size, tile, p.Pad(0, beyond, "clamp", e.x.x))
    return p.Take(300, p.Join(p.Map(p.Map(e.body, p.Slide(3, 1, p.Arg(Array(size, F32)))), windows)))


@pytest.mark.parametrize("name", UNDERIVED)
def test_the_laws_that_are_listed_are_not_derived(name: str) -> None:
    """An instance from the law's own text: what the law alone makes of it, the small laws do not."""
    law, rng = book()[name], Random(name)
    rules = rules_of(law)
    last = len(rules) - 1 - law.has_back
    made = (instance_of(rules[last], last, Choices(rng)) for _ in range(320))
    for instance in islice((i for i in made if i is not None), 8):
        (found,) = rewritten(law, [instance])
        for other in (drawn(found.graph, rng) for _ in range(40)):
            env = dict.fromkeys((*found.graph.symbols, *instance.tiles), 2)
            one, two = (instantiate(binary(t), env) for t in (instance.program, other))
            if found.matched and one != two and type_of(one) == type_of(two):
                assert not prove(one, two, disabled=MACROS, limits=SMALL), "take it off the list"
                return
    pytest.fail("no instance was found")
