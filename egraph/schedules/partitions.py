"""The ways in which a program may be cut into stages that are worth a search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from egglift.egraph.schedules.steps import Steps
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.stage import Stage, number
from egglift.egraph.stages.stage_text import text_of
from egglift.egraph.stages.tables import may_have_tables
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms

ROWS = 1 << 12  # work-items that keep a GPU busy
AGAIN = 256  # indices of other dimensions for which a GPU may compute what is costly, without writing it


def partitions(program: Expr, kind: str, reassociate: bool, tf32: bool = False) -> Iterator[tuple[Stages, Steps]]:
    """The stages of a program, and how these are made; also those that store what is costly, where these are others.

    A GPU computes again what it would have to wait for, unless that is for many tiles.  kind: "gpu" or "cpu".
    tf32: may factors of products of f32 be rounded?
    """
    known = set()
    stored = Partitioning(kind == "cpu", AGAIN)
    rows = (Partitioning(rows=True), Partitioning(totals=True)) if kind == "gpu" else ()
    others = Partitioning(whole=False), replace(stored, producers=True)
    ways = [Partitioning(), stored, *others, *rows, Partitioning(few=True)]
    ways += [Partitioning(down=True)] if sum(isinstance(t, p.Slide) for t in subterms(program)) > 1 else []
    ways += [Partitioning(unlike=True)] if isinstance(program, p.Tup) else []
    ways += [Partitioning(tables=True)] if may_have_tables(program) else []
    ways += [replace(stored, rounded=True)] if tf32 and reassociate and kind == "gpu" else []
    for by in ways:
        try:
            whole = stages_of(program, reassociate, by)
        except NoStages:
            continue
        texts = tuple(map(text_of, whole.stages))
        if texts not in known:
            known.add(texts)
            yield whole, Steps(by, ())
        if by == ways[0] and any(map(_has_few_rows, whole.stages)):
            ways.append(Partitioning(states=False))
        if by == ways[0] and sum(s.scan is not None for s in whole.stages) > 1:
            ways.append(Partitioning(chained=True))
        if by == ways[0] and any(_has_differences(s) for s in whole.stages):
            ways.append(Partitioning(centred=True))
        if by == ways[0] and any(s.counts is not None for s in whole.stages):
            ways.append(Partitioning(numbered=False))


def _has_few_rows(stage: Stage) -> bool:
    """Does a work-item each for all scans side by side leave a GPU idle?"""
    across = None if stage.scan is None else stage.scan.across
    return across is not None and prod(number(d) for d in stage.dims[:-1] if d not in across.dims) < ROWS


def _has_differences(stage: Stage) -> bool:
    """Does it add up products of two differences, such as of distances from means, at several dimensions?"""
    products = (t for r in stage.reductions for t in subterms(r.element) if isinstance(t, p.Apply) and t.op == "mul")
    differences = (all(isinstance(a, p.Apply) and a.op == "sub" for a in t.args) for t in products)
    return len(stage.dims) > 1 and any(differences)
