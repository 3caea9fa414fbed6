"""Assignments that combine what was there with something new: `s += e`, `m = e > m ? e : m`, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from egglift.frontend.nest import Apply, Cast, CExpr, Number, Read, Statement, reads_in
from egglift.ir import reduction as r
from egglift.ir.conversions import integers
from egglift.ir.types import BOOL, Scalar


@dataclass(frozen=True)
class Combining:
    """`target = operator(target, element)`; type: in which it is computed; neutral: an element that changes nothing."""

    operator: Any
    element: CExpr
    type: Scalar
    neutral: Number
    needs_number: bool = False  # is a start that may be NaN another thing?


OPERATORS: dict[str, Any] = {"add": r.add, "mul": r.mul, "bitwise_and": r.bitwise_and, "bitwise_or": r.bitwise_or}
OPERATORS |= {"bitwise_xor": r.bitwise_xor}


def combining(s: Statement) -> Combining | None:
    """The operator and the elements of a reduction; None where a statement has another form."""
    return _combining(s.value, s.target)


def _combining(value: CExpr, target: Read) -> Combining | None:
    t = target.type
    match value:
        case Apply("where", (test, yes, no)) if no == target and not _reads(test, target):
            found = _combining(yes, target)
            return found and replace(found, element=_masked(test, found))
        case Cast(inner, _) if inner.type.is_integer == t.is_integer:
            return _operation(inner, target, inner.type)
        case _:
            return _operation(value, target, t)


def _masked(test: CExpr, found: Combining) -> CExpr:
    return Apply("where", (test, found.element, found.neutral), found.element.type)


def _operation(value: CExpr, target: Read, t: Scalar) -> Combining | None:
    def is_target(e: CExpr) -> bool:
        return e == target or (isinstance(e, Cast) and e.type == t and e.x == target)

    match value:
        case Apply("add" | "mul" | "bitwise_and" | "bitwise_or" | "bitwise_xor" as op, (a, b)):
            for x, y in ((a, b), (b, a)):
                if is_target(x) and not _reads(y, target):
                    return _made(op, y, t)
        case Apply("sub", (a, b)) if is_target(a) and not _reads(b, target):
            return _made("add", Apply("neg", (b,), t), t)
        case Apply("where", (test, yes, no)):
            return _extreme(test, yes, no, target)
        case Apply("cfmax" | "cfmin" as op, (a, b)):
            for x, y in ((a, b), (b, a)):
                if x == target and not _reads(y, target):
                    return _largest(op == "cfmax", y, needs_number=True)
    return None


def _made(op: str, element: CExpr, t: Scalar) -> Combining:
    all_ones = -1 if t.is_signed else (1 << 8 * t.size) - 1
    neutral = {"mul": 1, "bitwise_and": all_ones}.get(op, 0)
    return Combining(OPERATORS[op], element, t, Number(float(neutral) if t.is_float else neutral, t))


def _extreme(test: CExpr, yes: CExpr, no: CExpr, target: Read) -> Combining | None:
    """`e > m ? e : m`: a NaN among the elements is passed over, which another form of the same would not."""
    if no == target:
        element, replaces = yes, True
    elif yes == target and not target.type.is_float:
        element, replaces = no, False
    else:
        return None
    if _reads(element, target):
        return None
    match test:
        case Apply("lt" | "le" | "gt" | "ge" as op, (a, b)) if {a, b} == {element, target}:
            greater = op in ("gt", "ge")
            largest = greater == (a == element)
            return _largest(largest if replaces else not largest, element, needs_number=False)
    return None


def _largest(largest: bool, element: CExpr, needs_number: bool) -> Combining:
    t = element.type
    if t.is_float:
        worst = Number(float("-inf") if largest else float("inf"), t)
        element = Apply("where", (Apply("eq", (element, element), BOOL), element, worst), t)
    else:
        worst = Number(integers(t)[0 if largest else 1], t)
    return Combining(r.maximum if largest else r.minimum, element, t, worst, needs_number)


def _reads(e: CExpr, target: Read) -> bool:
    """Does an expression read the very element?  (Other elements of its array are asked of the dependences.)"""
    return any(x == target for x in reads_in(e))
