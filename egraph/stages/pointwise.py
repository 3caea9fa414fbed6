"""Functions of two arrays that work element by element, as functions of two elements.

\\<a, b>. map (\\<x, y>. x + y) (zip (map (\\x. 2 * x) a) b)   ->   \\<x, y>. 2 * x + y
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egglift.ir import patterns as p
from egglift.ir.axes import element_type
from egglift.ir.check import type_of
from egglift.ir.operators import named, recognise
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed, with_argument
from egglift.ir.types import Array, Tuple, Type


def pointwise(step: Expr) -> Expr | None:
    """The function of two elements that a function of two arrays applies; None if it does anything else."""
    match step:
        case p.Get(i, p.Arg(Tuple(items))) if _are_as_long(items):
            return p.Get(i, p.Arg(Tuple(tuple(element_type(p.Arg(t)) for t in items))))
        case p.Map(body, x, None):
            element = pointwise(x)
            return None if element is None else with_argument(body, element)
        case p.Zip(arrays):
            elements = [pointwise(a) for a in arrays]
            found = tuple(e for e in elements if e is not None)
            return p.Tup(found) if len(found) == len(elements) else None
        case p.Fill(_, x) if is_closed(x):
            return x
        case _:
            return None


def of_elements(op: p.Operator, plain: Expr) -> p.Operator:
    """An operator of arrays that is `plain` of their elements, as one of elements."""
    if name := recognise(plain):
        return named(name, type_of(plain))
    return replace(op, body=plain, neutral=op.neutral.x if isinstance(op.neutral, p.Fill) else None)


def _are_as_long(types: Sequence[Type]) -> bool:
    """Are these arrays of one length?  Else what goes on with one of them has not the elements of the other."""
    return all(isinstance(t, Array) for t in types) and len({t.length for t in types if isinstance(t, Array)}) == 1
