"""Scans by work-groups that add up the totals of those before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied, subterms
from egglift.ir.types import F32, I16, I32, I64, Array, Scalar, Tuple, leaves
from tests.codegen.low import add_of, elem, fmap, lit, op, vector
from tests.deep import every
from tests.harness import run
from tests.oclgrind import LIMITS, examine

SMALL = DeviceLimits(progress=True)
GRIND = replace(LIMITS, progress=True)


def linked(operator: Expr, init: Expr, x: Expr, rows: int = 1) -> Expr:
    """Scans of rows, each from what all rows before it come to: a row by the first item of a group."""
    t, row = type_of(init), elem(x)
    arg = p.Arg(Tuple((t, row)))
    inner = p.Arg(Tuple((t, elem(p.Input("row", row)))))
    step = applied(operator, p.Get(0, inner), p.Get(1, inner))
    own = p.To("local", p.Get(1, arg))
    total = p.Fold(operator, p.At(0, own), p.Drop(1, own))
    return p.ScanLinked(operator, p.Tup((total, p.ScanSeq(p.Tup((step, step)), p.Get(0, arg), own))), init, x, rows)


def composed(t: Scalar) -> Expr:
    """x -> a x + b after x -> c x + d: associative, not commutative."""
    arg = p.Arg(Tuple((Tuple((t, t)), Tuple((t, t)))))
    (a, b), (c, d) = ([p.Get(j, p.Get(i, arg)) for j in range(2)] for i in range(2))
    return p.Tup((op("mul", a, c), op("add", op("mul", b, c), d)))


def pairs(n: int, m: int, t: Scalar) -> Expr:
    """Rows of pairs."""
    rows = p.Arg(Tuple((Array(m, t), Array(m, t))))
    return p.Map(p.Zip((p.Get(0, rows), p.Get(1, rows))), p.Zip((vector("a", n, m, t=t), vector("b", n, m, t=t))))


PROGRAMS = {
    "sums": linked(add_of(), lit(0.5), vector("x", 90, 7)),
    "sums of one row": linked(add_of(), lit(0.5), vector("x", 1, 7)),
    "sums of two rows": linked(add_of(), lit(0.5), vector("x", 2, 5)),
    "sums of three interleaved rows": linked(add_of(), lit(0.5), vector("x", 120, 3), rows=3),
    "sums of wide integers": linked(add_of(I64), lit(1 << 40, I64), vector("x", 40, 3, t=I64)),
    "compositions": linked(composed(I32), p.Tup((lit(1, I32), lit(2, I32))), pairs(70, 3, I32)),
    "two scans": p.Tup(
        (linked(add_of(), lit(0.5), vector("x", 60, 4)), linked(add_of(), lit(1.5), vector("x", 60, 4)))
    ),
    "a scan of a scan": linked(add_of(), lit(0.0), p.To("global", linked(add_of(), lit(0.0), vector("x", 50, 2)))),
}


def inputs(term: Expr) -> dict[str, Any]:
    """Small whole numbers."""
    rng, found = np.random.default_rng(0), {}
    for x in sorted((t for t in subterms(term) if isinstance(t, p.Input)), key=lambda t: t.name):
        ((shape, t),) = leaves(x.type)
        found[x.name] = rng.integers(-1, 2, [int(n) for n in shape]).astype(t.dtype)
    return found


def flat(value: Any) -> list[Any]:
    return [np.ravel(a) for v in value for a in flat(v)] if isinstance(value, tuple) else [np.ravel(value)]


@pytest.mark.parametrize(("name", "size"), every(2, PROGRAMS, [8, 64]))
def test_linked_groups_compute_scans(name: str, size: int) -> None:
    term = PROGRAMS[name]
    given, plan = inputs(term), compile_term(term, Launch(size), SMALL)
    expected = flat(evaluate(term, given))
    for _ in range(3):  # what groups tell each other is forgotten between calls
        for e, a in zip(expected, run(plan, given), strict=True):
            np.testing.assert_array_equal(a, e, plan.source)


def test_linked_groups_have_no_races() -> None:
    given = {name: inputs(term) for name, term in PROGRAMS.items()}
    plans = {name: compile_term(term, Launch(8), GRIND) for name, term in PROGRAMS.items()}
    flatly = {name: {k: [np.ravel(v)] for k, v in values.items()} for name, values in given.items()}
    reports = examine([(plans[name], flatly[name]) for name in PROGRAMS])
    for name, report in zip(PROGRAMS, reports, strict=True):
        assert report.clean, f"{report}\n{plans[name].source}"
        for e, a in zip(flat(evaluate(PROGRAMS[name], given[name])), report.outputs, strict=True):
            np.testing.assert_array_equal(a, e, name)


def test_groups_take_their_numbers_when_they_start() -> None:
    source = compile_term(PROGRAMS["sums"], Launch(8), SMALL).source
    assert "ticket = atom_inc(&state0[0]);" in source and "get_group_id" not in source


def test_words_of_two_scans_are_apart() -> None:
    plan = compile_term(PROGRAMS["two scans"], Launch(8), SMALL)
    assert len({b.name for b in plan.temporaries}) == len(plan.temporaries) == 2


@pytest.mark.parametrize(
    ("term", "limits", "launch", "message"),
    [
        (PROGRAMS["sums"], DeviceLimits(), Launch(8), "this device may not go on with"),
        (PROGRAMS["sums"], SMALL, Launch(8, max_groups=10), "it takes 90 groups"),
        (linked(add_of(I16), lit(0, I16), vector("x", 9, 7, t=I16)), SMALL, Launch(8), "values of 4 and 8 bytes"),
        (fmap(lambda m: linked(add_of(), lit(0.0), m), vector("x", 3, 9, 7)), SMALL, Launch(8), "below no map"),
        (linked(add_of(), lit(0.0), vector("x", 9, 7), rows=2), SMALL, Launch(8), "not as many for each of 2 scans"),
    ],
    ids=["no progress", "few groups", "short types", "in a map", "uneven rows"],
)
def test_what_groups_cannot_link_is_refused(term: Expr, limits: DeviceLimits, launch: Launch, message: str) -> None:
    with pytest.raises(CodegenError, match=message):
        compile_term(term, launch, limits)


def test_a_total_that_depends_on_what_precedes_is_refused() -> None:
    arg = p.Arg(Tuple((F32, Array(7, F32))))
    term = p.ScanLinked(add_of(), p.Tup((p.Get(0, arg), p.Get(1, arg))), lit(0.0), vector("x", 9, 7))
    with pytest.raises(CodegenError, match="depends on what precedes it"):
        compile_term(term, Launch(8), SMALL)


def test_pocl_goes_on_with_all_groups() -> None:
    assert open_device("pocl").limits.progress
