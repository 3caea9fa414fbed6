"""What several stages compute of a row, or of its elements, computed once.

s[0] = sum_1 exp(A[0,1] - m[0]);  z[1] = sum_0 exp(A[0,1] - m[0]) / s[0]
  ->  e[0,1] = exp(A[0,1] - m[0]);  s[0] = sum_1 e[0,1];  z[1] = sum_0 e[0,1] / s[0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from egglift.egraph.stages.producers import COSTLY
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import inputs_in, replaced, subterms


def once_a_row(stage: Stage, at: tuple[Dim, ...]) -> list[Stage]:
    """A stage that is given what it computes for its elements of a row's numbers alone, after what computes that.

    sum_1 A[0,1] * exp(s[0])  ->  e[0] = exp(s[0]);  sum_1 A[0,1] * e[0]
    """
    found = dict[Expr, Stage]()

    def of_row(e: Expr) -> Expr | None:
        free = stage.names.free(e)
        if not isinstance(e, p.Apply | p.Cast) or not free or not free <= set(at):
            return None
        s = found.setdefault(e, Stage(f"{stage.name}.row{len(found)}", at, e, stage.names, stage.given))
        return _element(s)

    changed = _with_elements(stage, of_row)
    return [*found.values(), _given(changed, found.values())]


def once_an_element(stages: Sequence[Stage], dims: tuple[Dim, ...]) -> list[Stage]:
    """Stages, each after those that it is given, with what is costly and computed by several as a stage over `dims`."""
    stages = _seen_through(stages)
    times = Counter(e for s in stages for e in _costly(s, dims))
    shared = [e for e, n in times.items() if n > 1]
    outermost = [e for e in shared if not any(e is not o and e in set(subterms(o)) for o in shared)]
    new = dict[Expr, Stage]()
    found: list[Stage] = []
    for s in stages:
        for e in outermost:
            if e in _costly(s, dims) and e not in new:
                new[e] = Stage(f"{stages[-1].name}.element{len(new)}", dims, e, s.names, s.given)
                found.append(new[e])
        found.append(_given(_with_elements(s, lambda e: _element(new[e]) if e in new else None), new.values()))
    return found


def _seen_through(stages: Sequence[Stage]) -> list[Stage]:
    """Stages that read what others are given, and yield as a component, where these do."""
    known, found = dict[Expr, Expr](), list[Stage]()
    for s in stages:
        s = replace(_with_elements(s, known.get), given=s.given.union(*(x.given for x in found)))
        found.append(s)
        if isinstance(s.body, p.Tup):
            known |= {p.Get(i, _element(s)): x for i, x in enumerate(s.body.items) if x in s.given}
    return found


def _costly(stage: Stage, dims: tuple[Dim, ...]) -> set[Expr]:
    """What a stage computes of elements over all of `dims` that is costly."""
    elements = [r.element for r in stage.reductions] or [stage.body]
    found = {t for e in elements for t in subterms(e) if isinstance(t, p.Apply) and t.op in COSTLY}
    return {t for t in found if stage.names.free(t) == set(dims)}


def _element(stage: Stage) -> Expr:
    """What stands for a stage's element where it is given."""
    return stage.names.read(Read(p.Input(stage.name, stage.type), stage.dims))


def _with_elements(stage: Stage, f: Callable[[Expr], Expr | None]) -> Stage:
    """A stage with what its reductions take in replaced, or its body, where it has none."""
    if not stage.reductions:
        return replace(stage, body=replaced(stage.body, f))
    new: dict[Expr, Expr] = {}
    for x, r in stage.names.of(stage.body):
        if isinstance(r, Reduction):
            new[x] = stage.names.reduced(replace(r, element=replaced(r.element, f)))
    return replace(stage, body=substituted(stage.body, new))


def _given(stage: Stage, others: Iterable[Stage]) -> Stage:
    """A stage that is given the elements of others."""
    return replace(stage, given=stage.given.union(t for s in others for t in inputs_in(_element(s))))
