"""What is computed once and written, and which reductions share a loop."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages import partition
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import stages_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import only_stage, texts
from tests.egraph.stages.programs import PROGRAMS, add_up, arr, dot, softmax

A, B = arr("A", 5, 7), arr("B", 6, 7)


def test_what_depends_on_fewer_dimensions_is_hoisted() -> None:
    first, second = texts(A.map(lambda a: B.map(lambda b: dot(a, b) / add_up(a))))
    assert first == "stage0[0 < 5] = (add for 1 < 7 of A[0,1])"
    assert second == "stage1[0 < 5, 1 < 6] = (div (add for 2 < 7 of (mul A[0,2] B[1,2])) stage0[0])"


def test_costly_operands_may_be_stored() -> None:
    """What a product needs for every column is computed once; a product of two factors costs as much as to read it."""
    powers = A.map(lambda a: B.map(lambda b: dot(a.map(lambda v: el.exp(v * 2)), b)))
    assert len(texts(powers)) == 1
    first, second = texts(powers, frugal=True)
    assert first == "stage0[0 < 5, 1 < 7] = (exp (mul A[0,1] 2.0))"
    assert second == "stage1[0 < 5, 1 < 6] = (add for 2 < 7 of (mul stage0[0,2] B[1,2]))"
    assert len(texts(A.map(lambda a: B.map(lambda b: dot(a.map(lambda v: v * 2), b))), frugal=True)) == 1


def test_costly_operands_are_stored_for_many_columns() -> None:
    powers = A.map(lambda a: B.map(lambda b: dot(a.map(lambda v: el.exp(v * 2)), b)))
    assert texts(powers, again=6) == texts(powers, frugal=True)
    assert texts(powers, again=7) == texts(powers)


def test_reductions_that_need_others_stay_apart_where_stored() -> None:
    sums = A.map(lambda a: add_up(softmax(a).map(lambda v: v * v)))
    assert len(texts(sums)) < len(texts(sums, frugal=True)) == 3


def test_what_depends_on_nothing_is_a_stage_of_no_dimensions() -> None:
    x = arr("x", 7)
    first, _ = texts(A.map(lambda a: a.map(lambda v: v / add_up(x))))
    assert first == "stage0[] = (add for 0 < 7 of x[0])"


def test_reductions_over_one_space_share_a_loop() -> None:
    stage = only_stage(A.map(lambda a: add_up(a) + el.reduce(el.maximum, 0.0, a)))
    assert len(stage.reductions) == 2
    assert len({r.dims for r in stage.reductions}) == 1


def test_reductions_over_different_spaces_are_apart() -> None:
    program = el.map(lambda a, b: add_up(a) + add_up(b), A, arr("C", 5, 3))
    assert len(texts(program)) == 2


def test_equal_reductions_are_written_once() -> None:
    def scaled(r):  # type: ignore[no-untyped-def]
        return r.map(lambda v: v / add_up(r))

    stages = texts(
        el.map(lambda r, s: el.map(lambda u, v: u * v, r, s), A.map(scaled), A.map(lambda r: scaled(scaled(r))))
    )
    assert sum("of A[0,1]" in s for s in stages) == 1


def test_reductions_that_read_differently_are_both_written() -> None:
    stages = texts(el.map(lambda a, b: el.map(lambda u, v: u / add_up(a) + v / add_up(b), a, b), A, arr("C", 5, 7)))
    assert len(stages) == 3


def test_a_tuple_of_results_is_a_tuple_of_stages() -> None:
    stages = texts(PROGRAMS["tuple of sums"]())
    assert [s.split(" = ")[0] for s in stages] == ["stage0[0 < 6]", "stage1[0 < 7]"]


def test_more_stages_than_are_worth_their_launches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    program = as_program(PROGRAMS["tuple of sums"]())
    assert len(stages_of(program).stages) == 2
    monkeypatch.setattr(partition, "MANY", 1)
    stages_of.cache_clear()
    with pytest.raises(NoStages, match="2 stages"):
        stages_of(program)


def test_results_that_read_the_same_are_one_stage() -> None:
    (both,) = texts(el.tuple(A.map(add_up), A.map(lambda a: add_up(a * a))))
    assert both == "stage0[0 < 5] = (tuple (add for 1 < 7 of A[0,1]) (add for 1 < 7 of (mul A[0,1] A[0,1])))"


def test_results_that_hang_together_by_another_are_one_stage() -> None:
    C = arr("C", 5, 7)
    apart = (A.map(add_up), C.map(add_up))
    both = (A * C).map(add_up)
    assert len(texts(el.tuple(*apart))) == 2
    assert len(texts(el.tuple(*apart, both))) == 1


def test_results_of_other_lengths_or_arrays_stay_apart() -> None:
    assert len(texts(el.tuple(A.map(add_up), A.T.map(add_up)))) == 2
    assert len(texts(el.tuple(A.map(add_up), arr("C", 5, 7).map(add_up)))) == 2
    assert len(texts(el.tuple(A.map(add_up), add_up(arr("x", 7))))) == 2


def test_what_is_wanted_is_read_by_what_needs_it() -> None:
    product, largest = texts(
        el.tuple(arr("A", 9, 12) @ arr("B", 12, 7), (arr("A", 9, 12) @ arr("B", 12, 7)).map(el.max))
    )
    assert product == "stage0[0 < 9, 1 < 7] = (add for 2 < 12 of (mul A[0,2] (transpose B)[1,2]))"
    assert largest == "stage1[0 < 9] = (maximum for 1 < 7 of stage0[0,1])"


def test_what_is_written_is_read_by_what_is_wanted() -> None:
    product = arr("A", 9, 12) @ arr("B", 12, 7)
    first, *others = texts(el.tuple(product.map(el.max), el.tanh(product), product.T))
    assert first.startswith("stage0[0 < 9, 1 < 7] = (add for 2 < 12 of")
    assert [s.split(" = ")[1] for s in others] == ["(maximum for 1 < 7 of stage0[0,1])", "(tanh stage0[0,1])"]


def test_short_sums_are_computed_again() -> None:
    sums = arr("A", 9, 4).map(add_up)
    assert texts(el.tuple(el.max(sums), el.tanh(sums)))[1] == "stage1[0 < 9] = (tanh (add for 1 < 4 of A[0,1]))"


def test_what_is_written_lies_as_what_it_was_computed_of() -> None:
    X, A, B = arr("X", 30, 31, 32), arr("A", 30, 9), arr("B", 31, 9)
    inner = el.einsum("ijk,ip->pjk", X, A)
    first, _ = texts(el.einsum("pjk,jq->pqk", inner, B))
    assert first.startswith("stage0[0 < 9, 1 < 31, 2 < 32] = (add for 3 < 30 of")
    first, _ = texts(el.einsum("pjk,jq->pkq", inner, B))  # k is what lies side by side in X, also where j is read last
    assert first.startswith("stage0[0 < 9, 1 < 31, 2 < 32] = (add for 3 < 30 of")


def test_steps_that_are_read_twice_are_stages_once() -> None:
    """Each step reads the product twice: for its elements, and for their norm."""
    matrix, x = arr("S", 96, 96), arr("x", 96)
    for _ in range(5):
        y = matrix @ x
        x = y / np.sqrt((y * y).sum())
    assert [s.split("[")[0] for s in texts(x)] == [f"stage{i}" for i in range(11)]
