"""Elements that are short arrays, in planes: where all that reads them takes their numbers apart.

    s[0, 1] = [a, b, c];  [ s[0, 1][2] for 2, for 0, for 1 ]
    ->  s[0, 1] = [a, b, c] as planes before 0;  s

Neighbouring work-items then write side by side, each number into a plane of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from egglift.egraph.stages.as_pattern import views_of
from egglift.egraph.stages.scan_layout import with_arrays
from egglift.egraph.stages.short_arrays import in_planes, is_short_array
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, subterms


def by_planes(stages: Sequence[Stage], result: Expr) -> tuple[list[Stage], Expr]:
    """Stages whose elements' numbers lie before a dimension where everything that reads them takes them so, and what
    yields the result then."""
    found = list(stages)
    for at, stage in enumerate(stages):
        if stage.counts is not None or stage.reductions or not is_short_array(stage.element):
            continue
        for before in range(len(stage.array_dims)):
            if laid := _laid(found, at, result, before):
                found, result = laid
                break
    return found, result


def _laid(stages: Sequence[Stage], at: int, result: Expr, before: int) -> tuple[list[Stage], Expr] | None:
    """The stages, of which that at a place has its elements' numbers before a dimension, and what yields the result;
    None where something reads it in another way."""
    stage = stages[at]
    array, laid = p.Input(stage.name, stage.type), replace(stage, planes=before)
    new = {in_planes(array, stage, before): p.Input(laid.name, laid.type)}
    found = [laid if s is stage else with_arrays(s, new) for s in stages]
    moved = exchanged(result, new)
    views = [moved, *(v for s in found if s is not laid for b in s.bodies for v in views_of(s.names, b))]
    return None if any(array in subterms(view) for view in views) else (found, moved)
