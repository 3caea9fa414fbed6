"""Which arrays, computed element by element, are written before they are read at many places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.producers import FEW, read_at_many_places, read_by_gathers
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from tests.egraph.staged import exact_inputs, same, whole

N = FEW + 100
x, A = el.array("x", el.f32, N), el.array("A", el.f32, (80, 80))


def windows(v: Any, n: int) -> Any:
    """Sums of windows of n elements along the last axis, written as a sum of slices."""
    length = v.shape[-1] - n + 1
    return sum(v[..., k : k + length] for k in range(n))


def written(program: Any) -> list[str]:
    return [str(type_of(t)) for t in read_at_many_places(as_program(program))]


def test_what_many_slices_read_is_written() -> None:
    assert written(windows(windows(x, 11), 11)) == [f"[f32]{N - 10}"]
    assert written(windows(windows(windows(x, 11), 11), 11)) == [f"[f32]{N - 10}", f"[f32]{N - 20}"]


@pytest.mark.parametrize(
    "program",
    [
        lambda: windows(x, 11),  # an input
        lambda: windows(x * 2.0, 11),  # computed again as fast as it is read
        lambda: windows(windows(x[:500], 11), 11),  # few elements
        lambda: el.array("e", el.f32, 0) * 2.0,  # none
        lambda: (s := windows(x, 11)) * s + s,  # at one place
        lambda: (s := windows(x, 101))[: N // 2 - 50] + s[N // 2 - 50 :],  # every element once
        lambda: windows(A.map(lambda row: row.reduce(el.add, 0.0)), 11),  # a reduction is a stage in any case
    ],
)
def test_what_costs_little_to_compute_again_is_not(program: Callable[[], Any]) -> None:
    assert written(program()) == []


def test_borders_and_overlapping_windows_count_as_places() -> None:
    costly = np.tanh(np.exp(A) * A + 1.0) * A
    near = np.pad(costly, 2, mode="edge")
    assert written(sum(near[i : i + 80, j : j + 80] for i in range(5) for j in range(5))) == ["[[f32]80]80"]
    assert written(el.slide(9, 1, windows(x, 11)).map(lambda w: w.map(el.exp))) == [f"[f32]{N - 10}"]


def butterflies(v: Any, steps: int) -> Any:
    """Sums and differences of neighbours, of neighbours two apart, four apart and so on."""
    n = v.shape[0]
    for step in range(steps):
        pairs = v.reshape(n >> step + 1, 2, 1 << step)
        a, b = pairs[:, 0], pairs[:, 1]
        v = np.stack([a + b, a - b], axis=1).reshape(n)
    return v


def test_butterflies_are_written_after_some_steps() -> None:
    v = el.array("v", el.f32, 2 * FEW)
    assert written(butterflies(v, 4)) == []
    assert written(butterflies(v, 8)) == [f"[[[f32]8]{FEW // 8}]2"]
    program = as_program(butterflies(v, 8))
    with pytest.raises(NoStages, match="a body of many parts"):
        stages_of(program)
    stages = stages_of(program, by=Partitioning(producers=True))
    assert same(program, whole(stages), exact_inputs(program), 1e-4)


def test_what_is_put_together_of_several_parts_is_no_part_of_it() -> None:
    costly = [np.tanh(np.exp(A) * (A + k)) * A * k + np.exp(A) for k in range(8)]
    assert written(np.concatenate(costly)) == []


def test_sums_of_windows_of_sums_of_windows_have_stages() -> None:
    """In place, a body has 121 parts for each of three arrays."""
    y = el.array("y", el.f32, (80, 80))

    def mean(z: Any) -> Any:
        return windows(windows(z, 11).T, 11) / 121.0

    program = as_program(mean(A * y) - mean(A) * mean(y))
    with pytest.raises(NoStages, match="a body of many parts"):
        stages_of(program)
    stages = stages_of(program, by=Partitioning(producers=True))
    assert len(stages.stages) == 4
    assert same(program, whole(stages), exact_inputs(program), 1e-4)


k = el.array("k", el.i32, 500)


def read(program: Any) -> list[str]:
    return [str(type_of(t)) for t in read_by_gathers(as_program(program))]


@pytest.mark.parametrize(
    "program",
    [
        lambda: A.mean(axis=1)[k],
        lambda: A.sum(axis=0)[k],
        lambda: (A / A.sum(axis=1, keepdims=True))[k],  # the sums are, and quotients are computed of what is gathered
        lambda: k.map(lambda i: A.mean(axis=1)[i]),  # in a body, for each of its arguments
    ],
)
def test_reductions_gathered_often_are_written_first(program: Callable[[], Any]) -> None:
    assert read(program()) == ["[f32]80"]


@pytest.mark.parametrize(
    "program",
    [
        lambda: A.sum(axis=1)[k[:10]],  # fewer than there are
        lambda: A.sum(axis=1)[::-1],  # each once
        lambda: (A / A.sum())[k],  # a total is one number, whatever is gathered
        lambda: (A * 2.0)[k],  # nothing is reduced
        lambda: el.exp(A)[k],  # not many times as many as there are
        lambda: el.exp(el.array("t", el.f32, 8))[k[:100]],
        lambda: (el.array("t", el.f32, 8) * 2.0)[k],  # as dear as to read it again
    ],
)
def test_gathers_that_reduce_no_element_again_write_none(program: Callable[[], Any]) -> None:
    assert read(program()) == []


TABLES: dict[str, Callable[[Any], Any]] = {
    "a curve": lambda t: el.exp(t),
    "a curve as bytes": lambda t: (el.exp(t) * 10).astype(el.u8),
    "of a scan": lambda t: el.cumsum(t) / 7.0,
}


@pytest.mark.parametrize("name", TABLES)
def test_costly_tables_read_many_times_are_written(name: str) -> None:
    program = as_program(TABLES[name](el.array("t", el.f32, 16))[k % 16])
    assert [str(type_of(t))[-3:] for t in read_by_gathers(program)] == ["]16"]
    stages = stages_of(program)
    (*_, last) = stages.stages
    assert [d.extent for d in last.dims] == [500] and [d.extent for d in stages.stages[-2].dims] == [16]
    assert same(program, whole(stages), exact_inputs(program), 1e-4)


def test_groups_without_their_means_are_the_groups_in_stages() -> None:
    v, sums = el.array("v", el.f64, 500), el.bincount(k % 7, 7, weights=el.array("v", el.f64, 500))
    program = as_program(v - sums[k % 7])
    stages = stages_of(program)
    assert len(stages.stages) == 2
    inputs = exact_inputs(program)
    assert same(program, whole(stages), inputs)
