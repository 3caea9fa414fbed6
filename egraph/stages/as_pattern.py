"""Stages as patterns again: what a stage means, and what the laws on patterns make something else of.

[ sum_2 A[0, 2] * B[1, 2] ]  ->  map (\\a. map (\\<a, b>. reduce (+) 0 (map (*) (zip a b))) (distl a B)) A
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.egraph.stages.loops import Body, Tensor, nest
from egglift.egraph.stages.short_arrays import laid_out
from egglift.egraph.stages.stage import Across, Counted, Dim, Names, Read, Reduction, Scanned, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Array, Scalar, Tuple, Type


def as_pattern(stage: Stage) -> Expr:
    """The program of a stage, over the inputs that it reads.  Kept with the stage."""
    memo = stage.__dict__
    if "_pattern" not in memo:
        memo["_pattern"] = _pattern(stage)
    found: Expr = memo["_pattern"]
    return found


def _pattern(stage: Stage) -> Expr:
    if stage.scan is not None and stage.scan.across is not None:
        return permuted(_across(stage, stage.scan, stage.scan.across), _plain(stage), stage.array_dims)
    if stage.scan is not None:
        found = _scanned(stage, stage.scan)
        return found if stage.scan.combined else laid_out(permuted(found, stage.dims, stage.array_dims), stage)
    if stage.counts is not None:
        return _counted(stage, stage.counts)
    return laid_out(computed(stage.names, stage.dims, stage.body), stage)


def _counted(stage: Stage, counts: Counted) -> Expr:
    """Counts, or sums by their numbers, of the elements along the last dimension for each index of the others."""
    names, (*outer, last) = stage.names, stage.dims
    reads = reads_of(names, stage.body)
    tensors = [_outside(Tensor(*ordered(r, stage.dims)), outer) for r in reads]

    def row(elements: list[Tensor]) -> Expr:
        def element(inner: list[Tensor]) -> Expr:
            return _body(names, stage.body, dict(zip(reads, inner, strict=True)))

        pattern = p.Count if isinstance(type_of(stage.body), Scalar) else p.Sums
        return pattern(counts.length, counts.type, _nest([last], elements, element))

    return _nest(outer, tensors, row)


def _scanned(stage: Stage, scan: Scanned) -> Expr:
    """A scan along the last dimension for each index of the others, and what is kept of it, or that reduced."""
    names, (*outer, last) = stage.names, stage.dims
    after = scan.result if scan.after is None else scan.after
    parts = [reads_of(names, body) for body in (scan.init, stage.body, after)]
    reads = list(dict.fromkeys(r for part in parts for r in part))
    tensors = [_outside(Tensor(*ordered(r, stage.dims)), outer) for r in reads]

    def row(elements: list[Tensor]) -> Expr:
        at = dict(zip(reads, elements, strict=True))

        def along(body: Expr, own: list[Read], scanned: list[Tensor]) -> Expr:
            def element(inner: list[Tensor]) -> Expr:
                found = _body(names, body, dict(zip(own, inner, strict=False)))
                return substituted(found, {scan.result: inner[-1].x}) if scanned else found

            return _nest([last], [*(at[r] for r in own), *scanned], element)

        scanned = along(stage.body, parts[1], [])
        scanned = backwards(scanned) if scan.backwards else scanned
        init = _body(names, scan.init, at)
        in_order = p.ScanSeq(p.Tup((scan.op.body, scan.op.body)), init, scanned)
        whole: Expr = p.Scan(scan.op, init, scanned) if scan.op.associative else in_order
        whole = backwards(whole) if scan.backwards else whole
        kept = whole if scan.after is None else along(after, parts[2], [Tensor(whole, (last,))])
        return p.Reduce(scan.combined.op, scan.combined.init, kept) if scan.combined else kept

    return _nest(outer, tensors, row)


def _plain(stage: Stage) -> tuple[Dim, ...]:
    """The dimensions of its array, the last one last."""
    return tuple(d for d in stage.dims if d in stage.array_dims)


def _across(stage: Stage, scan: Scanned, across: Across) -> Expr:
    """What is made of several scans at each index of the last dimension, which is last."""
    names, dims = stage.names, _plain(stage)
    array = permuted(_scanned(stage, scan), stage.dims, (*dims, *across.dims))
    array = at_depth(len(dims), array, lambda x: p.Reduce(across.op, across.init, merged(x, 0, len(across.dims))))
    reads = reads_of(names, across.finish)
    tensors = [Tensor(*ordered(r, dims)) for r in reads]

    def inside(elements: list[Tensor]) -> Expr:
        found = _body(names, across.finish, dict(zip(reads, elements, strict=False)))
        return substituted(found, {across.result: elements[-1].x})

    return _nest(dims, [*tensors, Tensor(array, dims)], inside)


def computed(names: Names, dims: Sequence[Dim], body: Expr) -> Expr:
    """The array of `body` for all `dims`, computed where it is read."""
    reads = reads_of(names, body)
    tensors = [Tensor(*ordered(r, dims)) for r in reads]

    def inside(elements: list[Tensor]) -> Expr:
        return _body(names, body, dict(zip(reads, elements, strict=True)))

    return _nest(dims, tensors, inside)


def _nest(dims: Sequence[Dim], tensors: list[Tensor], inside: Body) -> Expr:
    """Maps over `dims`; of one that nothing depends on, an array of one value again and again."""
    if not dims:
        return inside(tensors)
    d = dims[0]
    if any(t.axes[:1] == (d,) for t in tensors):
        return nest([(d, None)], tensors, lambda inner: _nest(dims[1:], inner, inside))
    assert not any(d in t.axes for t in tensors), f"the loop over {d} is not where a tensor has its axis"
    return p.Fill(d.extent, _nest(dims[1:], tensors, inside))


def _body(names: Names, body: Expr, at: dict[Read, Tensor]) -> Expr:
    """A body whose reads are bound: each read is a tensor, of which the reductions' axes are left."""
    new: dict[Expr, Expr] = {}
    for x, what in names.of(body):
        match what:
            case Read():
                new[x] = at[what].x
            case Reduction():
                new[x] = _reduction(names, what, at)
    return substituted(body, new)


