"""What only goes on with what others reduce, element by element, is computed with them.

    u[0,1] = sum_2 X[0,2] * U[2,1];  v[0,1] = sum_2 X[0,2] * V[2,1];  t[0,1] = u[0,1] * v[0,1]
    ->  t[0,1] = (sum_2 X[0,2] * U[2,1]) * (sum_2 X[0,2] * V[2,1])

Neither is written then, where nobody else reads it, and their reductions share a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from egglift.egraph.stages.as_pattern import views_of
from egglift.egraph.stages.stage import Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import inputs_in


def gone_on_with(stages: Sequence[Stage], result: Expr) -> list[Stage]:
    """The stages, those that only go on with others in place of both."""
    found = {s.name: s for s in stages}
    for t in stages:
        before = _gone_on_with(t, found, result)
        if before:
            found[t.name] = replace(t, body=_together(t, before))
            for s in before.values():
                del found[s.name]
    return list(found.values())


def _gone_on_with(t: Stage, stages: Mapping[str, Stage], result: Expr) -> dict[Expr, Stage]:
    """The stages that a stage goes on with, by what stands for their elements in it: all reduce as many elements."""
    if t.is_apart or t.given or t.names.has_reductions(t.body):
        return {}
    found: dict[Expr, Stage] = {}
    for x, what in t.names.of(t.body):
        match what:
            case Read(p.Input(name), dims) if name in stages and {*dims} == {*t.dims} and len(dims) == len(t.dims):
                s = stages[name]
                if not s.is_apart and not s.given and s.reductions and _is_read_once(s, t, stages, result):
                    found[x] = s
    spaces = {tuple(map(number, r.dims)) for s in found.values() for r in s.reductions}
    return found if len(spaces) == 1 and all(len(s.phases) == 1 for s in found.values()) else {}


def _is_read_once(s: Stage, by: Stage, stages: Mapping[str, Stage], result: Expr) -> bool:
    """Is a stage read by that one alone, and there in one order of its dimensions?"""
    views = [(t, v) for t in stages.values() for body in t.bodies for v in views_of(t.names, body)]
    readers = [t.name for t, v in views if any(x.name == s.name for x in inputs_in(v))]
    return readers == [by.name] and all(x.name != s.name for x in inputs_in(result))


def _together(t: Stage, before: Mapping[Expr, Stage]) -> Expr:
    """The body of a stage with those of others in it, whose reductions run over the same dimensions."""
    names = t.names
    first = next(r for s in before.values() for r in s.reductions).dims
    new: dict[Expr, Expr] = {}
    for x, s in before.items():
        read = next(what for y, what in names.of(t.body) if y == x and isinstance(what, Read))
        at = dict(zip(s.dims, read.dims, strict=True))
        for _, r in names.of(s.body):
            if isinstance(r, Reduction):
                at |= dict(zip(r.dims, first, strict=True))
        new[x] = names.at(s.body, at)
    return substituted(t.body, new)
