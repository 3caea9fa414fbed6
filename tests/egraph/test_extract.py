"""Extraction: legal, different, equal to the source, and of the shape that the device wants."""

from functools import cache

import numpy as np
import pytest

import egglift as el
from benchmarks.programs.catalogue import entry
from egglift.codegen.imperative import Limits
from egglift.costmodel.check import expect, flatten
from egglift.costmodel.profile import presets
from egglift.costmodel.search import Search
from egglift.egraph.extract import Extractor
from egglift.egraph.found import Found
from egglift.egraph.frozen import Graph
from egglift.egraph.saturate import saturate
from egglift.egraph.weights import weights
from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, subterms

DEVICES = ("pocl_cpu", "nvidia_h200")
BELOW = {  # seed 000, figure 5: what may stand inside what
    "global": {"global", "seq", "unroll", "vec"}, "workgroup": {"workgroup", "local", "warp", "seq", "unroll", "vec"},
    "local": {"local", "seq", "unroll", "vec"}, "warp": {"lane"}, "lane": {"seq", "unroll", "vec"},
    "seq": {"seq", "unroll", "vec"}, "unroll": {"seq", "unroll", "vec"}, "vec": {"seq", "unroll"},
}  # fmt: skip


@cache
def found(name: str, n: int, device: str) -> tuple[Graph, tuple[Found, ...]]:
    graph = saturate(el.as_program(entry(name).program(n))).graph
    return graph, tuple(Extractor(graph, weights(presets()[device])).run())


def levels(e: Expr) -> set[str]:
    return {t.level.kind for t in subterms(e) if isinstance(t, p.Map) and t.level}


def nested(e: Expr, around: str | None = None) -> list[tuple[str | None, str]]:
    """Every pair of a level and the next one inside it; a kernel of its own starts anew."""
    pairs: list[tuple[str | None, str]] = []
    stack: list[tuple[Expr, str | None]] = [(e, around)]
    while stack:
        t, outer = stack.pop()
        if isinstance(t, p.To) and t.space == "global":
            outer = None
        inner = outer
        if isinstance(t, p.Map) and t.level:
            pairs.append((outer, t.level.kind))
            inner = t.level.kind
        stack += [(c, outer) for c in children(t)] + [(b, inner) for b in bodies(t)]
    return pairs


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["axpy", "dot", "gemv", "softmax_rows", "mean_variance", "atax"])
def test_levels_nest_as_opencl_allows(name: str, device: str) -> None:
    _, programs = found(name, 1000, device)
    assert programs
    for f in programs:
        for outer, inner in nested(f.term):
            assert outer is None or inner in BELOW[outer], (outer, inner, f.sign)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["dot", "gemv", "softmax_rows"])
def test_candidates_differ_in_structure(name: str, device: str) -> None:
    _, programs = found(name, 4097, device)
    assert len({f.sign for f in programs}) == len(programs) >= 4
    assert [f.total for f in programs] == sorted(f.total for f in programs)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["axpy", "asum", "nrm2", "arg_max", "gemv", "softmax_rows", "bitwise_or"])
def test_every_candidate_means_what_the_program_means(name: str, device: str) -> None:
    program = el.as_program(entry(name).program(257))
    expected = expect(program)
    graph, programs = found(name, 257, device)
    for f in programs[:6]:
        points = Search(f.term, graph.symbols, presets()[device], Limits()).run(3)
        assert points, f.sign
        for point in points:
            got = flatten(evaluate(point.term, expected.inputs, wide=True))
            assert expected.disagreement([np.asarray(v) for v in got]) is None, (f.sign, point.sizes)


def test_a_cpu_sums_in_vectors_over_sequential_chunks() -> None:
    _, programs = found("dot", 1 << 20, "pocl_cpu")
    assert {"global", "vec"} <= levels(programs[0].term)
    assert not {"workgroup", "local"} & levels(programs[0].term)


def test_a_gpu_sums_in_work_groups_with_a_tree_in_local_memory() -> None:
    _, programs = found("dot", 1 << 26, "nvidia_h200")
    best = programs[0].term
    assert {"workgroup", "local", "vec"} <= levels(best)
    assert any(isinstance(t, p.Tree) for t in subterms(best))
    assert any(isinstance(t, p.To) and t.space == "local" for t in subterms(best))


@pytest.mark.parametrize("device", DEVICES)
def test_a_pipeline_of_ten_maps_is_one_loop(device: str) -> None:
    _, programs = found("ten_maps", 1 << 20, device)
    parallel = [t for t in subterms(programs[0].term) if isinstance(t, p.Map) and t.level and t.level.kind == "global"]
    assert len(parallel) <= 2  # the loop, and the rest that no vector fills
    assert not any(isinstance(t, p.To) for t in subterms(programs[0].term))
