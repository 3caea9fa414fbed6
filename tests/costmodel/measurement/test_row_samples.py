"""Large results are checked by rows."""

import numpy as np

import egglift as el
from egglift.costmodel.measurement.expected_results import expect
from egglift.costmodel.measurement.row_samples import operations, restricted, sampled_rows
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.towers import prefix_sums


def product(m: int, n: int, k: int) -> Expr:
    return as_program(el.array("A", el.f32, (m, k)) @ el.array("B", el.f32, (k, n)))


def test_a_small_result_is_checked_whole() -> None:
    assert sampled_rows(product(64, 64, 64)) is None


def test_a_large_result_is_checked_in_rows_of_it() -> None:
    rows = sampled_rows(product(2048, 2048, 2048))
    assert rows is not None and rows.of == 2048 and rows.indices[0] == 0 and rows.indices[-1] == 2047
    assert 2 < len(rows.indices) < 100 and len(set(rows.indices)) == len(rows.indices)


def test_a_large_transposition_is_checked_in_rows_of_it() -> None:
    x = el.array("x", el.f32, (8192, 16384))
    rows = sampled_rows(as_program(x.transpose()))
    assert rows is not None and rows.of == 16384 and len(rows.indices) == 256
    program, inputs = (
        as_program(el.array("x", el.f32, (5, 7)).transpose()),
        {"x": np.arange(35, dtype="f4").reshape(5, 7)},
    )
    part = restricted(program, (0, 4, 6))
    assert part is not None
    np.testing.assert_array_equal(evaluate(part, inputs), evaluate(program, inputs)[[0, 4, 6]])


def test_work_counts_every_body_for_every_element() -> None:
    assert 10 * 20 * 30 * 2 <= operations(product(10, 20, 30)) < 10 * 20 * 30 * 5


def test_a_program_for_one_row_gives_that_row() -> None:
    program, rng = product(7, 5, 6), np.random.default_rng(0)
    inputs = {"A": rng.random((7, 6), np.float32), "B": rng.random((6, 5), np.float32)}
    alone = restricted(program, (3,))
    assert alone is not None
    np.testing.assert_allclose(evaluate(alone, inputs)[0], evaluate(program, inputs)[3], rtol=1e-6)


def test_a_wrong_row_is_found_and_a_right_result_agrees() -> None:
    expected = expect(product(1024, 1024, 1024))
    assert expected.rows is not None
    right = (expected.inputs["A"].astype(np.float64) @ expected.inputs["B"]).astype(np.float32)
    assert expected.disagreement([right]) is None
    assert expected.disagreement([right.reshape(-1)]) is None
    assert expected.disagreement([right[list(expected.rows.indices)]]) is None
    right[expected.rows.indices[1], 5] += 1
    assert expected.disagreement([right]) is not None
    assert expected.disagreement([right[list(expected.rows.indices)]]) is not None


def test_what_is_computed_once_counts_once() -> None:
    few, many = (operations(prefix_sums(steps)) for steps in (10, 20))
    assert few < many < 3 * few
    assert sampled_rows(prefix_sums(20)) is None
