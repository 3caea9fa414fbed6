"""Scans by groups that are linked, as scans in turn."""

from __future__ import annotations

from egglift.ir import patterns as p
from egglift.ir.axes import element_type
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied
from egglift.ir.types import Tuple


def in_turn(e: p.ScanLinked) -> Expr:
    """The body with which `scanSeq` is this `scanLinked`.

    scanLinked (+) (\\<z, x>. <t x, y z x>)  ->  \\<z, x>. <z + t x, y z x>
    """
    carried = p.Get(0, p.Arg(Tuple((type_of(e.init), element_type(e.x)))))
    return p.Tup((applied(e.op, carried, total_of(e.body)), kept_of(e.body)))


def total_of(body: Expr) -> Expr:
    """What a body makes the total of an element."""
    return body.items[0] if isinstance(body, p.Tup) else p.Get(0, body)


def kept_of(body: Expr) -> Expr:
    """What a body keeps of an element."""
    return body.items[1] if isinstance(body, p.Tup) else p.Get(1, body)
