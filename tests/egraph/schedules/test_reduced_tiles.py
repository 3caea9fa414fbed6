"""Tiles that are reduced in registers, never written."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.reduced_tiles import ReducedTiles, in_pieces, reduced_structure, reduced_tiles, tiled
from egglift.egraph.schedules.tile_choices import tile_choices, tile_ways
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from egglift.options import Laws
from egglift.search import searched
from tests.egraph.staged import exact_inputs, same, sized
from tests.egraph.stages.programs import Value, add_up, arr, dot

pytestmark = pytest.mark.short

A, B, y, T = arr("A", 21, 10), arr("B", 24, 10), arr("y", 24), arr("T", 3, 5, 10)


def squared(a: Value, b: Value) -> Value:
    return add_up(el.zip(a, b).map(lambda v: (v[0] - v[1]) * (v[0] - v[1])))


def log_sum_exp(row: Value) -> Value:
    return el.max(row) + el.log(add_up(row.map(lambda v: el.exp(v - el.max(row)))))


REDUCED: dict[str, Callable[[], Any]] = {
    "the nearest of all": lambda: A.map(lambda a: el.argmin(B.map(lambda b: squared(a, b)))),
    "a density": lambda: A.map(lambda a: add_up(B.map(lambda b: el.exp(-squared(a, b))))),
    "a weighted density": lambda: A.map(lambda a: add_up(el.map(lambda b, w: el.exp(-squared(a, b)) * w, B, y))),
    "a tuple": lambda: (A @ B.T).map(log_sum_exp),
    "what follows": lambda: el.map(lambda r, a: el.max(r) * a[0], A @ B.T, A),
    "columns": lambda: el.max(B @ A.T, axis=0),
    "a batch": lambda: T.map(lambda t: t.map(lambda q: el.max(B.map(lambda b: dot(q, b))))),
    "norms that are computed before": lambda: A.map(
        lambda a: el.max(B.map(lambda b: dot(a, b) / el.sqrt(1 + dot(a, a) * dot(b, b))))
    ),
}


def found(program: Any) -> ReducedTiles:
    (x,) = reduced_tiles(stages_of(as_program(program)))
    return x


def whole_of(program: Expr, x: ReducedTiles, own: Expr, stages: Stages | None = None) -> Expr:
    """A program with `own` for the stage that reduces tiles."""
    stages, terms = stages or stages_of(program), dict[str, Expr]()
    for s in stages.stages:
        if s.name != x.first.name:
            terms[s.name] = placed(own if s.name == x.last.name else as_pattern(s), terms)
    return placed(stages.result, terms)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("seed", range(3))
def test_a_result_of_tiles_in_registers_is_the_same(name: str, seed: int) -> None:
    program = as_program(REDUCED[name]())
    x = found(program)
    structure = reduced_structure(x, True)
    assert structure is not None
    term = whole_of(program, x, sized(structure, Random(seed)))
    assert same(program, term, exact_inputs(program), 1e-4)


TOTALS: dict[str, Callable[[], Any]] = {
    "a total": lambda: el.maximum(A @ B.T, 1.0).sum(),
    "a mean of a kernel": lambda: el.exp(-el.square(A[:, None] - B[None]).sum(2) / 20).mean(),
}


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.parametrize("seed", range(2))
def test_totals_are_added_row_by_row_of_tiles(name: str, seed: int) -> None:
    program = as_program(TOTALS[name]())
    ((cut, x),) = [(w, x) for w, x in tiled(stages_of(program)) if x.last.name.endswith(".rows")]
    structure = reduced_structure(x, True)
    assert structure is not None
    term = whole_of(program, x, sized(structure, Random(seed)), cut)
    assert same(program, term, exact_inputs(program), 1e-4)


@pytest.mark.parametrize("name", [name for name in REDUCED if name not in ("columns", "a batch")])
@pytest.mark.parametrize("pieces", (2, 4))
def test_pieces_of_the_columns_are_added(name: str, pieces: int) -> None:
    program = as_program(REDUCED[name]())
    x = found(program)
    parts, last = in_pieces(x, pieces)
    structure = reduced_structure(parts, True)
    assert structure is not None
    terms = {parts.last.name: sized(structure, Random(pieces))}
    assert same(program, whole_of(program, x, placed(as_pattern(last), terms)), exact_inputs(program), 1e-4)


@pytest.mark.parametrize(
    "program",
    (
        (lambda d: el.tuple(d, d.map(el.max)))(A @ B.T),  # tiles are wanted too
        (A @ B.T).map(lambda r: el.scan(el.add, 0.0, r)),  # no reduction
        el.max(el.sum(A @ B.T, axis=1)),  # rows are reduced, and their results again
        (A @ B.T).map(lambda r: el.fold(lambda t, v: t - v, 0.0, r)),  # in order
    ),
)
def test_what_is_read_otherwise_stays_an_array(program: Any) -> None:
    assert [x for x in reduced_tiles(stages_of(as_program(program))) if len(x.first.dims) > 1] == []


def test_a_tile_is_no_array_in_global_memory() -> None:
    big = arr("A", 4096, 64).map(lambda a: el.argmin(arr("B", 1024, 64).map(lambda b: squared(a, b))))
    structure = reduced_structure(found(big), True)
    assert structure is not None
    sizes = {"m0": 128, "n1": 64, "q0": 2, "q1": 2, "c0": 4, "c1": 4, "k2": 16, "f0": 1, "a0": 4, "a1": 4}
    (kernel,) = compile_term(instantiate(structure.term, sizes), Launch(256), DeviceLimits()).kernels
    assert [b.name for b in kernel.params] == ["A", "B", "out"]
    assert kernel.global_size == (8 * 32, 16) and "1 ?" not in kernel.source


def test_few_rows_are_shared_out_in_pieces() -> None:
    profile = presets()["nvidia_h200"]
    few = arr("A", 128, 64).map(lambda a: el.max(arr("B", 1 << 18, 64).map(lambda b: dot(a, b))))
    best, *_ = tile_choices(tile_ways(found(few), profile, profile.limits, True))
    assert best.pieces > 16 and best.added is not None


def test_a_search_proposes_tiles_in_registers() -> None:
    profile = presets()["nvidia_h200"]
    many = arr("A", 65536, 64).map(lambda a: el.argmin(arr("B", 1024, 64).map(lambda b: squared(a, b))))
    first, *_ = scheduled(as_program(many), profile, profile.limits, True)
    assert first.sign == "reduced tiles"
    assert "each tile of stage0 is reduced to stage1 in registers" in str(first.account)


def test_tiles_that_another_stage_reads_too_are_written() -> None:
    def softmax(row: Value) -> Value:
        exps = row.map(lambda v: el.exp(v - el.max(row)))
        return exps.map(lambda v: v / add_up(exps))

    scores = (A @ B.T).map(softmax)
    assert not list(reduced_tiles(stages_of(as_program(scores @ B))))
    program = as_program(scores @ B)
    pr = presets()["nvidia_h200"]
    for candidate in searched(program, pr, pr.limits, Laws()):
        assert candidate.plan.inputs.keys() == {"A", "B"}, candidate.structure
