"""The last value of a scan is a reduction of what is scanned: where it is read beside others, it is one.

    s[0,1] = add up to 1 of A[0,1];  [ max_1 s[0,1] + s[0,9] ]
      ->  t[0] = sum_1 A[0,1];  s[0,1] = add up to 1 of A[0,1];  [ max_1 s[0,1] + t[0] ]

What is left of the scan's readers may then be computed in the scan, and its array is written no more.
source: scan and reduce by the same operator agree on the last element, [Blelloch1990]
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.egraph.stages.as_pattern import views_of
from egglift.egraph.stages.scan_layout import with_arrays
from egglift.egraph.stages.stage import Reduction, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, subterms
from egglift.ir.types import leaves


def with_last_as_reductions(stages: Sequence[Stage], result: Expr, reassociate: bool) -> tuple[list[Stage], Expr]:
    """Stages, and what yields the result, that read the last values of scans as reductions, where scans are read
    otherwise, too."""
    found = list[Stage]()
    new: dict[Expr, Expr] = {}
    for s in stages:
        found.append(with_arrays(s, new))
        last = _last(found[-1], reassociate)
        if last is not None and _is_read_both_ways(s, stages, result):
            array, t = p.Input(s.name, s.type), p.Input(last.name, last.type)
            new[_read_last(array, s)] = t
            found.append(last)
    return found, exchanged(result, new) if new else result


def _last(s: Stage, reassociate: bool) -> Stage | None:
    """The reduction that yields the last values of a scan; None where it may not take its place."""
    scan = s.scan
    if scan is None or scan.after is not None or scan.backwards or not s.names.is_closed(scan.init):
        return None
    if not reassociate and any(scalar.is_float for _, scalar in leaves(scan.type)):
        return None
    *outer, along = s.dims
    whole = s.names.reduced(Reduction(scan.op.body, scan.init, (along,), s.body, scan.op))
    return Stage(f"{s.name}.last", tuple(outer), whole, s.names, s.given)


def _read_last(array: Expr, s: Stage) -> Expr:
    """The last values, over the outer dimensions of a scan."""
    n = number(s.dims[-1])
    return at_depth(len(s.dims) - 1, array, lambda e: p.At(n - 1, e))


def _is_read_both_ways(s: Stage, stages: Sequence[Stage], result: Expr) -> bool:
    """Is the last value read, and something else of the scan?"""
    array = p.Input(s.name, s.type)
    last = _read_last(array, s)
    views = [view for x in stages for body in x.bodies for view in views_of(x.names, body)]
    views = [view for view in (*views, result) if array in subterms(view)]
    without = {last: p.Input("%last", s.type)}
    others = [view for view in views if array in subterms(exchanged(view, without))]
    return bool(others) and any(last in subterms(view) for view in views)
