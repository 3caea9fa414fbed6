"""The kernels of every program, shaped for a CPU and for a GPU, run clean under Oclgrind and compute the program.

PoCL runs the work-items of a group one after the other and so shows no race; Oclgrind reports races, accesses
outside of buffers and divergent barriers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from benchmarks.programs import reduction_forms as forms
from benchmarks.programs import softmax_rows
from benchmarks.programs.catalogue import Entry, Size, entries, entry, size_text
from benchmarks.programs.shapes import GRID, VOLUME
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch, Plan
from egglift.costmodel.measurement.expected_results import Expected, expect, flatten
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import Graph
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.oclgrind import LIMITS, examine

#: small sizes for each kind of tile, such that short arrays have several tiles and a rest
TILES = {"v": 4, "w": 4, "u": 3}
SHARED = {"workgroup": 3, "local": 8, "global": 10}
#: structures of each program on every run, and with `-m deep`
FEW, MANY = 1, 6
#: a program of each kind of kernels, at its largest small size: maps, sums, several results, several kernels, columns,
#: narrow numbers, products, all pairs, records, stencils in one, two and three dimensions; the others with `-m deep`
KINDS = {
    "scal",
    "dot",
    "arg_max",
    "mean_variance",
    "atax",
    "softmax_rows",
    "integer_sums-i8",
    "matmul-f32",
    "gemm-tn",
    "linear_relu",
    "attention",
    "nbody",
    "kmeans",
    "record_distances",
    "heat_1d",
    "game_of_life",
    "gradient",
    "convolution_17-gaussian",
    "jacobi_2d-9",
    "jacobi_3d-7",
    "acoustic",
}
#: programs that zip a product of matrices to something else: no law fuses the two yet, so few structures are found
UNFUSED = {"linear_relu", "syrk"}


def program_of(e: Entry, size: Size) -> Expr:
    """The program at that size; of a matrix of rows, a few rows."""
    return as_program(softmax_rows.program(*size, 7) if e.name == "softmax_rows" else e.program(*size))


def small(e: Entry) -> Sequence[Size]:
    """Sizes that take seconds: matrices are small; of programs that differ in the type alone, one suffices.

    Grids are two tiles and a rest in each dimension.
    """
    if len(e.sizes[0]) > 1:
        windows = ((6, 9),) if e.name.startswith("convolution_17") else ((19, 23),)
        return e.sizes[1:2] if e.sizes == VOLUME else windows if e.sizes == GRID else e.sizes[2:3]
    if e.operations:
        return ((37,),)
    if e.name in ("softmax_rows", "mean_variance"):  # of many kernels each
        return ((70,),)
    return ((37,), (70,)) if (4096,) in e.sizes else ((257,),) if "-" in e.name else ((70,), (257,))


def cases() -> Iterator[Any]:
    """A parameter for a program of each kind at its largest small size; with `-m deep`, for each at every one."""
    for e in entries():
        for size in small(e):
            many, name = size == small(e)[-1], f"{e.name}-{size_text(size)}"
            if many and e.name in KINDS:
                yield pytest.param(e, size, FEW, id=name)
            yield pytest.param(e, size, MANY if many else FEW, id=f"{name}-too", marks=pytest.mark.deep)


def test_there_is_a_program_of_each_kind() -> None:
    assert {e.name for e in entries()} >= KINDS


@lru_cache(1)  # for several devices
def graph_of(program: Expr) -> Graph:
    """All that is equal to a program."""
    return saturate(program).graph


def plans(program: Expr, preset: str, structures: int) -> dict[str, Plan]:
    """By source: kernels of the best structures, at the sizes that the model likes and at small ones."""
    profile, graph = presets()[preset], graph_of(program)
    found: dict[str, Plan] = {}
    for structure in Extractor(graph, weights(profile)).run()[:structures]:
        search = Search(structure.term, graph.symbols, profile, LIMITS)
        kinds = {name: graph.symbols[name].kind for name in search.order}
        small = {name: TILES.get(kind, SHARED.get(search.roles.get(name, ""), 5)) for name, kind in kinds.items()}
        liked = search.point(search.start(), search.launches()[0])
        for point in (liked, search.point(small, Launch(32, 4))):
            if isinstance(point, Point):
                found[point.plan.source] = point.plan
    return found


def problems(expected: Expected, candidates: Sequence[Plan]) -> list[str]:
    """What Oclgrind says of the plans that do not run clean, or how their results differ."""
    inputs = {name: flatten(value) for name, value in expected.inputs.items()}
    found = []
    for plan, report in zip(candidates, examine([(plan, inputs) for plan in candidates]), strict=True):
        problem = str(report) if not report.clean else expected.disagreement(report.outputs)
        if problem:
            found.append(f"{problem}\n{plan.source}")
    return found


@pytest.mark.parametrize(("e", "size", "structures"), list(cases()))
def test_the_kernels_of_a_program_run_clean(e: Entry, size: Size, structures: int) -> None:
    program = program_of(e, size)
    naive = compile_term(program, limits=LIMITS)
    found = {naive.source: naive} | plans(program, "pocl_cpu", structures) | plans(program, "nvidia_h200", structures)
    assert len(found) > 2 or e.name in UNFUSED
    unclean = problems(expect(program), list(found.values()))
    assert not unclean, "\n\n".join(unclean[:3])


def test_the_kernels_examined_use_groups_and_vectors() -> None:
    sources = "\n".join(plans(program_of(entry("gemv"), (70,)), "nvidia_h200", MANY))
    for part in ("get_group_id(0)", "get_local_id(0)", "local float", "barrier(", "float4"):
        assert part in sources


FORMS: list[tuple[Callable[[int], Expr], Callable[[int], Expr], int]] = [
    (forms.llp1, forms.plain_sum, 512),
    (forms.llp2, forms.plain_sum, 512),
    (forms.llp3, forms.plain_sum, 1024),
    (forms.fig11_intel, forms.plain_asum, 1 << 15),
]


@pytest.mark.parametrize(("form", "plain", "n"), FORMS, ids=lambda p: getattr(p, "__name__", str(p)))
def test_the_forms_of_the_literature_run_clean(form: Any, plain: Any, n: int) -> None:
    expected = expect(plain(n))
    assert not problems(expected, [compile_term(form(n), Launch(size), LIMITS) for size in (32, 64, 128)])


@pytest.mark.parametrize("form", [forms.llp1, forms.llp2, forms.llp3], ids=lambda f: f.__name__)
def test_a_barrier_removed_on_purpose_is_reported(form: Callable[[int], Expr]) -> None:
    """Every one, but the last: behind it, the first work-item reads what it has written itself."""
    plan = compile_term(form(1024), Launch(128), LIMITS)
    x = np.ones(1024, np.float32)
    broken = [plan_with(plan, source) for source in without_a_barrier(plan.kernels[0].source)]
    reports = examine([(p, {"x": [x]}) for p in (plan, *broken)])
    assert reports[0].clean
    assert len(broken) > 3
    for i, report in enumerate(reports[1:-1]):
        assert any("race" in message for message in report.messages), f"barrier {i}: {report}\n{plan.source}"


def without_a_barrier(source: str) -> Iterator[str]:
    """The source without its first barrier, without its second, ..."""
    for found in re.finditer(r"barrier\(.*?\);", source):
        yield source[: found.start()] + source[found.end() :]


def plan_with(plan: Plan, first: str) -> Plan:
    """The plan with other text for its first kernel."""
    return replace(plan, kernels=(replace(plan.kernels[0], source=first), *plan.kernels[1:]))
