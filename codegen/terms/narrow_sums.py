"""A pass over terms: sums of few small integers are in 32 bits, and only what they come to is in 64."""

from __future__ import annotations

from egglift.codegen.kernel.views import length
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied, argument_parts, rebuild
from egglift.ir.types import BOOL, I32, I64, U32, U64, Scalar, Tuple

#: what sums of each type are in as long as they fit, and how large that may be
NARROWER = {I64: (I32, 1 << 31), U64: (U32, 1 << 32)}


def narrow_sums(t: Expr) -> Expr:
    """`t` with 32 bits for sums that cannot leave them, wherever these stand: a GPU adds 64 bits in two steps.

    fold (acc + cast i64 x) z xs  ->  z + cast i64 (fold (acc + cast i32 x) 0 xs)    of 256 numbers of i8, say
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = _narrowed(rebuild(e, go, go))
        return memo[e]

    return go(t)


def _narrowed(e: Expr) -> Expr:
    match e:
        case p.Fold(p.Apply("add", (p.Get(0, p.Arg(Tuple(items))), p.Cast(wide, x))), init, xs, ends=None):
            narrow, most = NARROWER.get(wide, (wide, 0))
            largest = _largest(x, narrow)
            if largest is None or _reads_more(x) or _count(xs) * largest >= most:
                return e
            arg = p.Arg(Tuple((narrow, *items[1:])))
            x = applied(x, p.Get(0, arg), p.Get(1, arg))
            body = p.Apply("add", (p.Get(0, arg), x if type_of(x) == narrow else p.Cast(narrow, x)))
            inner = p.Fold(body, p.Literal(0, narrow), xs, e.unroll, e.prefetch, buffers=e.buffers)
            return p.Apply("add", (init, p.Cast(wide, inner)))
    return e


def _reads_more(x: Expr) -> bool:
    """Does it read more of a step's argument than the element?"""
    return any(part[:1] != (1,) for part in argument_parts(x))


def _count(xs: Expr) -> int:
    """How many there are; of a length that a call says, too many."""
    n = length(type_of(xs))
    return 1 << 62 if isinstance(n, Length) else n


def _largest(x: Expr, narrow: Scalar) -> int | None:
    """How large an integer is at most, as its type or how it was made says; None if that is too much to be added up
    in that type.
    """
    t = type_of(x)
    assert isinstance(t, Scalar)
    if t == BOOL:
        return 1
    if not t.is_integer or (narrow == U32 and t.is_signed):
        return None
    match x:
        case p.Cast(_, y) if t == narrow:
            return _largest(y, narrow)
        case p.Fold(p.Apply("add", (p.Get(0, p.Arg()), y)), p.Literal(0), xs) if t == narrow:
            inner = _largest(y, narrow)
            return None if inner is None else inner * _count(xs)
    return 1 << (8 * t.size - t.is_signed) if t.size <= 2 else None
