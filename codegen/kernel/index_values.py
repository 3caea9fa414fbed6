"""Numbers that are made of indices: computed as indices are, in no more bits than their range needs.

(long)g0 % 2L == 1L  ->  g0 % 2 == 1
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.conditions import has_lane
from egglift.codegen.kernel.imperative import ScalarValue
from egglift.codegen.kernel.index import Index, index, regardless
from egglift.ir.lengths import Length
from egglift.ir.types import I32, Scalar

COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


def computed(op: str, args: Sequence[Index]) -> Index | None:
    """A function of integers as an index; None where indices have no such function."""
    a, b = args[0], args[-1]
    match op:
        case "cast":
            return a
        case "neg":
            return a * -1
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul" if not b.terms:
            return a * b.constant
        case "mul" if not a.terms:
            return b * a.constant
        case "floordiv" if not b.terms and b.constant > 0:
            return a // b.constant
        case "mod" if not b.terms and b.constant > 0:
            return a % b.constant
    return None


def fitting(at: Index, t: Scalar) -> Index | None:
    """`at`, unless it could wrap around as a number of type `t`."""
    bits = 8 * t.size - t.is_signed
    low, high = at.range
    return at if high < 1 << bits and low >= (-(1 << bits) if t.is_signed else 0) else None


def of_indices(op: str, args: Sequence[ScalarValue], t: Scalar) -> Index | None:
    """The value of a function of numbers that are indices, if it is one, whatever guards are in force.

    Quotients and remainders of a vector's lanes are left to vectors.
    """
    if not t.is_integer or not any(isinstance(a, im.IndexValue) for a in args):
        return None
    known = [_index(a) for a in args]
    if op in ("floordiv", "mod") and any(has_lane(k) for k in known if k is not None):
        return None
    with regardless():
        at = computed(op, [k for k in known if k is not None]) if None not in known else None
        return at if at is not None and _has_numbers(at) and fitting(at, t) is not None else None


def in_i32(op: str, args: Sequence[ScalarValue], t: Scalar) -> tuple[Index, ...] | None:
    """What a comparison of such numbers is of, or a cast to floats, where i32 holds it."""
    wide = any(isinstance(a, im.IndexValue) and a.type.size > I32.size for a in args)
    if not wide or not (op in COMPARISONS or (op == "cast" and t.is_float)):
        return None
    known = [_index(a) for a in args]
    with regardless():
        found = [k for k in known if k is not None and _has_numbers(k) and fitting(k, I32) is not None]
    return tuple(found) if len(found) == len(args) else None


def _index(v: ScalarValue) -> Index | None:
    match v:
        case im.IndexValue(at, _):
            return at
        case im.Const(value, t) if t.is_integer and not isinstance(value, Length):
            return index(int(value))
    return None


def _has_numbers(at: Index) -> bool:
    """Is its range one of numbers, and not of lengths that are not known yet?"""
    return not any(isinstance(n, Length) for n in at.range)
