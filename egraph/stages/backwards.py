"""Views with an axis from its last element to the first, in the fewest words.

map (\\row. backwards (pad 1 0 (take (n-1) (backwards row)))) A  ->  map (\\row. pad 0 1 (drop 1 row)) A
"""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.stage import Dim, Read, Stage
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, length_of
from egglift.ir.backwards import backwards, is_backwards
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms, with_argument


def turned(depth: int, x: Expr) -> Expr:
    """A view of numbers of elements with the axis so many axes down from its last element to the first."""
    match x:
        case p.Transpose(y):
            return p.Transpose(turned({0: 1, 1: 0}.get(depth, depth), y))
        case p.Map(body, p.Map(inner, y, None), None):
            return turned(depth, p.Map(with_argument(body, inner), y))
        case p.Map(body, y, None) if depth:
            inside = turned(depth - 1, body)
            return y if isinstance(inside, p.Arg) else p.Map(inside, y)
        case p.Map(_, y, None):
            return replace(x, x=turned(0, y))
        case p.Pad(left, right, mode, y, value) if depth == 0:
            return p.Pad(right, left, mode, turned(0, y), value)
        case p.Take(n, y) if depth == 0:
            return p.Drop(_without(n, y), turned(0, y))
        case p.Drop(n, y) if depth == 0:
            return p.Take(_without(n, y), turned(0, y))
    return at_depth(depth, x, backwards)


def _without(n: object, x: Expr) -> int:
    length = length_of(x)
    assert isinstance(length, int) and isinstance(n, int)
    return length - n


def turned_read(read: Read, dim: Dim) -> Read:
    """What is read, with the axes at a dimension from their last element to the first."""
    view = read.view
    for depth in (i for i, d in enumerate(read.dims) if d == dim):
        view = turned(depth, view)
    return Read(view, read.dims)


def from_the_end(stage: Stage) -> Stage:
    """A scan of what is turned, as a scan from the end: of what is turned less often.

    s[0] = add up to 0 of (backwards x)[0]  ->  s[0] = add down to 0 of x[0], for backwards s
    """
    names, scan, last = stage.names, stage.scan, stage.dims[-1]
    reads = [r for r in reads_of(names, stage.body) if last in r.dims]
    if scan is None or sum(_turns(turned_read(r, last)) for r in reads) >= sum(map(_turns, reads)):
        return stage
    body = names.with_reads(stage.body, lambda r: turned_read(r, last))
    return replace(stage, body=body, scan=replace(scan, backwards=True))


def in_order_of_scan(stage: Stage) -> Expr:
    """The array of a stage in the order in which it is scanned."""
    array = p.Input(stage.name, stage.type)
    return turned(len(stage.dims) - 1, array) if stage.scan is not None and stage.scan.backwards else array


def _turns(read: Read) -> int:
    return sum(map(is_backwards, subterms(read.view)))
