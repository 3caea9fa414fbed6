"""Copies of views to memory."""

from __future__ import annotations

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from tests.codegen.low import fmap, op, vector


def kernel(parts: int) -> str:
    def multiples(e: Expr) -> Expr:
        root, found = op("sqrt", e), p.Fill(1, e)
        for _ in range(parts):
            found = p.Concat(p.Fill(1, root), found)
        return found

    return compile_term(fmap(multiples, vector("x", 64), "global"), Launch(32), DeviceLimits()).source


def test_numbers_of_an_array_have_what_they_share_once() -> None:
    assert kernel(3).count("sqrt(") == 1
    assert kernel(3).count("x[") == 1


def test_each_number_of_an_array_is_stored() -> None:
    assert kernel(3).count("out[") == 4
