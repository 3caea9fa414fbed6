"""Contractions of what is contracted: the tiles between both are no array."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Loop
from egglift.codegen.kernel.walk import walk
from egglift.costmodel.model.usual_trips import usual_trips
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.chain_ends import ends_of
from egglift.egraph.schedules.chain_parts import arrays_of
from egglift.egraph.schedules.chain_pieces import in_pieces
from egglift.egraph.schedules.chain_structure import chain_structures, parts_structures
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.structures import Structure
from egglift.egraph.schedules.tile_chains import Chained, tile_chains
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from tests.deep import every
from tests.egraph.staged import exact_inputs, result, same, sized
from tests.egraph.stages.programs import arr
from tests.fuzz.data import random_inputs
from tests.fuzz.guarded import outputs_of

pytestmark = pytest.mark.short

Q, K, V = arr("Q", 21, 10), arr("K", 24, 10), arr("V", 24, 7)
M, W = arr("M", 21, 24, t=el.bool_), arr("W", 24)
q, k, v = (el.array(name, el.f32, (2, 3, 17, 10)) for name in "qkv")
beside = el.array("q", el.f32, (2, 17, 3, 10))
shared = el.array("k", el.f32, (2, 17, 10))


def attention(scores: Any, values: Any, sums: str = "ij,jd->id") -> Any:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return el.einsum(sums, powers / powers.sum(axis=-1, keepdims=True), values)


def kernel() -> Any:
    return np.exp(-np.square(Q[:, None] - K[None]).sum(axis=2) / 50)


def causal(scores: Any) -> Any:
    n = scores.shape[-1]
    return el.where(el.arange(n)[:, None] >= el.arange(n), scores, -np.inf)


CHAINS: dict[str, Callable[[], Any]] = {
    "a product of powers": lambda: np.exp(-(Q @ K.T) / 50) @ V,
    "a product from the other side": lambda: V.T @ np.exp(-(K @ Q.T) / 50),
    "whole numbers": lambda: (
        np.abs(arr("Q", 9, 10, t=el.i32) @ arr("K", 20, 10, t=el.i32).T) @ arr("V", 20, 6, t=el.i32)
    ),
    "kernel sums": lambda: kernel() @ V,
    "weighted kernel sums": lambda: kernel() @ (V * W[:, None]),
    "kernel regression": lambda: (kernel() @ V) / kernel().sum(axis=1)[:, None],
    "what follows": lambda: np.maximum(kernel() @ V, 0.5) + Q[:, :7],
    "attention": lambda: attention(Q @ K.T / 3, V),
    "attention to what a mask leaves": lambda: attention(el.where(M, Q @ K.T / 3, -np.inf), V),
    "causal attention of heads": lambda: attention(
        causal(el.einsum("bhid,bhjd->bhij", q, k) / 4), v, "bhij,bhjd->bhid"
    ),
    "heads beside each other": lambda: attention(
        el.einsum("bihd,bjhd->bhij", beside, beside) / 4, v, "bhij,bhjd->bihd"
    ),
    "grouped heads": lambda: attention(el.einsum("bhid,bjd->bhij", q, shared), shared, "bhij,bjd->bhid"),
    "sums over two dimensions": lambda: attention(
        el.einsum("iab,jab->ij", arr("Q", 9, 6, 12), arr("K", 20, 6, 12)) / 8, arr("V", 20, 5)
    ),
    "runs of steps": lambda: attention(arr("Q", 9, 32) @ arr("K", 71, 32).T / 6, arr("V", 71, 5)),
    "long rows": lambda: attention(arr("Q", 9, 150) @ arr("K", 20, 150).T / 12, arr("V", 20, 5)),
}


def found(program: Expr) -> Chained:
    (x,) = tile_chains(stages_of(program))
    return x


def whole_of(program: Expr, x: Chained, own: Expr) -> Expr:
    """A program with `own` for the chain's last stage."""
    stages, terms = stages_of(program), dict[str, Expr]()
    for s in stages.stages:
        if s.name == x.chain.last.name:
            terms[s.name] = placed(own, terms)
        elif s.name not in x.stages:
            terms[s.name] = placed(as_pattern(s), terms)
    return placed(stages.result, terms)


