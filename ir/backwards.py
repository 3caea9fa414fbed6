"""Arrays from their last element to the first: gathers of the places n-1, n-2, ..., 0."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.axes import length_of
from egglift.ir.patterns import Expr
from egglift.ir.types import I32, I64


def backwards(x: Expr) -> Expr:
    """The elements of an array whose length is a number, the last one first; backwards (backwards x) -> x."""
    if is_backwards(x):
        assert isinstance(x, p.Gather)
        return x.x
    n = length_of(x)
    assert isinstance(n, int)
    t = I32 if n < 1 << 31 else I64
    places = p.Map(p.Apply("sub", (p.Literal(n - 1, t), p.Arg(t))), p.Iota(n, t))
    return p.Gather(places, x) if n else x


def is_backwards(e: Expr) -> bool:
    """Is `e` an array from its last element to the first?"""
    match e:
        case p.Gather(p.Map(p.Apply("sub", (p.Literal(value=last), p.Arg())), p.Iota(n), None), x):
            return isinstance(n, int) and n == length_of(x) and last == n - 1
    return False


def rearranged(e: Expr) -> Expr | None:
    """The array each of whose elements `e` puts into one place, or leaves out: whatever computes it can be told where
    its elements go.  None where `e` is no such layout."""
    if isinstance(e, p.REARRANGING) or (isinstance(e, p.Gather) and is_backwards(e)):
        return e.x
    return None
