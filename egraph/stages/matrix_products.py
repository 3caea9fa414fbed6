"""Which stages add up products that matrix units multiply, and of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egglift.codegen.kernel.fragment_sums import CAST, UNITS
from egglift.codegen.kernel.imperative import Unit
from egglift.egraph.stages.stage import Dim, Reduction, Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar


def unit_of(stage: Stage) -> Unit | None:
    """The unit for what a stage adds up, if there are any of its types; what depends on what is not looked at.

    sum_2 A[0,2] * B[1,2] of f64: "f64"; of f32: "tf32", which rounds factors; sum_2 (f32)A[0,2] * (f32)B[1,2] of
    f16: "f16"; sum_2 (i32)A[0,2] * (i32)B[1,2] of i8: "i8"
    """
    if len(stage.phases) != 1:
        return None
    units = {id(unit): unit for unit in map(unit_of_sum, stage.phases[0]) if unit is not None}
    every = all(map(unit_of_sum, stage.phases[0]))
    return next(iter(units.values())) if every and len(units) == 1 else None


def is_of_rows_and_columns(stage: Stage, rows: Dim | None, columns: Dim | None) -> bool:
    """Is what is added up products of something that depends on the row with something that depends on the column?"""
    for reduction in stage.phases[0]:
        sides = [stage.names.free(factor) & {rows, columns} for factor in factors_of(reduction.element)]
        if {rows} not in sides or {columns} not in sides or {rows, columns} in sides:
            return False
    return True


def unit_of_sum(r: Reduction) -> Unit | None:
    """The unit for a sum of products, if there is any of its types."""
    adds = r.op is not None and isinstance(r.op.body, p.Apply) and r.op.body.op == "add"
    if not adds or not isinstance(r.type, Scalar):
        return None
    t = _type([*factors_of(r.element)])
    return next((u for u in UNITS.values() if (u.total, u.scalar) == (r.type.computed, t)), None)


def _type(factors: Sequence[Expr]) -> Scalar | None:
    """The type of the factors; of two that are cast to f32, the type that both are cast from."""
    given = [f.x if isinstance(f, p.Cast) and len(factors) == 2 else f for f in factors]
    for some in (given, factors):
        types = {type_of(f) for f in some}
        (t, *others) = types
        if not others and isinstance(t, Scalar) and (t in CAST or some is factors):
            return t
    return None


def factors_of(e: Expr) -> Iterator[Expr]:
    """The factors of a product, in order: mul (mul a b) c -> a, b, c."""
    match e:
        case p.Apply("mul", (a, b)):
            yield from factors_of(a)
            yield from factors_of(b)
        case _:
            yield e
