"""Scans as stages: what follows one is computed where its values are, and a long one goes in chunks.

    s[0] = (add up to 0 of x[0]);  [ s[0] * y[0] ]   ->   [ (add up to 0 of x[0]) * y[0] ]

    s[0] = (add up to 0 from z of x[0])   ->
    totals[0] = add for 1 < c of x[0 * c + 1];  carries[0] = (add up to 0 from z of e, totals[0], totals[1], ...);
    s[0, 1] = (add up to 1 from carries[0] of x[0 * c + 1]);  take n (join s)

Chunks come before all other dimensions: neighbours go through the same chunk of neighbouring rows.

source: [Blelloch1990] section 1.2; the operator is associative and has a neutral element e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Read, Reduction, Scanned, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.operators import recognise
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, subterms
from egglift.ir.types import leaves


@dataclass(frozen=True)
class Chunks:
    """A scan as three stages: of the chunks' totals, of what is carried into each chunk, and of all chunks."""

    totals: Stage
    carries: Stage
    chunks: Stage


def is_exact(scan: Scanned) -> bool:
    """Is the order in which elements are combined no matter of rounding?"""
    ordered = recognise(scan.op.body) in ("maximum", "minimum")
    return ordered or not any(scalar.is_float for _, scalar in leaves(scan.type))


def in_chunks(stage: Stage, length: int) -> Chunks | None:
    """A scan in chunks of so many elements; None if what it reads cannot be cut so.

    The last chunk is filled up with its last element: nothing follows it.
    """
    names, scan, (*outer, last) = stage.names, stage.scan, stage.dims
    if scan is None or scan.op.neutral is None:
        return None
    which, inside = names.dim(-(-number(last) // length)), names.dim(length)

    def cut(read: Read) -> Read:
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
    own = replace(scan, init=_element(stage, carries), after=after, axis=None)
    return Chunks(totals, carries, replace(stage, dims=(which, *outer, inside), body=body, scan=own))


def of_chunks(stage: Stage, chunks: Chunks, array: Expr) -> Expr:
    """The array of all chunks as that of the stage."""
    which, *outer, inside = chunks.chunks.dims
    at = stage.array_dims.index(stage.dims[-1])
    order = (*outer[:at], which, inside, *outer[at:])
    cut = permuted(array, (which, *outer, inside), order)
    return at_depth(at, cut, lambda x: p.Take(number(stage.dims[-1]), p.Join(x)))


def _carries(stage: Stage, scan: Scanned, totals: Stage) -> Stage:
    """The scan of the totals, each without its own."""
    axis = None if scan.axis is None else 0
    which, neutral = totals.dims[-1 if axis is None else 0], scan.op.neutral
    dims = (*(d for d in totals.dims if d != which), which)
    rows = Read(permuted(p.Input(totals.name, totals.type), totals.dims, dims), dims)
    earlier = rows.along(which, lambda x: p.Pad(1, 0, "constant", p.Take(number(which) - 1, x), neutral), (which,))
    scanned = replace(scan, after=None, axis=axis)
    return Stage(f"{stage.name}.carries", dims, _read(stage, earlier), stage.names, scan=scanned)


def _element(stage: Stage, of: Stage) -> Expr:
    return _read(stage, Read(p.Input(of.name, of.type), of.array_dims))


def _read(stage: Stage, read: Read) -> Expr:
    """What is read: a scalar, or a tuple of scalars."""
    return stage.names.read(read)


# ---------------------------------------------------------------------------------------- what follows


def with_followers(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages in which what reads a scan at its own place, and nothing else does, is computed in the scan; and what
    yields the result then."""
    found = list(stages)
    for scan in [s for s in found if s.scan is not None]:
        readers = [s for s in found if _reads(s, scan)]
        wanted = {t.name for t in subterms(result) if isinstance(t, p.Input)}
        if len(readers) != 1 or scan.name in wanted or any(_reads(s, readers[0]) for s in found):
            continue
        if (fused := _followed(scan, readers[0])) is not None:
            whole, order = fused
            found = [whole if s is readers[0] else s for s in found if s is not scan]
            array = permuted(p.Input(whole.name, whole.type), order, readers[0].dims)
            result = exchanged(result, {p.Input(readers[0].name, readers[0].type): array})
    return found, result


def _reads(stage: Stage, other: Stage) -> bool:
    return any(t == p.Input(other.name, other.type) for r in _all_reads(stage) for t in subterms(r.view))


def _all_reads(stage: Stage) -> list[Read]:
    return [r for body in stage.bodies for r in reads_of(stage.names, body)]


def _followed(stage: Stage, reader: Stage) -> tuple[Stage, tuple[Dim, ...]] | None:
    """A scan with what its reader does, and its dimensions, in the reader's words; None if it reads other places."""
    names, scan = stage.names, stage.scan
    assert scan is not None
    if reader.is_apart or reader.reductions or len(reader.dims) != len(stage.dims):
        return None
    array, new = p.Input(stage.name, stage.type), dict[Expr, Expr]()
    orders: set[tuple[Dim, ...]] = set()
    for x, what in names.of(reader.body):
        assert isinstance(what, Read)
        if array in subterms(what.view):
            own = _own_place(what, array)
            if own is None:
                return None
            dims, path = own
            orders.add(dims)
            new[x] = _component(scan.result, path)
    if len(orders) != 1 or {*(order := orders.pop())} != {*reader.dims}:
        return None
    renamed = dict(zip(order, stage.dims, strict=True))
    after = names.with_reads(
        substituted(reader.body, new), lambda r: Read(r.view, tuple(renamed.get(d, d) for d in r.dims))
    )
    kept = None if after == scan.result else after
    return replace(stage, name=reader.name, scan=replace(scan, after=kept)), order


def _own_place(read: Read, array: p.Input) -> tuple[tuple[Dim, ...], tuple[int, ...]] | None:
    """At which dimensions the array itself is read, and which component of its element; None if it is laid out."""
    read = plain_read(read)
    view, dims, path = read.view, read.dims, list[int]()
    while view != array:
        match view:
            case p.Map(body, x, None) if (own := _components(body)) is not None:
                view, path = x, [*path, *own]
            case _:
                return None
    return dims, tuple(reversed(path))


def _components(body: Expr) -> tuple[int, ...] | None:
    """The components that a body takes of the elements of its argument, the last one first."""
    match body:
        case p.Arg():
            return ()
        case p.Get(i, x) if (inner := _components(x)) is not None:
            return (i, *inner)
        case p.Map(inside, p.Arg(), None):
            return _components(inside)
    return None


def _component(x: Expr, path: Sequence[int]) -> Expr:
    for i in path:
        x = p.Get(i, x)
    return x
