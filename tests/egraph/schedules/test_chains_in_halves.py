"""Chains of products in half precision: what kernels for warp groups compute, and what is rounded where."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import TOLERANCE, sample_inputs
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.chain_parts import arrays_of
from egglift.egraph.schedules.chain_pieces import in_pieces
from egglift.egraph.schedules.chain_structure import chain_structures, parts_structures
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure
from egglift.egraph.schedules.tile_chains import TileChain, tile_chains
from egglift.egraph.stages.partition import stages_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.types import BF16, F16, F32, Scalar
from tests.codegen.emulated_fragments import UNOPTIMISED, emulated
from tests.egraph.schedules.test_fragments import H200, arr
from tests.egraph.staged import exact_inputs, sized
from tests.harness import run

#: a warp group, in tiles of 64 columns; two buffers, where tiles are copied ahead
ONE = {"m0": 64, "n1": 64, "n5": 64, "q0": 1, "k2": 64, "F5": 2}
#: two blocks of rows for each warp, wider tiles
FOUR = {"m0": 128, "n1": 128, "n5": 64, "q0": 2, "k2": 64, "F5": 2}


def wide(x: Any) -> Any:
    return x.astype(el.f32)


def softmax(s: Any) -> Any:
    powers = el.exp(s - s.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(rows: int, columns: int, steps: int, results: int, t: Scalar = F16) -> Any:
    Q, K, V = arr("Q", rows, steps, t=t), arr("K", columns, steps, t=t), arr("V", columns, results, t=t)
    return softmax(wide(Q @ K.T) * 0.125).astype(t) @ V


def heads() -> Any:
    x = {n: arr(n, 2, length, 64, t=F16) for n, length in zip("QKV", (64, 128, 128), strict=True)}
    return softmax(wide(x["Q"] @ x["K"].transpose((0, 2, 1))) * 0.125).astype(el.f16) @ x["V"]


def causal() -> Any:
    scores, i = wide(arr("Q", 128, 64, t=F16) @ arr("K", 128, 64, t=F16).T), el.arange(128)
    return softmax(el.where(i[:, None] >= i[None, :], scores * 0.125, -np.inf)).astype(el.f16) @ arr(
        "V", 128, 64, t=F16
    )


def relu() -> Any:
    return el.maximum(wide(arr("Q", 64, 64, t=F16) @ arr("K", 128, 64, t=F16).T), 0).astype(el.f16) @ arr(
        "V", 128, 64, t=F16
    )


def all_in_halves() -> Any:
    scores = (arr("Q", 64, 64, t=F16) @ arr("K", 128, 64, t=F16).T) * np.float16(0.125)
    return softmax(scores) @ arr("V", 128, 64, t=F16)


CHAINS: dict[str, Callable[[], Any]] = {
    "attention": lambda: attention(128, 256, 64, 64),
    "attention in bf16": lambda: attention(64, 128, 64, 64, BF16),
    "beyond all edges": lambda: attention(100, 200, 64, 70),
    "heads": heads,
    "a mask": causal,
    "no whole lines": lambda: attention(64, 128, 80, 80),
    "long rows": lambda: attention(64, 128, 256, 64),
    "two layers": relu,
    "all in halves": all_in_halves,
}


#: what is beyond their edges is no copy
PADDED = ("beyond all edges", "no whole lines")


def chain_of(program: Any) -> TileChain:
    (x,) = tile_chains(stages_of(as_program(program)))
    return x.chain


def in_groups(x: TileChain) -> list[Structure]:
    return [s for s in chain_structures(x) if "warp groups" in s.sign]


@pytest.mark.parametrize(
    ("name", "streamed", "sizes"),
    [*((name, True, ONE) for name in CHAINS if name not in PADDED), *((name, False, ONE) for name in PADDED)]
    + [("attention", False, FOUR)],
    ids=str,
)
def test_chains_in_halves_compute_their_program(name: str, streamed: bool, sizes: dict[str, int]) -> None:
    program = as_program(CHAINS[name]())
    (s,) = (s for s in in_groups(chain_of(program)) if s.sign.endswith("streamed") == streamed)
    search = Search(s.term, s.tiles, H200, H200.limits)
    found = search.point({symbol: sizes.get(symbol, 0) for symbol in s.tiles}, Launch(128))
    assert isinstance(found, Point), found
    assert found.plan.source.count("void multiply_") == 2, "both products are those of warp groups"
    data = {n: np.asarray(x) for n, x in sample_inputs(program, 0).items()}
    expected = np.asarray(evaluate(program, data, wide=True)).reshape(-1)
    (actual,) = run(emulated(found.plan), data, UNOPTIMISED)
    assert np.abs(actual.astype(np.float64) - expected).max() <= TOLERANCE["f16"] * np.abs(expected).max() * (
        8 if "bf16" in name else 1
    )


def test_units_are_shown_what_is_written_before_the_barrier() -> None:
    (streamed, _) = in_groups(chain_of(CHAINS["attention"]()))
    found = Search(streamed.term, streamed.tiles, H200, H200.limits).point(ONE, Launch(128))
    assert isinstance(found, Point)
    body = found.plan.source.split("kernel ")[-1]
    calls = re.findall(r"show_units|barrier|await_copies|multiply", body)
    rows, copies, powers = (i for i, c in enumerate(calls) if c == "show_units")
    assert calls[rows:copies] == ["show_units", "await_copies"], "rows, before all tiles"
    assert calls[copies : copies + 3] == ["show_units", "barrier", "multiply"]
    assert calls[powers : powers + 3] == ["show_units", "barrier", "multiply"]


def test_each_of_four_lanes_looks_at_all_parts_of_a_row() -> None:
    """In the loop there is a barrier for copies, one for what lanes have found of a row, and one for the powers."""
    (streamed, _) = in_groups(chain_of(CHAINS["attention"]()))
    found = Search(streamed.term, streamed.tiles, H200, H200.limits).point(ONE, Launch(128))
    assert isinstance(found, Point)
    loop = found.plan.source.split("await_copies_0();")[1].split("await_products_16(&acc1")[0]
    assert loop.count("barrier(") == 3


@pytest.mark.parametrize("count", (2, 4))
def test_pieces_of_chains_in_halves_are_added_up(count: int) -> None:
    program = as_program(attention(16, 32, 16, 8))
    x = chain_of(program)
    pieces = in_pieces(x, count)
    (structure,) = (s for s in parts_structures(pieces.chain) if "warp groups" not in s.sign)
    arrays = arrays_of(pieces, sized(structure, Random(count)))
    assert set(arrays) >= {pieces.parts, *pieces.sums}
    assert {g.type for g in pieces.chain.tile_reads} == {F16} and exact_inputs(program)


def test_powers_are_divided_after_the_product() -> None:
    x = chain_of(CHAINS["attention"]())
    assert x.online and x.tile_type == F32
    (factor,) = x.tile_reads
    assert factor.type == F16, "what the second product takes is rounded"
    assert all(g.type == F32 for s in x.sums for g in s.given), "what is added up is not"
    assert str(x.last.body).count("div") == 1


def test_what_may_be_large_is_divided_first() -> None:
    """Powers that no largest one is taken from may not fit f16: they are no tile of powers below 1."""
    scores = wide(arr("Q", 128, 64, t=F16) @ arr("K", 256, 64, t=F16).T) * 0.125
    powers = el.exp(scores)
    program = (powers / powers.sum(axis=1, keepdims=True)).astype(el.f16) @ arr("V", 256, 64, t=F16)
    for x in tile_chains(stages_of(as_program(program))):
        assert not x.chain.online and "div" in str(x.chain.last.body) + str(x.chain.tile.body)


def test_a_search_chains_attention_in_halves() -> None:
    x = {n: arr(n, 16, 1024, 64, t=F16) for n in "QKV"}
    program = softmax(wide(x["Q"] @ x["K"].transpose((0, 2, 1))) * 0.125).astype(el.f16) @ x["V"]
    best, *_ = scheduled(as_program(program), H200, H200.limits, True)
    assert "chained tiles warp groups" in best.sign


def test_the_closed_price_knows_which_tiles_fit_units() -> None:
    (streamed, plain) = in_groups(chain_of(attention(4096, 4096, 64, 64)))
    for s in (streamed, plain):
        order = ranked(s, H200, H200.limits)
        assert order is not None
        assert all(order.sizes(i)["n1"] % 64 == 0 and order.sizes(i)["m0"] % 64 == 0 for i in range(len(order.seconds)))
