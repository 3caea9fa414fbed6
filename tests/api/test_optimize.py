"""`optimize`: its options, what it gives, what it remembers, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from benchmarks.programs import reduction_forms as forms
from egglift.candidate import Candidate
from egglift.costmodel.measurement import bench
from egglift.egraph.explanation.prove import explain
from egglift.egraph.rules.book import book
from egglift.ir import patterns as p
from egglift.ir.traverse import subterms, tile_symbols
from egglift.report import candidate_table
from tests.api.dot_products import RNG, N, X, Y, by_model, dot, vectors
from tests.deep import sampled


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test starts without records."""
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def product() -> el.Kernel:
    """What the model chooses for the dot product, and all that it chooses from."""
    return by_model(dot(), cache=False, candidates=99)


# ---------------------------------------------------------------------------------------- measure and budget


def test_without_measuring_the_model_chooses(product: el.Kernel) -> None:
    assert product(X, Y) == X @ Y
    assert {c.status for c in product.candidates} == {"model"}
    assert {c.measured for c in product.candidates} == {None}
    assert product.chosen.estimate == min(c.estimate for c in product.candidates)


def test_with_measuring_the_fastest_of_those_that_ran_is_chosen() -> None:
    kernel = el.optimize(dot(), "pocl")
    timed = [c for c in kernel.candidates if c.status == "ok"]
    assert len(timed) > 1
    assert all(c.measured is not None and c.measured > 0 for c in timed)
    assert kernel.chosen.measured == min(c.measured for c in timed if c.measured is not None)
    assert all(c.status in ("ok", "model") for c in kernel.candidates)
    assert kernel(X, Y) == X @ Y


def test_no_more_are_measured_than_asked_for() -> None:
    kernel = el.optimize(dot(), "pocl", measurements=3)
    assert 1 <= len([c for c in kernel.candidates if c.status == "ok"]) <= 3
    with pytest.raises(el.ArgumentError, match="measurements is 1 or more, not 0"):
        el.optimize(dot(), "pocl", measurements=0)
    with pytest.raises(el.ArgumentError, match="deadline is a positive number of seconds, not -1"):
        el.optimize(dot(), "pocl", deadline=-1)


#: what the kernels of the best two candidates begin with: one never ends, one writes where nothing is mapped
SPOILT = (
    "volatile int on = 1; while (on) ;",
    "volatile global int *p = (global int *)((get_global_id(0) + 1ul) << 40); *p = 1; if (*p != 1) return;",
)


def test_a_candidate_that_hangs_or_crashes_is_never_chosen(
    monkeypatch: pytest.MonkeyPatch, searches: list[Any]
) -> None:
    program = vectors()[0].map(lambda v: v * v)
    best = by_model(program, cache=False, candidates=2).candidates
    terms = {(c.term, c.launch): text for c, text in zip(best, SPOILT)}
    compiled = Candidate.__dict__["plan"].func

    def plan(self: Candidate) -> Any:
        made, text = compiled(self), terms.get((self.term, self.launch))
        source = [replace(k, source=k.source.replace("{", "{ " + text, 1)) for k in made.kernels] if text else []
        return replace(made, kernels=tuple(source)) if text else made

    monkeypatch.setattr(Candidate, "plan", property(plan))
    for searched in (2, 2):  # the second time all comes from the record
        kernel = el.optimize(program, "pocl", measurements=4, deadline=0.5)
        failed = {c.status: c.reason for c in kernel.candidates if c.status not in ("ok", "model")}
        assert failed.keys() == {"hung", "crashed"}
        assert failed["hung"].startswith("no answer within 500 ms")
        assert "died of SIGSEGV" in failed["crashed"]
        assert kernel.chosen.status == "ok"
        np.testing.assert_array_equal(kernel(X), X * X)
        for text in (kernel.explain(), candidate_table(kernel.candidates, kernel.chosen)):
            assert all(reason in text for reason in failed.values())
        assert len(searches) == searched


def test_candidates_are_sorted_and_hold_the_naive_form(product: el.Kernel) -> None:
    candidates = product.candidates
    assert [c.seconds for c in candidates] == sorted(c.seconds for c in candidates)
    assert len({(c.term, c.launch) for c in candidates}) == len(candidates)
    assert len({c.structure for c in candidates}) > 2
    assert product.program in [c.term for c in candidates]
    assert all(not tile_symbols(c.term) for c in candidates)


@pytest.mark.parametrize("first", sampled(range(4), lambda first: first == 0))
def test_every_candidate_computes_the_program(first: int, product: el.Kernel) -> None:
    for c in product.candidates[first::4]:
        assert el.Kernel(product.program, c, product.device, [c])(X, Y) == X @ Y, c


# ---------------------------------------------------------------------------------------- reassociate

HARD = (RNG.standard_normal(N) * 10.0 ** RNG.integers(-3, 4, N)).astype(np.float32)


def left_to_right(x: Any) -> Any:
    return np.add.accumulate(x, dtype=x.dtype)[-1]


