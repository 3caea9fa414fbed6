"""Long scans as stages of chunks.

    s[0] = (add up to 0 from z of x[0])   ->
    totals[0] = add for 1 < c of x[0 * c + 1];  carries[0] = (add up to 0 from z of e, totals[0], totals[1], ...);
    s[0, 1] = (add up to 1 from carries[0] of x[0 * c + 1]);  take n (join s)

Chunks come before all other dimensions: neighbours go through the same chunk of neighbouring rows.

source: [Blelloch1990] section 1.2; the operator is associative and has a neutral element e.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.backwards import turned_read
from egglift.egraph.stages.short_arrays import laid_out
from egglift.egraph.stages.stage import Combined, Read, Reduction, Scanned, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.backwards import backwards
from egglift.ir.check import type_of
from egglift.ir.operators import recognise
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed, subterms
from egglift.ir.types import BOOL, Tuple, leaves


@dataclass(frozen=True)
class Chunks:
    """A scan as stages: of the chunks' totals, of what is carried into each chunk, of all chunks, and, where what is
    kept of them is reduced, of all their parts."""

    totals: Stage
    carries: Stage
    chunks: Stage
    whole: Stage | None = None


def is_exact(scan: Scanned) -> bool:
    """Is the order in which elements are combined no matter of rounding?"""
    ordered = recognise(scan.op.body) in ("maximum", "minimum")
    return ordered or not any(scalar.is_float for _, scalar in leaves(scan.type))


def can_link(scan: Scanned) -> bool:
    """Can groups tell each other what is carried: is it of 4 and 8 bytes, and the first of it known?"""
    closed = is_closed(scan.init) and not any(isinstance(t, p.Input) for t in subterms(scan.init))
    return closed and all(scalar.size in (4, 8) for _, scalar in leaves(scan.type))


def in_chunks(stage: Stage, length: int) -> Chunks | None:
    """A scan in chunks of so many elements; None if what it reads cannot be cut so.

    The last chunk is filled up with its last element: nothing follows it, and nothing of it is reduced.
    """
    names, scan, (*outer, last) = stage.names, stage.scan, stage.dims
    if scan is None or scan.op.neutral is None or scan.across is not None:
        return None
    which, inside = names.dim(-(-number(last) // length)), names.dim(length)

    def cut(read: Read) -> Read:
        read = turned_read(read, last) if scan.backwards else read
        return read.along(last, lambda x: p.Split(length, p.PadUp(length, x)), (which, inside))

    bodies = [b for b in (stage.body, scan.after) if b is not None]
    if any(r.dims.count(last) > 1 for b in bodies for r in reads_of(names, b)):
        return None
    body = names.with_reads(stage.body, cut)
    total = names.reduced(Reduction(scan.op.body, scan.op.neutral, (inside,), body, scan.op))
    order = (*outer, which) if scan.axis is None else (which, *outer)
    totals = Stage(f"{stage.name}.totals", order, total, names)
    carries = _carries(stage, scan, totals)
    after = None if scan.after is None else names.with_reads(scan.after, cut)
    if scan.combined is not None and number(last) % length:
        mask = p.PadUp(length, p.Fill(number(last), p.Literal(True, BOOL)), p.Literal(False, BOOL))
        is_there = _read(stage, Read(p.Split(length, mask), (which, inside)))
        after = _chosen(is_there, scan.result if after is None else after, scan.combined.init)
    own = replace(scan, init=_element(stage, carries), after=after, axis=None, backwards=False)
    chunks = replace(stage, dims=(which, *outer, inside), body=body, scan=own, planes=None)
    if scan.combined is None:
        return Chunks(totals, carries, chunks)
    return Chunks(totals, carries, *_combined(stage, chunks, scan.combined))


def _combined(stage: Stage, chunks: Stage, combined: Combined) -> tuple[Stage, Stage]:
    """Chunks that are reduced to a part each, and the stage that reduces the parts."""
    which, *outer, _ = chunks.dims
    parts = replace(chunks, name=f"{stage.name}.chunks")
    part = _read(stage, Read(p.Input(parts.name, parts.type), parts.array_dims))
    op = combined.op
    body = stage.names.reduced(Reduction(op.body, combined.init, (which,), part, op))
    return parts, Stage(stage.name, tuple(outer), body, stage.names)


def _chosen(mask: Expr, yes: Expr, no: Expr) -> Expr:
    """`where mask yes no`, also of tuples."""
    t = type_of(yes)
    if not isinstance(t, Tuple):
        return p.Apply("where", (mask, yes, no))
    return p.Tup(tuple(_chosen(mask, _item(yes, i), _item(no, i)) for i in range(len(t.items))))


def of_chunks(stage: Stage, chunks: Chunks, array: Expr) -> Expr:
    """The array of all chunks as that of the stage: of parts, where they are reduced, as it is."""
    if chunks.whole is not None:
        return array
    which, *outer, inside = chunks.chunks.dims
    at = stage.array_dims.index(stage.dims[-1])
    order = (*outer[:at], which, inside, *outer[at:])
    cut = permuted(array, (which, *outer, inside), order)
    whole = at_depth(at, cut, lambda x: p.Take(number(stage.dims[-1]), p.Join(x)))
    whole = at_depth(at, whole, backwards) if stage.scan is not None and stage.scan.backwards else whole
    return laid_out(whole, stage)


def _carries(stage: Stage, scan: Scanned, totals: Stage) -> Stage:
    """The scan of the totals, each without its own."""
    axis = None if scan.axis is None else 0
    which, neutral = totals.dims[-1 if axis is None else 0], scan.op.neutral
    dims = (*(d for d in totals.dims if d != which), which)
    rows = Read(permuted(p.Input(totals.name, totals.type), totals.dims, dims), dims)
    earlier = rows.along(which, lambda x: p.Pad(1, 0, "constant", p.Take(number(which) - 1, x), neutral), (which,))
    scanned = replace(scan, after=None, axis=axis, combined=None, backwards=False)
    return Stage(f"{stage.name}.carries", dims, _read(stage, earlier), stage.names, scan=scanned)


def _element(stage: Stage, of: Stage) -> Expr:
    return _read(stage, Read(p.Input(of.name, of.type), of.array_dims))


def _read(stage: Stage, read: Read) -> Expr:
    """What is read: a scalar, or a tuple of scalars."""
    return stage.names.read(read)


def _item(x: Expr, i: int) -> Expr:
    return x.items[i] if isinstance(x, p.Tup) else p.Get(i, x)
