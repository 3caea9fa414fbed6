"""Axes that were joined or filled, as they were before: what a reduction over them runs over instead.

sum_2 (map join W)[0, 2] * (join x)[2]   =   sum_2,3 W[0, 2, 3] * x[2, 3]
"""

from __future__ import annotations

from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.axes import element_type, permuted
from egglift.ir.patterns import Expr
from egglift.ir.traverse import with_argument


def unjoined(x: Expr, depth: int) -> Expr | None:
    """`x` with two axes for that at `depth`, if it is a join of these.

    unjoined(map join x, 1) -> x; unjoined(map f (join x), 0) -> map (map f) x
    """
    match x:
        case p.Join(y):
            if depth == 0:
                return y
            return _joined(unjoined(y, depth + 1))
        case p.Map(body, y, None) if depth == 0:
            inner = unjoined(y, 0)
            return None if inner is None else p.Map(p.Map(body, p.Arg(element_type(inner))), inner)
        case p.Map(body, y, None):
            return _mapped(unjoined(body, depth - 1), y)
        case p.Transpose(y):
            return _transposed(unjoined(y, {0: 1, 1: 0}.get(depth, depth)), depth)
        case _:
            return None


def _mapped(body: Expr | None, x: Expr) -> Expr | None:
    return x if isinstance(body, p.Arg) else None if body is None else p.Map(body, x)


def _joined(x: Expr | None) -> Expr | None:
    return None if x is None else p.Join(x)


def _transposed(x: Expr | None, depth: int) -> Expr | None:
    """The transposition of what has two axes for one of the outer two."""
    if x is None:
        return None
    now, then = {0: ("aij", "ija"), 1: ("ija", "aij")}.get(depth, ("ab", "ba"))
    return permuted(x, now, then)


def unfilled(read: Read, dim: Dim) -> Read:
    """A read without a dimension along which it is one value again and again.

    (map (fill n) x)[0, 1] -> x[0]; (map f (fill n x))[0, 1] -> (f x)[1]
    """
    if dim not in read.dims:
        return read
    at = read.dims.index(dim)
    view = _unfilled(read.view, at)
    return read if view is None else Read(view, (*read.dims[:at], *read.dims[at + 1 :]))


def _unfilled(x: Expr, depth: int) -> Expr | None:
    match x:
        case p.Fill(_, y) if depth == 0:
            return y
        case p.Map(body, y, None) if depth > 0:
            return _mapped(_unfilled(body, depth - 1), y)
        case p.Map(body, y, None):
            one = _unfilled(y, 0)
            return None if one is None else with_argument(body, one)
        case p.Transpose(y) if depth < 2:
            return _unfilled(y, 1 - depth)
        case p.Transpose(y):
            inner = _unfilled(y, depth)
            return None if inner is None else p.Transpose(inner)
        case _:
            return None
