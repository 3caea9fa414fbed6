"""Scans side by side, all of which a reader reduces at each place: they are no array."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.side_by_side import STATES
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import texts
from tests.egraph.stages.programs import arr


def states(b: int, t: int, d: int, n: int) -> el.Value:
    """Of a state space model: h_t = exp(-|dt A|) h_(t-1) + dt B x, for all times."""
    dt, x = arr("dt", b, t, d), arr("x", b, t, d)
    decays, inputs = (
        np.exp(-np.abs(dt[..., None] * arr("a", d, n))),
        (dt * x)[..., None] * arr("bs", b, t, n)[:, :, None, :],
    )
    return el.linear_recurrence(decays, inputs, axis=1)


def selective(b: int, t: int, d: int, n: int) -> el.Value:
    return el.einsum("btdn,btn->btd", states(b, t, d, n), arr("cs", b, t, n))


def test_states_that_are_added_up_at_each_time_are_no_array() -> None:
    (only,) = texts(selective(2, 5, 3, 4))
    assert only.startswith(
        "stage1[0 < 2, 1 < 3, 3 < 5] as [0, 3, 1] = (add across 2 < 4 of (mul (get 1 (after up to 3 "
    )


def test_what_is_made_of_their_sum_is_computed_with_it() -> None:
    skip, gate = arr("skip", 3), arr("z", 2, 5, 3)
    (only,) = texts((selective(2, 5, 3, 4) + skip * arr("x", 2, 5, 3)) * gate)
    assert only.endswith("(mul skip[1] x[0,3,1])) z[0,3,1])")


def test_the_greatest_of_running_sums_is_found_with_them() -> None:
    found = texts(el.cumsum(arr("A", 4, 6), axis=1).max(axis=0))
    assert found == ["stage1[1 < 6] = (maximum across 0 < 4 of (add up to 1 from 0.0 of A[0,1]))"]


def test_states_that_something_else_reads_are_an_array() -> None:
    h = states(2, 5, 3, 4)
    outputs = el.einsum("btdn,btn->btd", h, arr("cs", 2, 5, 4))
    assert not any("across" in text for text in texts(el.tuple(outputs, h[:, -1])))


def test_many_scans_are_an_array() -> None:
    assert not any("across" in text for text in texts(el.cumsum(arr("A", STATES + 1, 6), axis=1).max(axis=0)))


def test_sums_keep_their_order_where_asked() -> None:
    program = as_program(el.cumsum(arr("A", 4, 6), axis=1).sum(axis=0))
    apart: list[Any] = [stages_of(program, reassociate=False), stages_of(program, by=Partitioning(states=False))]
    assert not any("across" in text_of(s) for whole in apart for s in whole.stages)
