"""Scans over the same indices as one scan of tuples.

s[0] = (add up to 0 of x[0]);  [ (maximum up to 0 of y[0]) / s[0] ]
->  [ get 1 r / get 0 r ], r = (<add, maximum> up to 0 of <x[0], y[0]>)

s[0] = (add up to 0 of x[0]);  [ (maximum up to 0 of s[0]) - s[0] ]
->  [ get 1 r - get 0 r ], r = (\\<r, x>. (let s = get 0 r + x) <s, max (get 1 r) s>) up to 0 of x[0]

The first is as associative as both operators are.  The second one's steps are taken in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from egglift.egraph.stages.as_pattern import reads_of, views_of
from egglift.egraph.stages.scan_layout import with_arrays
from egglift.egraph.stages.scan_readers import component, components_of, own_place
from egglift.egraph.stages.stage import Dim, Names, Read, Scanned, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import applied, exchanged, subterms
from egglift.ir.types import Tuple


def scans_together(stages: Sequence[Stage], result: Expr, chained: bool) -> tuple[list[Stage], Expr]:
    """Stages whose scans are one: where one reads the other at its own place and nothing else does, and where both read
    the same.  chained: also where one scans what the other yields."""
    found = list(stages)
    while True:
        if pair := next(_one_reads_another(found, result, chained), None):
            first, second, merged = pair
            found = [merged if s is second else s for s in found if s is not first]
        elif pair := next(_beside(found), None):
            first, second, merged = pair
            parts = components_of(merged, 2)
            new: dict[Expr, Expr] = {p.Input(s.name, s.type): x for s, x in zip((first, second), parts, strict=True)}
            left = [merged if s is second else s for s in found if s is not first]
            found = [s if s is merged else with_arrays(s, new) for s in left]
            result = exchanged(result, new)
        else:
            return found, result


def _one_reads_another(stages: Sequence[Stage], result: Expr, chained: bool) -> Iterator[tuple[Stage, Stage, Stage]]:
    wanted = subterms(result)
    left = {t.name for t in wanted if isinstance(t, p.Input)}
    for first in stages:
        readers = [s for s in stages if s is not first and _reads(s, first)]
        if len(readers) != 1 or first.name in left or not _is_plain(first) or not _alike(first, readers[0]):
            continue
        if (merged := _merged(first, readers[0], chained)) is not None:
            yield first, readers[0], merged


def _beside(stages: Sequence[Stage]) -> Iterator[tuple[Stage, Stage, Stage]]:
    """Scans that read the same, neither of which needs the other, nor does what is between them."""
    for i, first in enumerate(stages):
        for j in range(i + 1, len(stages)):
            second = stages[j]
            if any(_reads(s, first) for s in stages[i + 1 : j + 1]):
                break
            if not (_is_plain(first) and _is_plain(second) and _alike(first, second)):
                continue
            own = dict(zip(second.dims, first.dims, strict=True))
            seen = {r.at(own) for body in second.bodies for r in reads_of(second.names, body)}
            if seen.isdisjoint(r for body in first.bodies for r in reads_of(first.names, body)):
                continue
            whole = _together(first, second, second.dims, {})
            assert whole.scan is not None
            kept = _kept(first, second.dims, p.Get(0, whole.scan.result))
            parts = (kept, whole.scan.result if whole.scan.after is None else whole.scan.after)
            yield first, second, replace(whole, scan=replace(whole.scan, after=p.Tup(parts)))


def _is_plain(s: Stage) -> bool:
    """Is a scan written as such?"""
    return s.scan is not None and s.scan.combined is None and s.scan.across is None and s.planes is None


def _alike(first: Stage, second: Stage) -> bool:
    """Do two scans go the same way, over as many indices?"""
    if second.scan is None or first.scan is None or second.scan.across is not None:
        return False
    lengths = [sorted(map(number, s.dims[:-1])) + [number(s.dims[-1])] for s in (first, second)]
    return lengths[0] == lengths[1] and first.scan.backwards == second.scan.backwards


def _reads(stage: Stage, other: Stage) -> bool:
    array = p.Input(other.name, other.type)
    return any(array in subterms(view) for body in stage.bodies for view in views_of(stage.names, body))


def _merged(first: Stage, second: Stage, chained: bool) -> Stage | None:
    """One stage for a scan and the one that reads it; None where that reads other places of it."""
    names, array, order = second.names, p.Input(first.name, first.type), set[tuple[Dim, ...]]()
    paths = dict[Expr, tuple[int, ...]]()
    for body in second.bodies:
        if array in subterms(body):  # one of its elements as a number
            return None
        for x, what in names.of(body):
            if not isinstance(what, Read):
                return None
            if array in subterms(what.view):
                if (own := own_place(what, array)) is None:
                    return None
                order.add(own[0])
                paths[x] = own[1]
    assert second.scan is not None
    in_order = any(x in paths for x, _ in names.of(second.body))
    if len(order) != 1 or any(x in paths for x, _ in names.of(second.scan.init)) or (in_order and not chained):
        return None
    (dims,) = order
    if {*dims} != {*second.dims} or dims[-1] != second.dims[-1]:
        return None
    return (_chained if in_order else _together)(first, second, dims, paths)


def _kept(first: Stage, dims: tuple[Dim, ...], acc: Expr) -> Expr:
    """What is kept of the first scan's accumulator, at the second one's dimensions."""
    assert first.scan is not None
    after = first.scan.result if first.scan.after is None else first.scan.after
    return substituted(_at(first.names, after, first, dims), {first.scan.result: acc})


def _at(names: Names, body: Expr, first: Stage, dims: tuple[Dim, ...]) -> Expr:
    own = dict(zip(first.dims, dims, strict=True))
    return names.with_reads(body, lambda r: r.at(own))


def _together(first: Stage, second: Stage, dims: tuple[Dim, ...], paths: Mapping[Expr, tuple[int, ...]]) -> Stage:
    """Both scans as one of pairs, of which what is kept of the second may read the first."""
    one, other = first.scan, second.scan
    assert one is not None and other is not None
    t = Tuple((one.type, other.type))
    arg = p.Arg(Tuple((t, t)))
    a, b = p.Get(0, arg), p.Get(1, arg)
    steps = [applied(s.op.body, p.Get(i, a), p.Get(i, b)) for i, s in enumerate((one, other))]
    neutral = None
    if one.op.neutral is not None and other.op.neutral is not None:
        neutral = p.Tup((one.op.neutral, other.op.neutral))
    associative = one.op.associative and other.op.associative
    commutative = one.op.commutative and other.op.commutative
    op = p.Operator(_name(one, other), p.Tup(tuple(steps)), associative, commutative, neutral)
    return _whole(first, second, dims, paths, op, p.Tup((_at(first.names, first.body, first, dims), second.body)))


def _chained(first: Stage, second: Stage, dims: tuple[Dim, ...], paths: Mapping[Expr, tuple[int, ...]]) -> Stage:
    """Both scans as one in order, whose second step needs the first."""
    one, other, names = first.scan, second.scan, second.names
    assert one is not None and other is not None
    kept = _kept(first, dims, one.result)
    others = [x for x, _ in (*names.of(kept), *names.of(second.body)) if x not in paths]
    others = list(dict.fromkeys(others))
    scanned = _at(first.names, first.body, first, dims)
    body = p.Tup((scanned, *others)) if others else scanned
    arg = p.Arg(Tuple((Tuple((one.type, other.type)), type_of(body))))
    acc, element = p.Get(0, arg), p.Get(1, arg)
    at: dict[Expr, Expr] = {x: p.Get(1 + i, element) for i, x in enumerate(others)}
    stepped = applied(one.op.body, p.Get(0, acc), p.Get(0, element) if others else element)
    value = substituted(kept, {**at, one.result: stepped})
    given = {x: component(value, path) for x, path in paths.items()}
    last = applied(other.op.body, p.Get(1, acc), substituted(second.body, {**at, **given}))
    op = p.Operator(_name(one, other), p.Tup((stepped, last)), associative=False, commutative=False)
    return _whole(first, second, dims, paths, op, body)


def _whole(
    first: Stage,
    second: Stage,
    dims: tuple[Dim, ...],
    paths: Mapping[Expr, tuple[int, ...]],
    op: p.Operator,
    body: Expr,
) -> Stage:
    one, other = first.scan, second.scan
    assert one is not None and other is not None
    init = p.Tup((_at(first.names, one.init, first, dims), other.init))
    scan = replace(other, op=op, init=init, after=None)
    value = _kept(first, dims, p.Get(0, scan.result))
    new: dict[Expr, Expr] = {x: component(value, path) for x, path in paths.items()}
    after = other.result if other.after is None else other.after
    after = substituted(after, {**new, other.result: p.Get(1, scan.result)})
    return replace(second, body=body, scan=replace(scan, after=after))


def _name(one: Scanned, other: Scanned) -> str:
    return f"{one.op.name}, {other.op.name}"
