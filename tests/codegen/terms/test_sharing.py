"""What a program reads at several places: found in time that grows with its nodes, not with the paths through it."""

from __future__ import annotations

import pytest

import egglift as el
from egglift.codegen.terms.sharing import MOST, Use, most_paths, shared
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from tests.towers import halves, prefix_sums, products, pyramid, smoothed, squares


def uses(program: Expr) -> list[Use]:
    """How each array is read if none is stored that is not read again."""
    found = list[Use]()

    def keep(u: Use) -> bool:
        found.append(u)
        return u.times > 1

    shared(program, keep)
    return found


def test_paths_double_with_every_step() -> None:
    assert [most_paths(prefix_sums(k)) for k in (1, 2, 5, 60)] == [1, 2, 16, 1 << 59]


def test_paths_begin_anew_at_what_is_stored() -> None:
    v = p.To("global", prefix_sums(3, 100))
    assert most_paths(p.Zip((v, v))) == 4


def test_every_step_is_asked_about_once() -> None:
    assert [len(uses(prefix_sums(k))) for k in (10, 20, 200)] == [9, 19, 199]


def test_a_step_of_prefix_sums_is_evaluated_twice() -> None:
    assert {(u.times, u.ops, u.reads, u.shifted) for u in uses(prefix_sums(6))} == {(2, 1.0, 2.0, False)}


def test_neighbours_differ_by_where_they_start_only() -> None:
    assert {(u.times, u.shifted) for u in uses(pyramid(6))} == {(2, True)}


def test_readers_at_one_place_count_once() -> None:
    assert {u.times for u in uses(squares(20))} == {1}


def test_what_is_not_stored_is_evaluated_for_all_its_readers() -> None:
    times = list[int]()
    shared(prefix_sums(5), lambda u: times.append(u.times) is not None)
    assert times == [2, 4, 8, 16]


def test_an_element_of_a_window_is_read_for_each_window() -> None:
    assert {u.times for u in uses(smoothed(4))} == {3}


def test_a_matrix_is_read_by_every_row_and_column_of_a_product() -> None:
    dear = [u for u in uses(products(3, 16)) if u.times > 1]
    assert len(dear) == 2 and all(u.times > 2 * 16 for u in dear)


def test_a_body_that_reads_a_row_in_two_loops_reads_it_twice() -> None:
    rows = el.array("A", el.f32, (30, 40)).map(lambda row: row.map(lambda v: v * 2))
    sums = rows.map(lambda row: row.reduce(el.add, 0.0) - row.reduce(el.maximum, 0.0))
    once = rows.map(lambda row: row.reduce(el.add, 0.0))
    assert [u.times for e in (sums, once) for u in uses(as_program(e))] == [2, 1]


@pytest.mark.parametrize("steps", [4, 30])
def test_of_views_alone_one_is_copied_where_too_many_ways_lead(steps: int) -> None:
    copied = shared(halves(steps), lambda u: False)
    assert bool(copied) == (1 << steps > MOST)
