"""Which nesting of levels OpenCL can execute: decided before anything is emitted, in the user's words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from egglift.codegen.kernel.views import length
from egglift.codegen.terms.analysis import level_kinds
from egglift.codegen.terms.level_names import level_name
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr, Level
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children

WIDEST = 128
#: per kind of level: the kinds that may be around it, closest first counted ("" is the kernel itself)
AROUND = {
    "global": ("", "global"),
    "workgroup": ("", "workgroup"),
    "local": ("", "workgroup", "local"),
    "warp": ("", "workgroup"),
    "lane": ("warp",),
}
#: what a level may be that is not executed in order; "group" is local memory
EXECUTORS = (*AROUND, "vec", "device", "group")


@dataclass(frozen=True)
class Position:
    """Where a term stands: the closest parallel level around it, the dimensions in use, whether a loop carries it."""

    around: str = ""
    used: frozenset[Level] = frozenset()
    carried: Expr | None = None
    vector: bool = False


def check(term: Expr) -> None:
    """CodegenError if the maps of a kernel nest in a way that no work-item, group or grid can execute."""
    seen: set[tuple[Expr, Position]] = set()
    stack = [(term, Position())]
    while stack:
        t, context = stack.pop()
        if level_kinds(t).isdisjoint(EXECUTORS) or (t, context) in seen:
            continue
        seen.add((t, context))
        inner = context
        match t:
            case p.Map(_, _, level) if level is not None:
                inner = _level(t, level, context)
            case p.ScanLinked():
                inner = _linked(t, context)
            case p.Fold() | p.Tree() | p.ScanSeq() | p.ScanDoubling() | p.Count() | p.Iterate():
                inner = replace(context, carried=t)
            case p.To("local", _) if context.around in ("global", "local", "lane"):
                raise CodegenError(
                    f"{brief(t)}: toLocal is filled by a whole work-group, but stands below map"
                    f"{context.around.capitalize()}, where each work-item goes its own way; use toPrivate"
                )
        stack.extend((c, context) for c in children(t))
        stack.extend((b, inner) for b in bodies(t))


def _linked(t: p.ScanLinked, context: Position) -> Position:
    """The context of the body of a scan by groups."""
    if context != Position():
        raise CodegenError(f"{brief(t)}: scanLinked shares out work among all groups; it may stand below no map")
    return Position("workgroup", frozenset({Level("workgroup", 0)}))


def _level(t: p.Map, level: Level, context: Position) -> Position:
    """The context of a map's body."""
    n, kind = length(type_of(t.x)), level.kind
    if kind == "vec":
        if n > 1 and (n > WIDEST or n & (n - 1)):
            raise CodegenError(f"{brief(t)}: mapVec over {n} elements; vectors have 2, 4, 8, ... {WIDEST}")
        return replace(context, vector=True)
    if kind == "device":
        raise CodegenError(f"{brief(t)}: mapDevice is no part of a kernel; optimize(..., devices=...) shares it out")
    if kind not in AROUND:
        return context
    if context.vector:
        raise CodegenError(f"{brief(t)}: {level_name(level)} inside mapVec; the lanes of a vector are one work-item")
    if context.around not in AROUND[kind]:
        where = f"map{context.around.capitalize()}" if context.around else "no map"
        allowed = " or ".join(f"map{k.capitalize()}" if k else "the kernel itself" for k in AROUND[kind])
        raise CodegenError(f"{brief(t)}: {level_name(level)} stands below {where}; it may stand below {allowed}")
    if level in context.used:
        raise CodegenError(f"{brief(t)}: {level_name(level)} inside {level_name(level)}; use another dimension")
    if kind in ("global", "workgroup") and context.carried is not None:
        raise CodegenError(
            f"{brief(t)}: {level_name(level)} inside {brief(context.carried, 60)}: "
            "work-groups cannot wait for each other; use mapLocal or mapSeq"
        )
    return replace(context, around=kind, used=context.used | {level})