def structure_of(x: Chained) -> Structure:
    (structure,) = chain_structures(x.chain)
    return structure


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("seed", range(2))
def test_a_chain_of_tiles_means_the_same(name: str, seed: int) -> None:
    program = as_program(CHAINS[name]())
    x = found(program)
    term = whole_of(program, x, sized(structure_of(x), Random(seed)))
    assert same(program, term, exact_inputs(program), 1e-4)


@pytest.mark.parametrize("name", ("a product of powers", "kernel regression", "attention to what a mask leaves"))
@pytest.mark.parametrize("count", (2, 3))
def test_pieces_of_a_chain_are_added_up(name: str, count: int) -> None:
    program = as_program(CHAINS[name]())
    x = found(program)
    pieces = in_pieces(x.chain, count)
    (structure,) = parts_structures(pieces.chain)
    arrays = arrays_of(pieces, sized(structure, Random(count)))
    term = whole_of(program, x, placed(as_pattern(pieces.added), arrays))
    assert same(program, term, exact_inputs(program), 1e-4)


SIZES = (
    {
        "m0": 8,
        "q0": 1,
        "c0": 4,
        "n1": 8,
        "q1": 1,
        "c1": 2,
        "n5": 8,
        "c5": 2,
        "a0": 4,
        "a1": 1,
        "a5": 4,
        "a6": 0,
        "f5": 1,
    },
    {
        "m0": 16,
        "q0": 2,
        "c0": 2,
        "n1": 16,
        "q1": 2,
        "c1": 2,
        "n5": 8,
        "c5": 1,
        "a0": 0,
        "a1": 0,
        "a5": 1,
        "a6": 4,
        "f5": 2,
    },
)


@pytest.mark.parametrize(("sizes", "third"), every(4, SIZES, range(3)))
def test_kernels_of_chains_compute_what_is_meant(sizes: dict[str, int], third: int) -> None:
    jobs, wanted, names = [], [], [*CHAINS][third::3]
    for name in names:
        program = as_program(CHAINS[name]())
        x = found(program)
        own = instantiate(structure_of(x).term, sizes | {"k2": 16, "f0": sizes["f5"]})
        plan = compile_term(whole_of(program, x, own), Launch(64), DeviceLimits())
        inputs = random_inputs(program, "exact", 1)
        jobs.append((plan, {n: [np.asarray(a)] for n, a in inputs.items()}))
        wanted.append(result(program, inputs)[0])
    for name, got, want in zip(names, outputs_of(jobs), wanted, strict=True):
        assert np.allclose(got[0], np.asarray(want).reshape(-1), rtol=1e-4, atol=1e-4, equal_nan=True), name


def test_rows_of_which_all_is_masked_are_nan() -> None:
    program = as_program(CHAINS["attention to what a mask leaves"]())
    mask = np.random.default_rng(0).random((21, 24)) < 0.4
    mask[3], mask[5, :20] = False, False  # nothing; and nothing in the first tiles
    inputs = random_inputs(program, "exact", 2) | {"M": mask}
    x = found(program)
    for structure, count in ((structure_of(x), 1), (*parts_structures(in_pieces(x.chain, 3).chain), 3)):
        own = instantiate(structure.term, SIZES[0])
        if count > 1:
            pieces = in_pieces(x.chain, count)
            own = placed(as_pattern(pieces.added), arrays_of(pieces, own))
        assert same(program, whole_of(program, x, own), inputs, 1e-4)
        assert np.isnan(result(whole_of(program, x, own), inputs)[0][3]).all()