def test_unless_reassociated_floats_are_added_left_to_right() -> None:
    x, _ = vectors()
    kernel = by_model(el.reduce(el.add, 0.0, x), reassociate=False)
    assert left_to_right(HARD) != left_to_right(HARD[::-1]), "the sample must tell orders apart"
    for c in kernel.candidates:
        assert not [t for t in subterms(c.term) if isinstance(t, p.Tree)]
        assert el.Kernel(kernel.program, c, kernel.device, [c])(HARD) == left_to_right(HARD), c


def test_unless_reassociated_the_programs_rounding_is_right() -> None:
    """A long sum of small numbers, one by one, loses digits: with reassociation a better order is chosen."""
    n = 1 << 20
    program = el.reduce(el.add, 0.0, el.iota(n, el.i32).map(lambda i: 1.0 / (el.cast(i, el.f32) + 3.0)))
    ordered = el.optimize(program, "pocl", reassociate=False, measurements=2)
    assert ordered.chosen.status == "ok"
    free = by_model(program)
    exact = (1 / (np.arange(n) + 3.0)).sum()
    assert abs(ordered() - exact) > 100 * abs(free() - exact)


def test_checked_candidates_are_chosen_before_unchecked_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bench.Local.run
    asked: list[str] = []

    def wrong_at_first(self: bench.Local, plan: Any, *args: Any) -> bench.Measurement:
        found = whole(self, plan, *args)
        asked.append(plan.digest)
        return replace(found, status="wrong", timing=None) if plan.digest in asked[:2] else found

    monkeypatch.setattr(bench.Local, "run", wrong_at_first)
    kernel = el.optimize(dot(), "pocl", measurements=2, isolate=False)
    assert kernel.chosen.status == "ok"
    assert [c.status for c in kernel.candidates].count("wrong") == 2


def test_unless_reassociated_maps_are_still_vectorised() -> None:
    x, _ = vectors(1 << 20)
    kernel = by_model(x.map(lambda v: v * 2.0 + 1.0), reassociate=False)
    levels = {t.level.kind for t in subterms(kernel.term) if isinstance(t, p.Map) and t.level}
    assert levels & {"global", "workgroup"}
    assert "vec" in levels


def test_with_reassociation_a_long_sum_is_not_one_chain() -> None:
    x, _ = vectors(1 << 20)
    kernel = by_model(el.reduce(el.add, 0.0, x))
    assert any(isinstance(t, p.Map) and t.level for t in subterms(kernel.term))


def test_unless_reassociated_no_law_named_reassociates() -> None:
    x, _ = vectors()
    kernel = by_model(el.reduce(el.add, 0.0, x.map(lambda v: v * v)), reassociate=False)
    assert not [law for c in kernel.candidates[:3] for law in c.laws if book()[law].reassociating]
    total, chunked = forms.plain_sum(1 << 10), forms.llp1(1 << 10)
    assert any(step.law.reassociating for step in explain(total, chunked).steps)
    with pytest.raises(el.RuleError, match="do not show the two programs equal"):
        explain(total, chunked, reassociate=False)


# ---------------------------------------------------------------------------------------- rules

#: |x| |y| = |x y|, a law that the book does not have
RULE = """
;;; abs-mul
;; abs x * abs y = abs (x * y)
;; source: a test
(rewrite (Op2 "mul" (Op1 "abs" x) (Op1 "abs" y)) (Op1 "abs" (Op2 "mul" x y)))
"""


def test_a_users_law_takes_part() -> None:
    x, y = vectors()
    program = el.map(lambda a, b: el.abs(a) * el.abs(b), x, y)

    def abs_counts(kernel: el.Kernel) -> set[int]:
        return {sum(isinstance(t, p.Apply) and t.op == "abs" for t in subterms(c.term)) for c in kernel.candidates}

    assert 1 not in abs_counts(by_model(program))
    kernel = by_model(program, rules=[RULE])
    assert 1 in abs_counts(kernel)
    np.testing.assert_array_equal(kernel(X, Y), np.abs(X * Y))
    assert any("abs-mul" in c.laws for c in kernel.candidates)


def test_a_rule_that_does_not_parse_is_an_error_with_its_place() -> None:
    broken = RULE.rstrip().removesuffix(")")
    with pytest.raises(el.RuleError, match="law abs-mul, line 5"):
        by_model(dot(), rules=[broken])


# ---------------------------------------------------------------------------------------- explaining


def test_explain_says_the_bound_and_the_laws_of_the_choice() -> None:
    kernel = by_model(2.0 * vectors()[0])
    text = kernel.explain()
    laws = kernel.chosen.laws
    assert laws
    assert all(law in text for law in laws)
    assert kernel.chosen.bound in text
    assert kernel.chosen.bound


def test_a_program_that_is_chosen_as_it_stands_needs_no_law() -> None:
    kernel = by_model(vectors()[0], candidates=99)
    naive = next(c for c in kernel.candidates if c.term is kernel.program)
    assert naive.laws == ()


def test_a_kernel_shows_its_source_and_times_itself(product: el.Kernel) -> None:
    assert "kernel" in product.source
    assert "x: [f32]3000, y: [f32]3000 -> f32" in repr(product)
    for profile in (product.profile(), product.profile(X, Y), product.profile(y=Y, x=X)):
        assert profile.seconds > 0
        assert profile.bytes == 4 * (2 * N + 1)
