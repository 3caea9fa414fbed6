"""Scans of some short dimensions side by side, of which a reader reduces all at each place: it is computed with them.

s[0, 1, 2] = (add up to 2 of x[0, 1, 2]);  [ add for 1 < 16 of s[0, 1, 2] * c[2, 1] ] for 0, for 2
->  [ add for 1 < 16 of (add up to 2 of x[0, 1, 2]) * c[2, 1] ] for 0, for 2

The states of a state space model, say: no array holds all of them for all times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.stage import Across, Dim, Read, Reduction, Stage, number, substituted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Input
from egglift.ir.types import Scalar

STATES = 32  # scans that a work-item goes on with at the same time, in its registers


def reduced_across(
    stage: Stage, reader: Stage, x: Input, r: Reduction, after: Expr, order: tuple[Dim, ...]
) -> Stage | None:
    """A scan with what its reader makes of several of them at each place; None where that reads anything else of them.

    x: what stands for the reduction `r` in the reader's body; after: its element, in the scan's words; order: the
    scan's dimensions in the reader's.
    """
    rest = tuple(d for d in order if d not in r.dims)
    others = [what for y, what in reader.names.of(reader.body) if y != x]
    plain = all(isinstance(what, Read) and {*what.dims} <= {*rest} for what in others)
    short = prod(map(number, r.dims)) <= STATES and order[-1] in rest and {*r.dims} < {*order}
    if not (plain and short and {*rest} == {*reader.dims}) or r.op is None or r.init != r.op.neutral:
        return None
    if stage.scan is None or reads_of(stage.names, stage.scan.init):
        return None
    if not all(isinstance(type_of(e), Scalar) for e in (after, r.init)):
        return None
    own: Mapping[Dim, Dim] = dict(zip(order, stage.dims, strict=True))
    across = Across(tuple(own[d] for d in r.dims), r.op, r.init)
    body = substituted(reader.body, {x: across.result})
    across = replace(across, finish=stage.names.with_reads(body, lambda read: read.at(own)))
    return replace(stage, name=reader.name, scan=replace(stage.scan, after=after, across=across))
