"""Low-level programs of scans whose results are reduced across them: a work-item goes on with all of them.

mapGlobal0 (\\row. scanSeq (\\<states, at>. (let states' = toPrivate (mapSeqUnroll (+) (zip states at)))
                           <states', finish (reduceSeqUnroll (after) states')>) init row)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from egglift.egraph.stages.as_pattern import computed
from egglift.egraph.stages.short_arrays import laid_out
from egglift.egraph.stages.stage import Across, Dim, Read, Scanned, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, merged, permuted
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.traverse import applied
from egglift.ir.tuples import as_one
from egglift.ir.types import Tuple


def states_by_items(stage: Stage) -> Expr:
    """The program of a stage that reduces across several scans, for each index of its other dimensions one work-item.

    It reads nothing but its elements: what the scans begin with is closed.
    """
    assert stage.scan is not None and stage.scan.across is not None
    scan, across, names = stage.scan, stage.scan.across, stage.names
    *outer, last = (d for d in stage.dims if d not in across.dims)
    others = _read(stage, scan.after) if scan.after is not None else []
    element = _packed([stage.body, *others])
    states = _rows(stage, outer, computed(names, (*outer, last, *across.dims), element))
    states = at_depth(2, states, lambda x: merged(x, 0, len(across.dims)))
    beside = _read(stage, across.finish)
    rows = states
    if beside:
        own = _rows(stage, outer, computed(names, (*outer, last), _packed(beside)))
        pair = p.Arg(Tuple((element_type(states), element_type(own))))
        rows = p.Map(p.Zip((p.Get(0, pair), p.Get(1, pair))), p.Zip((states, own)))
    found: Expr = p.Map(_scanned(stage, scan, across, others, beside, rows), rows, Level("global", 0))
    found = at_depth(1, found, backwards) if scan.backwards else found
    for d in reversed(outer[1:]):
        found = p.Split(d.extent, found)
    array = permuted(found if outer else p.Join(found), (*outer, last), stage.array_dims)
    return laid_out(array, stage)


def _read(stage: Stage, body: Expr) -> list[Expr]:
    """What stands for what a body reads, but for what is scanned."""
    return [x for x, what in stage.names.of(body) if isinstance(what, Read) and x != stage.body]


def _rows(stage: Stage, outer: list[Dim], array: Expr) -> Expr:
    """An array whose outer axes are those dimensions and the last one, as rows in the order of scanning."""
    assert stage.scan is not None
    rows = merged(array, 0, len(outer)) if outer else p.Split(number(stage.dims[-1]), array)
    return at_depth(1, rows, backwards) if stage.scan.backwards else rows


def _packed(items: Sequence[Expr]) -> Expr:
    return as_one(items)


def _parts(x: Expr, count: int) -> list[Expr]:
    """The items of which `x` was packed."""
    return [x] if count == 1 else [p.Get(i, x) for i in range(count)]


def _scanned(stage: Stage, scan: Scanned, across: Across, others: list[Expr], beside: list[Expr], rows: Expr) -> Expr:
    """The body over a row: the scans, of all of whose states one number is kept at each place."""
    row = p.Arg(element_type(rows))
    count = prod(map(number, across.dims))
    init = p.Fill(count, scan.init)
    step = p.Arg(Tuple((type_of(init), element_type(row))))
    at: Expr = p.Get(0, p.Get(1, step)) if beside else p.Get(1, step)
    pairs = p.Zip((p.Get(0, step), at))
    pair = p.Arg(element_type(pairs))
    scanned = applied(scan.op.body, p.Get(0, pair), _parts(p.Get(1, pair), 1 + len(others))[0])
    states = p.To("private", p.Map(scanned, pairs, Level("unroll")))
    both = p.Zip((states, at))
    add = p.Arg(Tuple((across.result.type, element_type(both))))
    state, own = (p.Get(i, p.Get(1, add)) for i in range(2))
    parts = zip((stage.body, *others), _parts(own, 1 + len(others)), strict=True)
    after = substituted(scan.after or scan.result, {**dict(parts), scan.result: state})
    total = p.Fold(applied(across.op.body, p.Get(0, add), after), across.init, both, unroll=True)
    given = zip(beside, _parts(p.Get(1, p.Get(1, step)), len(beside)), strict=True) if beside else ()
    kept = substituted(across.finish, {**dict(given), across.result: total})
    return p.ScanSeq(p.Tup((states, kept)), init, row)
