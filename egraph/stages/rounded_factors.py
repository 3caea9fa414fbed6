"""Factors of products of f32 as matrix units take them: rounded to tf32, 11 bits.

    sum_2 A[0,2] * B[2,1]   ->   sum_2 f32 (tf32 A[0,2]) * f32 (tf32 B[2,1])

Units round on their own, each factor for each product that it is in.  What is written as tf32 is rounded once, and lies
with steps side by side: so warp groups multiply it as it lies in local memory.  It is no equation of f32s, but what
`allow_tf32` allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from egglift.codegen.kernel.fragment_sums import UNITS
from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.matrix_products import unit_of_sum
from egglift.egraph.stages.stage import Dim, Names, Reduction, number
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import F32, TF32


def with_rounded_factors(names: Names, r: Reduction, dims: Sequence[Dim], least: float) -> Reduction:
    """A sum of products with both factors rounded, each of which is read `least` times or more for others of `dims`.

    Else itself; also where windows overlap, as each would be written for itself.
    """
    match r.element:
        case p.Apply("mul", (a, b)) if unit_of_sum(r) is UNITS["tf32"]:
            if all(_is_worth_writing(names, x, r, dims, least) for x in (a, b)):
                return replace(r, element=p.Apply("mul", (_rounded(a), _rounded(b))))
    return r


def _is_worth_writing(names: Names, factor: Expr, r: Reduction, dims: Sequence[Dim], least: float) -> bool:
    own = names.free(factor)
    again = prod(number(d) for d in dims if d not in own)
    overlap = any(isinstance(t, p.Slide) for read in reads_of(names, factor) for t in subterms(read.view))
    return bool(own & set(r.dims)) and again >= least and not overlap and not names.has_reductions(factor)


def _rounded(factor: Expr) -> Expr:
    return p.Cast(F32, p.Cast(TF32, factor))
