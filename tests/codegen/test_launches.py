"""What a launch says, and what says it already: plans of one term under several launches."""

from __future__ import annotations

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr, Level


def doubled(*levels: str) -> Expr:
    """The rows of a matrix, twice as large, by these executors."""
    outer, inner = levels
    rows = as_program(el.array("A", el.f32, (64, 32)).map(lambda row: row.map(lambda v: v * 2)))
    assert isinstance(rows, p.Map) and isinstance(rows.body, p.Map)
    body = p.Map(rows.body.body, rows.body.x, Level(inner, 0))
    return p.Map(body, rows.x, Level(outer, 0))


def test_a_launch_that_says_nothing_new_makes_no_plan() -> None:
    term = doubled("workgroup", "local")
    assert compile_term(term, Launch(128)) is compile_term(term, Launch(64))


def test_a_launch_that_makes_groups_smaller_makes_one() -> None:
    term = doubled("workgroup", "local")
    large, small = (compile_term(term, Launch(size)).kernels[0].local_size for size in (32, 8))
    assert (large, small) == ((32,), (8,))


def test_a_launch_shares_the_grid_out() -> None:
    term = doubled("global", "seq")
    assert compile_term(term, Launch(64)) is not compile_term(term, Launch(16))
