"""Large results are checked by rows."""

import numpy as np

import egglift as el
from egglift.costmodel.measurement.expected_results import expect
from egglift.costmodel.measurement.row_samples import ELEMENTS, MOST, ROWS, operations, restricted, sampled_rows
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
    assert rows is not None and rows.of == 2048**2 and rows.indices[0] == 0 and rows.indices[-1] == 2048**2 - 1
    assert list(rows.indices) == sorted(set(rows.indices)) and 256 < len(rows.indices) <= ROWS * ELEMENTS
    assert {i // 2048 for i in rows.indices} >= {0, 7, 8, 15, 16, 2047}
    assert {i % 2048 for i in rows.indices} >= {0, 7, 8, 15, 16, 2047}


def test_rows_that_are_no_maps_are_checked_whole() -> None:
    x = el.array("x", el.f32, (8192, 16384))
    rows = sampled_rows(as_program(x.map(lambda row: el.scan(el.add, 0.0, row))))
    assert rows is not None and rows.of == 8192 and 100 < len(rows.indices) <= MOST


def test_rows_of_costly_elements_are_few_and_not_too_few() -> None:
    rows = sampled_rows(product(4096, 4096, 1 << 20))
    assert rows is not None and len(rows.indices) == 4 * 8


def test_a_large_transposition_is_checked_in_rows_of_it() -> None:
    x = el.array("x", el.f32, (8192, 16384))
    rows = sampled_rows(as_program(x.transpose()))
    assert rows is not None and rows.of == 16384 * 8192 and len(rows.indices) == ROWS * ELEMENTS
    program, inputs = (
        as_program(el.array("x", el.f32, (5, 7)).transpose()),
        {"x": np.arange(35, dtype="f4").reshape(5, 7)},
    )
    part = restricted(program, (0, 4, 6))
    assert part is not None
    np.testing.assert_array_equal(evaluate(part, inputs), evaluate(program, inputs)[[0, 4, 6]])
    part = restricted(program, (0, 4, 6), (1, 3))
    assert part is not None
    np.testing.assert_array_equal(evaluate(part, inputs), evaluate(program, inputs)[[0, 4, 6]][:, [1, 3]])


def test_work_counts_every_body_for_every_element() -> None:
    assert 10 * 20 * 30 * 2 <= operations(product(10, 20, 30)) < 10 * 20 * 30 * 5


def test_a_program_for_one_row_gives_that_row() -> None:
    program, rng = product(7, 5, 6), np.random.default_rng(0)
    inputs = {"A": rng.random((7, 6), np.float32), "B": rng.random((6, 5), np.float32)}
    alone = restricted(program, (3,))
    assert alone is not None
    np.testing.assert_allclose(evaluate(alone, inputs)[0], evaluate(program, inputs)[3], rtol=1e-6)
    some = restricted(program, (3, 6), (0, 2, 4))
    assert some is not None
    expected = evaluate(program, inputs)[[3, 6]][:, [0, 2, 4]]
    np.testing.assert_allclose(evaluate(some, inputs), expected, rtol=1e-6)


def test_of_what_is_mapped_no_other_rows_are_computed() -> None:
    doubled = el.array("x", el.f32, (6, 5)).map(lambda row: row * 2)
    part = restricted(as_program(el.zip(doubled, doubled).map(lambda r: el.sqrt(r[0] + r[1]))), (1, 5))
    assert part is not None and operations(part) < 40


def test_a_wrong_row_is_found_and_a_right_result_agrees() -> None:
    expected = expect(product(1024, 1024, 1024))
    assert expected.rows is not None
    right = (expected.inputs["A"].astype(np.float64) @ expected.inputs["B"]).astype(np.float32)
    assert expected.disagreement([right]) is None
    assert expected.disagreement([right.reshape(-1)]) is None
    places = list(expected.rows.indices)
    assert expected.disagreement([right.reshape(-1)[places]]) is None
    right.reshape(-1)[places[1]] += 1
    assert expected.disagreement([right]) is not None
    assert expected.disagreement([right.reshape(-1)[places]]) is not None


def test_what_is_computed_once_counts_once() -> None:
    few, many = (operations(prefix_sums(steps)) for steps in (10, 20))
    assert few < many < 3 * few
    assert sampled_rows(prefix_sums(20)) is None
