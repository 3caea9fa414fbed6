"""Folds that say where no step changes anything any more: their loops end there."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch, Loop
from egglift.codegen.kernel.walk import walk
from egglift.costmodel.model.usual_trips import usual_trips
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import TypeMismatch
from egglift.ir.interpret import evaluate
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.ir.types import I32
from tests.codegen.low import add_of, fmap, lit, op, total, vector
from tests.harness import compute

ROWS, STEPS = 6, 8
X = vector("x", ROWS, STEPS)


def triangle(test: str = "lt", prefetch: int = 0) -> Expr:
    """Sums of each row up to its number, by groups: <i, row> -> sum of row[j] where not i < j."""

    def of_row(row: Expr) -> Expr:
        i, elements = p.Get(0, row), p.Get(1, row)
        numbered = p.Distl(i, p.Zip((p.Iota(STEPS, I32), elements)))
        j = lambda e: p.Get(0, p.Get(1, e))  # noqa: E731
        behind = lambda e: op(test, p.Get(0, e), j(e))  # noqa: E731
        kept = fmap(lambda e: op("where", behind(e), lit(0.0), p.Get(1, p.Get(1, e))), numbered)
        return p.Fold(add_of(), lit(0.0), kept, prefetch=prefetch, ends=fmap(behind, numbered))

    return fmap(of_row, p.Zip((p.Iota(ROWS, I32), X)), "workgroup")


def loop_of(term: Expr) -> Loop:
    (kernel,) = compile_term(term, Launch(1)).kernels
    (loop,) = (s for s in walk(kernel.body) if isinstance(s, Loop) and s.trips == STEPS)
    return loop


@pytest.mark.parametrize("test", ("lt", "le"))
def test_a_loop_ends_where_no_step_changes_anything(test: str) -> None:
    x = np.arange(1, ROWS * STEPS + 1, dtype=np.float32).reshape(ROWS, STEPS)
    wanted = np.tril(x, 0 if test == "lt" else -1).sum(axis=1)
    assert np.array_equal(evaluate(triangle(test), {"x": x}), wanted)
    assert np.array_equal(compute(triangle(test), Launch(1), x=x), wanted)
    assert "&& " in compile_term(triangle(test), Launch(1)).source


def test_the_usual_trips_are_the_mean_over_groups() -> None:
    assert usual_trips(loop_of(triangle("lt"))) == 3.5  # 1, 2, .., 6
    assert usual_trips(loop_of(triangle("le"))) == 2.5
    assert usual_trips(loop_of(fmap(total, X, "workgroup"))) == STEPS


def test_what_is_no_comparison_of_indices_ends_no_loop() -> None:
    flags = vector("flags", ROWS, STEPS)
    term = fmap(
        lambda e: p.Fold(add_of(), lit(0.0), p.Get(0, e), ends=fmap(lambda v: op("lt", lit(5.0), v), p.Get(1, e))),
        p.Zip((X, flags)),
        "workgroup",
    )
    assert loop_of(term).ends is None


def test_ends_have_a_text() -> None:
    text = dumps(triangle())
    assert "(reduceSeqEnds 0" in text and dumps(loads(text)) == text


def test_ends_are_bools() -> None:
    with pytest.raises(TypeMismatch, match="bools say"):
        type_of(p.Fold(add_of(), lit(0.0), vector("y", 4), ends=vector("y", 4)))
