"""Elements that are short arrays, plane by plane: where all that reads them takes their numbers apart.

    s[0, 1] = [a, b, c];  [ s[0, 1][2] for 2, for 0, for 1 ]
    ->  s[0, 1] = [a, b, c] as planes;  s

Neighbouring work-items then write side by side, each number into a plane of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.scan_layout import with_views
from egglift.egraph.stages.short_arrays import in_planes, is_short_array
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, subterms


def by_planes(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages whose elements are written plane by plane where nothing reads them in another way, and what yields the
    result then."""
    found = list(stages)
    for at, stage in enumerate(stages):
        if stage.is_apart or stage.reductions or not is_short_array(type_of(stage.body)):
            continue
        array, laid = p.Input(stage.name, stage.type), replace(found[at], planes=True)
        new = {in_planes(array, stage): p.Input(laid.name, laid.type)}
        others = [with_views(s, lambda view: exchanged(view, new)) for s in found if s.name != stage.name]  # noqa: B023
        moved = exchanged(result, new)
        views = [moved, *(r.view for s in others for b in s.bodies for r in reads_of(s.names, b))]
        if not any(array in subterms(view) for view in views):
            found, result = [*others[:at], laid, *others[at:]], moved
    return found, result