@pytest.mark.parametrize(
    "program",
    (
        (lambda s: el.tuple(s, np.exp(s) @ V))(Q @ K.T),  # scores are wanted too
        (lambda s: (np.exp(s) @ V).map(el.max) + s.map(el.max))(Q @ K.T),  # another stage reads them
        el.map(
            lambda s, u: u.T @ s, np.exp(Q @ K.T), arr("U", 21, 24, 5)
        ),  # the other factor is another one for each row
        (Q @ K.T).map(lambda r: V.T.map(lambda c: el.fold(lambda t, v: t - v, 0.0, el.map(el.mul, r, c)))),  # in order
        (lambda e: e @ V / (e * e @ V))(np.exp(Q @ K.T)),  # two sums of products
        (Q @ K.T).map(lambda r: V.T.map(lambda c: el.max(el.map(el.mul, r, c)))),  # no sum
        (Q @ K.T).map(lambda r: r.map(lambda s: np.tanh(s - el.max(r)))) @ V,  # the largest of a row is needed first
    ),
)
def test_what_is_no_chain_stays_an_array(program: Any) -> None:
    assert not list(tile_chains(stages_of(as_program(program))))


LARGE = {"m0": 64, "q0": 1, "c0": 4, "n1": 32, "q1": 1, "c1": 4, "n5": 64, "c5": 4, "a0": 4, "a1": 4, "a5": 4, "a6": 4}


def test_scores_are_no_array_and_accumulators_registers() -> None:
    big = attention(arr("Q", 4096, 64) @ arr("K", 4096, 64).T / 8, arr("V", 4096, 64))
    term = instantiate(structure_of(found(as_program(big))).term, LARGE | {"f5": 1})
    (kernel_,) = compile_term(term, Launch(256), DeviceLimits()).kernels
    assert [b.name for b in kernel_.params] == ["K", "Q", "V", "out"]
    assert kernel_.source.count("barrier(") == 7  # five for each tile, two behind all
    assert "next" not in kernel_.source and kernel_.local_bytes < 48 << 10
    assert "+= r" in kernel_.source and "*= " in kernel_.source


def masked(left: Any) -> Expr:
    scores = arr("Q", 1024, 64) @ arr("K", 1024, 64).T / 8
    return as_program(attention(el.where(left, scores, -np.inf), arr("V", 1024, 64)))


I, J = el.arange(1024)[:, None], el.arange(1024)


@pytest.mark.parametrize("left", (I >= J, J <= I, I + 1 > J, 2 * I >= J + 3, (I < J + 64) & (I >= J)))
def test_loops_end_where_a_mask_leaves_nothing(left: Any) -> None:
    term = instantiate(structure_of(found(masked(left))).term, LARGE | {"f5": 1})
    (kernel_,) = compile_term(term, Launch(256), DeviceLimits()).kernels
    (loop,) = (s for s in walk(kernel_.body) if isinstance(s, Loop) and s.ends is not None)
    assert loop.trips == 32 and 8 < usual_trips(loop) < 26


@pytest.mark.parametrize("left", (I <= J, I != J, (I >= J) | (I < J + 64), arr("M", 1024, 1024, t=el.bool_)))
def test_loops_go_on_where_a_mask_may_leave_something(left: Any) -> None:
    assert ends_of(found(masked(left)).chain) is None


def proposed(program: Any) -> list[str]:
    profile = presets()["nvidia_h200"]
    return [c.sign for c in scheduled(as_program(program), profile, profile.limits, True)]


def test_a_search_proposes_attention_without_scores() -> None:
    x = {name: el.array(name, el.f32, (16, 1024, 64)) for name in "qkv"}
    scores = el.einsum("hid,hjd->hij", x["q"], x["k"]) / 8
    first, *_ = proposed(attention(scores, x["v"], "hij,hjd->hid"))
    assert "chained tiles" in first


def test_few_rows_are_shared_out_in_pieces() -> None:
    few = attention(arr("Q", 512, 64) @ arr("K", 8192, 64).T / 8, arr("V", 8192, 64))
    first, *_ = proposed(few)
    assert "parts chained tiles" in first


def test_a_small_product_of_long_rows_is_computed_once() -> None:
    """As linear attention: the tile would be computed again for each block of columns."""
    x = {name: arr(name, 4096, 64) for name in "qkv"}
    assert "chained" not in proposed(np.maximum(x["q"], 0) @ (np.maximum(x["k"], 0).T @ x["v"]))[0]
