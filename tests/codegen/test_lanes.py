"""What a work-group could do together it must not do for the lanes of a vector, which differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.imperative import Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
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
