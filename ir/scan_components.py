"""Scans of tuples of which some components are read keep these alone."""

from __future__ import annotations

from collections import defaultdict

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, exchanged, is_closed, subterms
from egglift.ir.tuples import as_one
from egglift.ir.types import Array, Tuple


def read_components(program: Expr) -> Expr:
    """`program` with what nothing reads of its closed scans in order left out.

    map (get 0) (scanSeq <z, <a, b>> x)  ->  scanSeq <z, a> x
    """
    readers = defaultdict[Expr, set[Expr]](set)
    for t in subterms(program):
        for part in (*children(t), *bodies(t)):
            readers[part].add(t)
    new: dict[Expr, Expr] = {}
    for t, own in readers.items():
        if isinstance(t, p.ScanSeq) and is_closed(t) and t is not program:
            new |= _narrowed(t, own)
    return exchanged(program, new) if new else program


def _narrowed(t: p.ScanSeq, readers: set[Expr]) -> dict[Expr, Expr]:
    """What stands for the readers of a scan that take one component each; {} where one takes another, or all are
    taken."""
    kind = type_of(t)
    assert isinstance(kind, Array)
    if not isinstance(kind.element, Tuple) or not isinstance(t.body, p.Tup):
        return {}
    taken = {r: k for r in readers if isinstance(r, p.Map) and (k := _component(r.body)) is not None}
    used = sorted(set(taken.values()))
    if len(taken) < len(readers) or len(used) == len(kind.element.items):
        return {}
    state, kept = t.body.items
    parts = tuple(kept.items[k] if isinstance(kept, p.Tup) else p.Get(k, kept) for k in used)
    less = p.ScanSeq(p.Tup((state, as_one(parts))), t.init, t.x)
    if len(used) == 1:
        return dict.fromkeys(readers, less)
    of = Tuple(tuple(kind.element.items[k] for k in used))
    return {r: p.Map(p.Get(used.index(k), p.Arg(of)), less) for r, k in taken.items()}


def _component(body: Expr) -> int | None:
    """Which component of its argument a body is; None where it is more."""
    return body.index if isinstance(body, p.Get) and isinstance(body.x, p.Arg) else None
