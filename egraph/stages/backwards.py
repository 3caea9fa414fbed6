"""Views with an axis from its last element to the first, in the fewest words.

map (\\row. backwards (pad 1 0 (take (n-1) (backwards row)))) A  ->  map (\\row. pad 0 1 (drop 1 row)) A
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import Axes, Below, below
from egglift.egraph.stages.scan_layout import with_views
from egglift.egraph.stages.scan_readers import parts_inside
from egglift.egraph.stages.stage import Dim, Read, Stage
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, element_type, length_of, permuted
from egglift.ir.backwards import backwards, is_backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import is_closed, replaced, subterms
from egglift.ir.types import dims


def turned(depth: int, x: Expr) -> Expr:
    """A view of numbers of elements with the axis so many axes down from its last element to the first."""
    match x:
        case p.Transpose(y):
            return p.Transpose(turned({0: 1, 1: 0}.get(depth, depth), y))
        case p.Map(body, y, None) if depth:
            return _of_rows(depth, turned(depth - 1, body), y)
        case p.Map(_, y, None):
            return replace(x, x=turned(0, y))
        case p.Pad(left, right, mode, y, value) if depth == 0:
            return p.Pad(right, left, mode, turned(0, y), value)
        case p.Take(n, y) if depth == 0:
            return p.Drop(_without(n, y), turned(0, y))
        case p.Drop(n, y) if depth == 0:
            return p.Take(_without(n, y), turned(0, y))
    return at_depth(depth, x, backwards)


def _of_rows(depth: int, body: Expr, y: Expr) -> Expr:
    """`map body y`, where a body that turns all that it reads is one that does not, of what is turned."""
    arg = p.Arg(element_type(y))
    own = turned(depth - 1, arg)
    if is_closed(replaced(body, lambda e: p.Input("%turned", arg.type) if e == own else None)):
        body, y = replaced(body, lambda e: arg if e == own else None), turned(depth, y)
    return y if body == arg else p.Map(body, y)


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


def as_wanted(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Scans from the end that are only read in the order of scanning as scans of what is turned instead.

    s[0] = add down to 0 of x[0];  (backwards s)[0] * y[0]  ->  s[0] = add up to 0 of (backwards x)[0];  s[0] * y[0]
    """
    found = list(stages)
    for at, stage in enumerate(stages):
        if stage.scan is None or not stage.scan.backwards:
            continue
        uses = _Uses(p.Input(stage.name, stage.type), len(stage.dims) - 1)
        others = [with_views(s, uses.plain) for s in found if s.name != stage.name]
        wanted = uses.plain(result)
        if uses.turned and all(uses.turned):
            scan, last = replace(stage.scan, backwards=False), stage.dims[-1]
            body = stage.names.with_reads(found[at].body, lambda r: turned_read(r, last))  # noqa: B023
            found = [*others[:at], replace(found[at], body=body, scan=scan), *others[at:]]
            result = wanted
    return found, result


@dataclass
class _Uses:
    """How an array is read: `turned` says of each place whether its axis at `depth` is, and no other."""

    array: p.Input
    depth: int
    turned: list[bool] = field(default_factory=list)

    def plain(self, view: Expr) -> Expr:
        """A view of it that is not turned."""
        return replaced(parts_inside(view), self._plain) if self.array in subterms(view) else view

    def _plain(self, e: Expr) -> Expr | None:
        order = range(len(dims(type_of(e))))
        found, axes = below(e, [(i, False) for i in order], _through_turns)
        if found != self.array:
            return None
        numbers, signs = zip(*cast(list[tuple[int, bool]], axes), strict=True)
        self.turned.append([d for d, sign in enumerate(signs) if sign] == [self.depth])
        return permuted(self.array, numbers, order)


def _through_turns(e: Expr, axes: Axes) -> Below | None:
    if isinstance(e, p.Gather) and is_backwards(e):
        number, sign = cast(tuple[int, bool], axes[0])
        return e.x, ((number, not sign), *axes[1:])
    return None
