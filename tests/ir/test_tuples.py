"""What there is one of stands alone; what reads the argument of a body is told part by part."""

from __future__ import annotations

import pytest

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import argument_parts, in_scope
from egglift.ir.tuples import as_one, parts_of, type_as_one, zipped
from egglift.ir.types import F32, I32, Tuple
from tests.codegen.low import fmap, lit, op, vector

ARG = p.Arg(Tuple((Tuple((F32, I32)), F32)))
STATE, ELEMENT = p.Get(0, ARG), p.Get(1, ARG)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_are_those_that_were_put_together(count: int) -> None:
    values: list[Expr] = [lit(float(k)) for k in range(count)]
    one = as_one(values)
    assert type_of(one) == type_as_one([F32] * count) and isinstance(one, p.Tup) == (count > 1)
    assert parts_of(vector("x"), count) == (
        [vector("x")] if count == 1 else [p.Get(k, vector("x")) for k in range(count)]
    )
    arrays = [vector(f"x{k}", 5) for k in range(count)]
    assert isinstance(zipped(arrays), p.Zip) == (count > 1)


@pytest.mark.parametrize(
    ("e", "parts"),
    [
        (ELEMENT, {(1,)}),
        (op("add", ELEMENT, p.Cast(F32, p.Get(1, STATE))), {(1,), (0, 1)}),
        (op("add", ELEMENT, p.Get(0, STATE)), {(1,), (0, 0)}),
        (p.Tup((STATE, lit(1.0))), {(0,)}),
        (p.Tup((ARG, p.At(0, vector("x", 3)))), {()}),
        (lit(1.0), set()),
        (fmap(lambda v: op("mul", v, v), vector("x", 3)), set()),
    ],
    ids=["a component", "two", "of the state", "all of the state", "the whole", "none", "another body's"],
)
def test_the_parts_of_the_argument_that_are_read(e: Expr, parts: set[tuple[int, ...]]) -> None:
    assert argument_parts(e) == parts


def test_what_is_in_a_scope_is_in_no_body() -> None:
    square = fmap(lambda v: op("mul", v, v), vector("x", 3))
    found = list(in_scope(p.Tup((square, ELEMENT, square))))
    assert len(found) == len(set(found)) and ARG in found and vector("x", 3) in found
    assert not any(isinstance(t, p.Apply) for t in found)
    assert square not in in_scope(p.Tup((square, ELEMENT)), [square])
