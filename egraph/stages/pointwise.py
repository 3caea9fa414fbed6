"""Functions of two arrays that work element by element, as functions of two elements.

\\<a, b>. map (\\<x, y>. x + y) (zip a b)   ->   \\<x, y>. x + y
"""

from __future__ import annotations

from egglift.egraph.stages.axes import element_type
from egglift.egraph.stages.operands import applied
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import Tuple


def pointwise(step: Expr) -> Expr | None:
    """The function of two elements that a function of two arrays applies; None if it does anything else."""
    match step:
        case p.Map(body, p.Zip((p.Get(i, p.Arg()) as a, p.Get(j, p.Arg()) as b)), None) if {i, j} == {0, 1}:
            types = element_type(a), element_type(b)
            arg = p.Arg(Tuple(types if i == 0 else types[::-1]))
            return applied(body, p.Get(i, arg), p.Get(j, arg))
        case _:
            return None