def _reduction(names: Names, r: Reduction, at: dict[Read, Tensor]) -> Expr:
    reads = reads_of(names, r.element)
    tensors = [_outside(at[x], r.dims) for x in reads]
    array = _nest(r.dims, tensors, lambda inner: _body(names, r.element, dict(zip(reads, inner, strict=True))))
    for _ in r.dims[1:]:
        array = p.Join(array)
    init = _body(names, r.init, at)
    if r.op is not None and r.step == r.op.body:
        return p.Reduce(r.op, init, array)
    return p.Fold(r.step, init, array)  # in order


def _outside(t: Tensor, dims: Sequence[Dim]) -> Tensor:
    """A tensor with the axes of `dims` first, in their order."""
    order = (*(d for d in dims if d in t.axes), *(a for a in t.axes if a not in dims))
    return Tensor(permuted(t.x, t.axes, order), order)


def reads_of(names: Names, body: Expr) -> list[Read]:
    """All that a body reads, also in its reductions, each once."""
    found: dict[Read, None] = {}
    for _, what in names.of(body):
        match what:
            case Read():
                found[what] = None
            case Reduction():
                found.update(dict.fromkeys((*reads_of(names, what.init), *reads_of(names, what.element))))
    return list(found)


def views_of(names: Names, body: Expr) -> list[Expr]:
    """All that a body reads arrays in, also in its reductions: views, and bodies, in which numbers are read.

    a[0] + (at 3 b)   ->   a, and the body, of which `at 3 b` is a part
    """
    numbers = [body, *(e for r in names.within(body) for e in (r.init, r.element))]
    return [*(r.view for r in reads_of(names, body)), *numbers]


def ordered(read: Read, dims: Sequence[Dim]) -> tuple[Expr, tuple[Dim, ...]]:
    """What is read with its axes in the order of `dims`, those that these do not name behind them."""
    t = _outside(Tensor(read.view, read.dims), dims)
    return t.x, tuple(d for d in t.axes if isinstance(d, Dim))


def in_pairs(stage: Stage) -> bool:
    """Are all tuples that a stage reads or yields pairs?  The e-graph has no others: it would change the type."""
    types = [t.type for t in subterms(as_pattern(stage)) if isinstance(t, p.Input)]
    return all(_is_pair(t) for t in (*types, stage.type))


def _is_pair(t: Type) -> bool:
    match t:
        case Array(_, element):
            return _is_pair(element)
        case Tuple(items):
            return len(items) == 2 and all(_is_pair(i) for i in items)
        case _:
            return True
