"""Candidates are checked and timed with inputs of the user's own, where `optimize` is given any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.measurement.bench import Local, Subject
from egglift.costmodel.measurement.own_sample import Sample
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.ir.text import dumps
from egglift.options import Options

pytestmark = pytest.mark.short

N = 1024
X, I = el.array("x", el.f32, N), el.array("i", el.i32, N)
PLACES = np.random.default_rng(0).permutation(N).astype("i4")


def of(program: el.Value, **given: Any) -> Sample:
    return Sample.of(as_program(program), given)


def test_given_inputs_are_measured_with_and_others_drawn() -> None:
    program = as_program(X[I])
    sample = of(X[I], i=PLACES)
    bench = Local(el.optimize(X[I], "pocl", measure="none").device, Subject(dumps(program), sample=sample))
    inputs = bench.expected.inputs
    assert np.array_equal(inputs["i"], PLACES)
    assert np.array_equal(bench.expected.wide[0], inputs["x"][PLACES])


def test_kernels_found_with_own_inputs_compute_the_program() -> None:
    kernel = el.optimize(X[I] * 2, "pocl", measurements=1, sample={"i": PLACES})
    x = np.arange(N, dtype="f4")
    assert np.array_equal(kernel(x=x, i=PLACES), 2 * x[PLACES])
    assert kernel.chosen.status == "ok" and kernel.profile().seconds > 0


def test_own_tuples_and_complex_numbers_are_taken_apart() -> None:
    pairs, z = el.zip(X, I), el.array("z", el.c64, 4)
    given = np.array([1, 2j, 3, 4 - 1j], "c8")
    values = of(z * z, z=given).values(inner(as_program(z * z)))
    assert np.array_equal(values["z"], given.view("f4").reshape(4, 2))
    both = el.array("p", pairs.type.element, N).map(lambda p: p[0] * p[1])  # type: ignore[union-attr]
    x = np.ones(N, "f4")
    found = of(both, p=(x, PLACES)).values(as_program(both))["p"]
    assert np.array_equal(found[0], x) and np.array_equal(found[1], PLACES)


def test_large_constants_are_what_they_are_beside_own_inputs() -> None:
    table = np.arange(1 << 14, dtype="i4")[::-1].copy()
    program = as_program(el.array("x", el.f32, 1 << 14)[table])
    values = Sample.of(program, {"x": np.zeros(1 << 14, "f4")}).values(inner(program))
    assert any(np.array_equal(v, table) for v in values.values())


def test_records_are_told_apart_by_a_mark_alone() -> None:
    one, other = of(X[I], i=PLACES), of(X[I], i=PLACES[::-1])
    assert Options(sample=one).decisive == {**Options().decisive, "sample": one.mark}
    assert one.mark == of(X[I], i=PLACES.tolist()).mark != other.mark
    assert len(one.mark) == 16 and Sample().mark == ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"j": PLACES}, "unknown: j; the program takes i, x"),
        ({"i": PLACES[:4]}, "shape"),
        ({"i": PLACES.astype("f4")}, "dtype float32"),
        ([PLACES], "by name"),
    ],
)
def test_samples_that_do_not_fit_are_refused(given: Any, message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        el.optimize(X[I], "pocl", sample=given)


def test_samples_are_refused_where_nothing_is_measured_with_them() -> None:
    with pytest.raises(el.ArgumentError, match="leave out either"):
        el.optimize(X[I], "pocl", sample={"i": PLACES}, measure="none")
    with pytest.raises(el.ArgumentError, match="for one device"):
        el.optimize(X[I], devices=["pocl"], sample={"i": PLACES})
    open_length = el.array("y", el.f32, el.size("n"))
    with pytest.raises(el.ArgumentError, match="lengths are numbers"):
        el.optimize(open_length * 2, "pocl", sample={"y": PLACES})
