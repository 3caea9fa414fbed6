"""Chains of small stages that a work-item computes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules import batches as module
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.batches import batches, in_one_kernel, placed_ends
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.egraph.staged import exact_inputs, same
from tests.egraph.stages.programs import add_up, arr, softmax

pytestmark = pytest.mark.short


def matrices(name: str, n: int, *shape: int) -> Any:
    return arr(name, n, *shape)


def chain(n: int) -> Any:
    """A B C x for each of n triples of matrices."""
    a, b, c, x = matrices("A", n, 12, 9), matrices("B", n, 9, 10), matrices("C", n, 10, 11), matrices("x", n, 11)
    return el.map(lambda a, b, c, x: a @ (b @ (c @ x)).map(el.tanh), a, b, c, x)


def two_results(n: int) -> Any:
    m, v = matrices("M", n, 8, 9), matrices("v", n, 9)
    return el.unzip(el.map(lambda m, v: (lambda w: el.tuple(m.T @ w, m @ m.T))(m @ v), m, v))


def then_all(n: int) -> Any:
    """Of each, and then the largest of all."""
    sums = el.map(lambda m, v: add_up(softmax(m @ v)), matrices("M", n, 9, 12), matrices("v", n, 12))
    return el.reduce(el.maximum, 0.0, sums)


def by_one_matrix(n: int) -> Any:
    w = arr("W", 9, 9)
    return matrices("v", n, 9).map(lambda v: w @ softmax(w @ v))


PROGRAMS: dict[str, Callable[[int], Any]] = {
    "a chain of products": chain,
    "two results": two_results,
    "the largest of all": then_all,
    "one matrix for all": by_one_matrix,
}


@pytest.fixture
def of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", 1)


@pytest.mark.usefixtures("of_any_length")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_chain_in_one_kernel_is_the_same(name: str) -> None:
    program = as_program(PROGRAMS[name](7))
    stages = stages_of(program)
    (batch, *_) = batches(stages)
    assert len(batch.stages) > 1
    terms: dict[str, Expr] = {}
    inside = {s.name for s in batch.stages}
    for s in stages.stages:
        if s.name not in inside:
            terms[s.name] = placed(as_pattern(s), terms)
        elif s is stages.stages[-1] or s.name == batch.stages[-1].name:
            terms |= placed_ends(batch, placed(in_one_kernel(batch), terms))
    assert same(program, placed(stages.result, terms), exact_inputs(program), 1e-4)


def test_what_is_between_the_stages_is_in_registers() -> None:
    (batch,) = batches(stages_of(as_program(chain(4096))))
    (kernel,) = compile_term(in_one_kernel(batch), Launch(64), DeviceLimits()).kernels
    assert {b.name for b in kernel.params} == {"A", "B", "C", "x", "out"}
    assert kernel.local_bytes == 0


@pytest.mark.parametrize(
    "program",
    (
        lambda: chain(1000),  # too few to fill a device
        lambda: by_one_matrix(4096).map(add_up).slide(3, 1).map(add_up),  # others' results are read
        lambda: matrices("M", 4096, 9, 300).map(lambda m: add_up(softmax(m.map(add_up)))),  # long sums
    ),
)
def test_what_is_no_chain_of_small_stages_is_left(program: Callable[[], Any]) -> None:
    stages = stages_of(as_program(program()))
    assert all(len(b.stages) < len(stages.stages) for b in batches(stages))


@pytest.mark.parametrize("kind", ("nvidia_h200", "pocl_cpu"))
def test_the_search_offers_a_chain_in_one_kernel(kind: str) -> None:
    profile = presets()[kind]
    found = scheduled(as_program(chain(1 << 16)), profile, profile.limits, True)
    assert any(c.sign.startswith("batch 3") for c in found)


def test_results_of_a_chain_are_written_by_one_kernel() -> None:
    profile = presets()["nvidia_h200"]
    found = scheduled(as_program(two_results(1 << 16)), profile, profile.limits, True)
    batch = next(c for c in found if c.sign.startswith("batch"))
    assert len(compile_term(batch.term, batch.launch, profile.limits).kernels) == 1
