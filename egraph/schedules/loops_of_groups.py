"""Loops over arrays within one kernel: a work-group takes all steps of a loop, whose state is in local memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.rows_apart import row_loops
from egglift.ir.traverse import changed, children, in_scope, is_closed, rebuild, subterms
from egglift.ir.tuples import as_one
from egglift.ir.types import Array, Tuple

#: elements from which a reduction's argument is stored, and from which work-items reduce together
STORED, TOGETHER = 16, 128
ITEMS = Level("local", 0)
LOOPS = (p.Reduce, p.Fold, p.Scan, p.ScanSeq, p.Iterate, p.Count)


def group_loops(t: p.Fold) -> Iterator[Expr]:
    """Low-level terms for a fold over arrays: a group for each row of its state, where rows never meet; and one group.

    fold f z xs  ->  mapWorkgroup0 (<z, xs>. fold (mapLocal0 ..) z xs) (zip z (transpose xs))
    """
    for m in row_loops(t):
        term = _of_groups(m)
        alone = isinstance(m.x, p.Fill)
        parts = [p.Join(x) if alone else x for x in _components(term)] if _all_arrays(term) else []
        if parts:
            yield as_one(parts)


def _all_arrays(rows: Expr) -> bool:
    """Is the state of each loop arrays?"""
    t = _element(rows)
    return all(isinstance(k, Array) for k in (t.items if isinstance(t, Tuple) else (t,)))


def _components(rows: Expr) -> list[Expr]:
    t = _element(rows)
    if not isinstance(t, Tuple):
        return [rows]
    whole = p.To("global", rows)
    return [p.Map(p.Get(k, p.Arg(t)), whole) for k in range(len(t.items))]


def _element(x: Expr) -> Array | Tuple:
    t = type_of(x)
    assert isinstance(t, Array) and isinstance(t.element, Array | Tuple)
    return t.element


def _of_groups(m: p.Map) -> Expr:
    """A map over rows by groups, the steps of whose folds are shared out over their work-items."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            own = changed(e, {"body": shared_out(e.body)}) if isinstance(e, p.Fold) and not is_closed(e) else None
            memo[e] = own or rebuild(e, go)
        return memo[e]

    return p.Map(go(m.body), m.x, Level("workgroup", 0))


def shared_out(body: Expr) -> Expr:
    """A step of a loop by a group: arrays by its work-items, in local memory where others read them.

    map f (map g x), reduce (+) 0 (map g x)  ->  mapLocal0 f v, tree (+) 0 v, v = toLocal (mapLocal0 g x)
    """
    results = body.items if isinstance(body, p.Tup) else (body,)
    kept = _kept(body, results)
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e in memo:
            return memo[e]
        new = _by_items(rebuild(e, go))
        memo[e] = p.To("local", _mapped(new)) if e in kept else new
        return memo[e]

    made = [go(e) if e in kept else _mapped(go(e)) for e in results]
    return p.Tup(tuple(made)) if isinstance(body, p.Tup) else made[0]


def _mapped(e: Expr) -> Expr:
    return changed(e, {"level": ITEMS}) if isinstance(e, p.Map) and e.level is None else e


def _by_items(e: Expr) -> Expr:
    """Long reductions, and scans, by all work-items together."""
    match e:
        case p.Reduce(op, init, x) if op.commutative and _length(x) >= TOGETHER:
            return p.Tree(op.body, init, x)
        case p.Scan(op, init, x):
            return p.ScanDoubling(op.body, init, x)
    return e


def _kept(body: Expr, results: tuple[Expr, ...]) -> set[Expr]:
    """The arrays of a step that are stored: what takes a loop to compute and is read by more than one, or not element
    by element; and what is reduced as a whole."""
    readers, elsewhere, reduced = Counter[Expr](results), set[Expr](), set[Expr]()
    scope = list(in_scope(body))
    for t in scope:
        for c in children(t):
            readers[c] += 1
            along = isinstance(t, p.Zip) or (isinstance(t, p.Map) and t.level is None) or _is_along(t, c)
            if isinstance(t, p.Reduce | p.Scan) and c is t.x:
                reduced.add(c)
            elif not along:
                elsewhere.add(c)
    maps = [t for t in scope if isinstance(t, p.Map) and not is_closed(t)]
    dear = {t for t in maps if any(isinstance(s, LOOPS) for s in subterms(t))}
    lone = {t for t in dear if t not in elsewhere and readers[t] == 1}
    return {t for t in maps if (t in dear and t not in lone) or (t in reduced and _length(t) >= STORED)}


def _is_along(t: Expr, c: Expr) -> bool:
    return isinstance(t, p.Tup) or (isinstance(t, p.Distl) and c is t.b and c is not t.a)


def _length(x: Expr) -> int:
    t = type_of(x)
    return t.length if isinstance(t, Array) and isinstance(t.length, int) else 0
