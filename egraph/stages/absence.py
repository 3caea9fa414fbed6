"""A neutral element for an associative operator that has none: values that may be absent.

    reduce (+) z x  ->  get 1 (reduce (+') <1, z> (map (fn v. <1, v>) x))
    scan (+) z x    ->  map (get 1) (scan (+') <1, z> (map (fn v. <1, v>) x))
    <f, a> (+') <g, b> = <max f g, a + b if f = g = 1, else a if f = 1, else b>,    with <0, z> as its neutral element

Only what has a neutral element is reduced in parts, or scanned in chunks: what is not there yet has to have a value.
Whether it is there is a number of four bytes, since groups can hand those on (codegen/emission/linked.py).
"""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lifting import lifted
from egglift.ir.patterns import Expr, Operator
from egglift.ir.trace import element_of, map_body
from egglift.ir.traverse import applied, is_closed
from egglift.ir.types import I32, Array, Tuple, Type

#: elements of a reduction that is worth its parts: of fewer, one work-item has them all
LONG = 1 << 10
_THERE, _ABSENT = p.Literal(1, I32), p.Literal(0, I32)


def with_absence(e: p.Reduce | p.Scan) -> Expr | None:
    """A reduction or a scan by an operator that has a neutral element; None where it has one, or is better as it is."""
    t = element_of(e.x)
    if e.op.neutral is not None or not e.op.associative or _has_arrays(t) or not is_closed(e.init):
        return None
    if isinstance(e, p.Reduce) and not _is_long(type_of(e.x)):
        return None
    op, init = _of_present(e.op, e.init, t), p.Tup((_THERE, e.init))
    present = map_body(lambda v: p.Tup((_THERE, v)), e.x)
    if isinstance(e, p.Reduce):
        return p.Get(1, p.Reduce(op, init, present))
    return map_body(lambda pair: p.Get(1, pair), p.Scan(op, init, present))


def _of_present(op: Operator, init: Expr, t: Type) -> Operator:
    maybe = Tuple((I32, t))
    pair = p.Arg(Tuple((maybe, maybe)))
    (f, a), (g, b) = ((p.Get(0, x), p.Get(1, x)) for x in (p.Get(0, pair), p.Get(1, pair)))
    either = lifted("where", [lifted("gt", [g, 0]), applied(op.body, a, b), a])
    body = p.Tup((lifted("maximum", [f, g]), lifted("where", [lifted("gt", [f, 0]), either, b])))
    return Operator(f"{op.name} of what is there", body, True, op.commutative, p.Tup((_ABSENT, init)))


def _is_long(t: Type) -> bool:
    return isinstance(t, Array) and isinstance(t.length, int) and t.length >= LONG


def _has_arrays(t: Type) -> bool:
    match t:
        case Array():
            return True
        case Tuple(items):
            return any(map(_has_arrays, items))
    return False
