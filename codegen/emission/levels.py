"""Who executes a map: ids of groups and work-items, loops, lanes of a vector."""

from __future__ import annotations

from egglift.codegen.emission import edge_tiles, lanes
from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.distribution import WARP
from egglift.codegen.kernel.imperative import Comment
from egglift.codegen.kernel.index import Index, index
from egglift.codegen.kernel.views import element, length
from egglift.codegen.terms import analysis
from egglift.codegen.terms.level_names import level_name
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Level


def emit_map(em: Translator, t: p.Map, level: Level, target: Target, scope: Scope) -> None:
    """Execute a map's body for every element, by the executors of its level."""
    xs, n, acc, d = em.view(t.x, scope), length(type_of(t.x)), target.view, level.dim

    def one(i: Index) -> None:
        em.apply(t.body, element(xs, i), Target(element(acc, i), target.space))

    def body(i: Index) -> None:
        if level.kind in analysis.GRID:
            edge_tiles.tile(em, (i, n), analysis.shares_grid(t.body), lambda: one(i))
        else:
            one(i)

    if n == 0:
        return
    em.put(Comment(f"{level_name(level)} over {n}"))
    e, shape = em.distribution, em.shape
    match level.kind:
        case "global":
            team = shape.groups[d] * shape.local[d]
            with em.step(), em.running(groups=e.groups | {d}, locals=e.locals | {d}, inside=True):
                em.strided(em.global_id(d), team, n, body, inside=True)
        case "workgroup":
            with em.running(groups=e.groups | {d}):
                em.strided(em.group_id(d), shape.groups[d], n, body, inside=True)
        case "local":
            with em.step(), em.running(locals=e.locals | {d}, inside=True):
                em.strided(em.local_id(d), shape.local[d], n, body, inside=True)
        case "warp":
            with em.running(warp=True):
                em.strided(em.warp_id(), em.warps, n, body, inside=e.inside)
        case "lane":
            with em.step(), em.running(locals=e.locals | {0}, inside=True):
                em.strided(index(em.lane_id()), WARP, n, body, inside=True)
        case "vec" if n > 1 and e.lane is None:
            lanes.vector(em, n, body)
        case "seq" if target.space == "global" and e.inside:
            edge_tiles.loop(em, 0, n, body)
        case _:
            em.loop(n, body, unroll=level.kind != "seq")
