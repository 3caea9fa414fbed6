"""Stages under names that say nothing: equal ones, up to names of stages and inputs, are searched once.

stage7[0 < m] = (add for 1 < n of Q[0,1])  ->  array1_[0 < m] = (add for 1 < n of array0_[0,1])
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, subterms

#: what arrays are called, also where a text leaves the % out
NAME = re.compile(r"%?array\d+_")


@dataclass(frozen=True)
class Canonical:
    """Stages whose arrays, and all that they read, are named by the order in which they are met.

    key: equal for stages that differ in names only, and in the numbers of dimensions.  own: what is called so here.
    """

    stages: tuple[Stage, ...]
    key: Hashable
    own: Mapping[str, str]

    def named(self, term: Expr) -> Expr:
        """A term over the names of these stages, over the stages' own names."""
        inputs = [t for t in subterms(term) if isinstance(t, p.Input)]
        return exchanged(term, {t: p.Input(self.own[t.name], t.type) for t in inputs if t.name in self.own})

    def told(self, text: str) -> str:
        """A text about these stages, with the stages' own names."""
        return NAME.sub(lambda found: self._shown(found[0]), text)

    def _shown(self, name: str) -> str:
        own = self.own.get(name if name.startswith("%") else f"%{name}", name)
        return own if name.startswith("%") else own.lstrip("%")


def canonical(stages: Sequence[Stage], dims: Sequence[Dim] = ()) -> Canonical:
    """Some stages, each after those of them that it reads, under names by the order of reading.

    dims: of their dimensions, those that matter for what is to be found.
    """
    names: dict[str, str] = {}
    patterns = [as_pattern(s) for s in stages]
    for s, pattern in zip(stages, patterns, strict=True):
        for name in (*(t.name for t in subterms(pattern) if isinstance(t, p.Input)), s.name):
            names.setdefault(name, f"%array{len(names)}_")
    new: dict[Expr, Expr] = {
        t: p.Input(names[t.name], t.type) for e in patterns for t in subterms(e) if isinstance(t, p.Input)
    }
    key = tuple(exchanged(e, new) for e in patterns), _order([*(d for s in stages for d in _dims(s)), *dims])
    renamed = tuple(_renamed(s, names[s.name], new) for s in stages)
    return Canonical(renamed, key, {short: name for name, short in names.items()})


def unnamed(term: Expr) -> Expr:
    """A term over inputs by the order of reading: the same for terms that differ in the names of what they read."""
    inputs = [t for t in subterms(term) if isinstance(t, p.Input)]
    return exchanged(term, {t: p.Input(f"%array{i}_", t.type) for i, t in enumerate(inputs)})


def _dims(s: Stage) -> list[Dim]:
    return [*s.dims, *(d for phase in s.phases for r in phase for d in r.dims)]


def _order(dims: Sequence[Dim]) -> tuple[int, ...]:
    """Which of some dimensions are the same."""
    first: dict[Dim, int] = {}
    return tuple(first.setdefault(d, i) for i, d in enumerate(dims))


def _renamed(s: Stage, name: str, new: Mapping[Expr, Expr]) -> Stage:
    memo: dict[Expr, Expr] = {}
    stage = replace(s.with_bodies(lambda body: _body(s.names, body, new, memo)), name=name)
    given = (_body(s.names, x, new, memo) for x in s.given)
    return replace(stage, given=frozenset(x for x in given if isinstance(x, p.Input)))


def _body(names: Names, body: Expr, new: Mapping[Expr, Expr], memo: dict[Expr, Expr]) -> Expr:
    """A body that reads other arrays."""
    for x, what in names.of(body):
        if x not in memo:
            match what:
                case Read(view, dims):
                    memo[x] = names.read(Read(exchanged(view, new), dims))
                case Reduction(_, init, _, element):
                    parts = (_body(names, e, new, memo) for e in (init, element))
                    memo[x] = names.reduced(replace(what, init=next(parts), element=next(parts)))
    return exchanged(body, {**new, **{x: memo[x] for x, _ in names.of(body)}})
