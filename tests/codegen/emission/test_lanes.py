"""The lanes of a vector differ: each has a value of its own, and reads what it keeps at a place of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, F32, Scalar
from tests.codegen.low import add_of, fmap, lit, meaning, op, total, vector
from tests.harness import run

M = vector("M", 8, 16)
BODIES: dict[str, Callable[[Expr], Expr]] = {
    "tree": lambda e: p.Tree(add_of(), lit(0.0), p.Fill(5, e)),
    "tree of lanes in local memory": lambda e: p.Tree(add_of(), lit(0.0), p.To("local", p.Fill(5, e))),
    "local memory": lambda e: total(p.To("local", p.Fill(5, e))),
    "local memory of what all lanes share": lambda e: op("add", e, total(p.To("local", p.At(0, M)))),
}


#: toLocal may not stand below mapGlobal
CASES = [(name, outer) for name in BODIES for outer in ("workgroup", "seq")] + [("tree", "global")]


@pytest.mark.parametrize(("name", "outer"), CASES)
def test_each_lane_has_a_value_of_its_own(name: str, outer: str) -> None:
    term = fmap(lambda row: fmap(BODIES[name], row, "vec"), M, outer)
    values = np.random.default_rng(0).integers(-8, 9, (8, 16)).astype(np.float32)
    (actual,) = run(compile_term(term, Launch(16)), {"M": values})
    np.testing.assert_array_equal(actual, meaning(term, M=values)[0])


def test_lanes_are_halved_by_the_item_that_has_them() -> None:
    """No other work-item repeats what the lanes of one have found."""
    rows = fmap(lambda row: total(row), p.Transpose(M), "vec")
    term = p.Tree(add_of(), lit(0.0), p.To("private", rows))
    plan = compile_term(term, Launch(16))
    (kernel,) = plan.kernels
    assert kernel.global_size == (1,) and "barrier" not in kernel.source
    values = np.random.default_rng(0).integers(-8, 9, (8, 16)).astype(np.float32)
    assert run(plan, {"M": values})[0] == values.sum()


# ---------------------------------------------------------------------------------------- registers of all lanes


def window(w: Expr, row: int, column: int) -> Expr:
    return p.At(column, p.At(row, w))


def difference(w: Expr) -> Expr:
    return op("sub", window(w, 0, 2), op("mul", lit(3.0), window(w, 1, 0)))


def only(w: Expr) -> Expr:
    return op("logical_and", window(w, 0, 2), op("logical_not", window(w, 1, 0)))


def chosen(w: Expr) -> Expr:
    return op("where", window(w, 1, 1), lit(1.0), lit(2.0))


def over_kept_rows(f: Callable[[Expr], Expr], lanes: int, t: Scalar) -> Expr:
    """`f` of windows of 2 x 3, one for each lane, within rows that are kept in registers of each lane."""

    def windows(tile: Expr) -> Expr:
        return p.Transpose(fmap(lambda row: p.Slide(3, 1, p.To("private", row)), tile))

    return fmap(lambda tile: fmap(f, windows(tile), "vec"), vector("M", 5, 2, lanes + 2, t=t), "global")


@pytest.mark.parametrize("lanes", [2, 4, 16, 32])
@pytest.mark.parametrize(("f", "t"), [(difference, F32), (only, BOOL), (chosen, BOOL)])
def test_lanes_read_their_registers_each_at_its_own_place(f: Callable[[Expr], Expr], t: Scalar, lanes: int) -> None:
    term = over_kept_rows(f, lanes, t)
    values = np.random.default_rng(lanes).integers(0, 2 if t == BOOL else 9, (5, 2, lanes + 2)).astype(t.dtype)
    (actual,) = run(compile_term(term, Launch(2)), {"M": values})
    np.testing.assert_array_equal(actual, meaning(term, M=values)[0])


def test_a_register_that_all_lanes_share_is_read_as_a_vector() -> None:
    apart = compile_term(over_kept_rows(difference, 4, F32)).source
    assert "(float4)(r1[2].s0, r1[3].s1, r1[4].s2, r1[5].s3)" in apart and "v0" not in apart
    columns = fmap(lambda m: fmap(lambda c: total(p.To("private", c)), p.Transpose(m), "vec"), vector("M", 5, 3, 4))
    together = compile_term(columns).source
    assert "float4 r0[3];" in together and ".s" not in together
