"""The ways in which a program may be cut into stages that are worth a search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from egglift.egraph.schedules.steps import Steps
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import Partitioning, Stages, stages_of
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.patterns import Expr

AGAIN = 256  # indices of other dimensions for which a GPU may compute what is costly, without writing it


def partitions(program: Expr, kind: str, reassociate: bool) -> Iterator[tuple[Stages, Steps]]:
    """The stages of a program, and how these are made; also those that store what is costly, where these are others.

    A GPU computes again what it would have to wait for, unless that is for many tiles.  kind: "gpu" or "cpu".
    """
    known = set()
    stored = Partitioning(kind == "cpu", AGAIN)
    rows = (Partitioning(rows=True), Partitioning(totals=True)) if kind == "gpu" else ()
    ways = [Partitioning(), stored, Partitioning(whole=False), replace(stored, producers=True), *rows]
    for by in ways:
        try:
            whole = stages_of(program, reassociate, by)
        except NoStages:
            continue
        texts = tuple(map(text_of, whole.stages))
        if texts not in known:
            known.add(texts)
            yield whole, Steps(by, ())
        if by == ways[0] and any(s.scan is not None and s.scan.across is not None for s in whole.stages):
            ways.append(Partitioning(states=False))
