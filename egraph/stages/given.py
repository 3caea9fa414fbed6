"""Reads of a stage that starts within the loops of another: its element itself, not what views of its array yield.

(map (get 0) s)[0] + (map f s)[0]   ->   get 0 s[0] + f s[0]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import rebuild, subterms

#: what the argument of a body is bound to: an element of an array, and what that array's own argument is bound to
Bound: TypeAlias = "tuple[Expr, Bound] | None"


class NotGiven(Exception):
    """A stage whose array is read other than element by element cannot start within the loops of another."""


@dataclass
class Given:
    """Reads of `stages` as elements that are given.  at: where each is read, which is the same for all reads."""

    stages: Mapping[str, Stage]
    at: dict[str, tuple[Dim, ...]] = field(default_factory=dict)

    def within(self, stage: Stage) -> Stage:
        """A stage whose reads of the others are given.  NotGiven if it reads more than one's own element."""
        body = self._body(stage, stage.body, {})
        inputs = {stage.names.read(self._whole(name)) for name in self.at}
        return replace(stage, body=body, given=frozenset(x for x in inputs if isinstance(x, p.Input)))

    def _whole(self, name: str) -> Read:
        start = self.stages[name]
        return Read(p.Input(name, start.type), self.at[name])

    def _body(self, stage: Stage, body: Expr, memo: dict[Expr, Expr]) -> Expr:
        names = stage.names
        if any(isinstance(t, p.Input) and t.name in self.stages for t in subterms(body)):
            raise NotGiven  # as a number, which is no element at any index of ours
        for x, what in names.of(body):
            if x in memo:
                continue
            match what:
                case Read():
                    memo[x] = self._read(stage, what)
                case Reduction(_, init, _, element):
                    new = replace(what, init=self._body(stage, init, memo), element=self._body(stage, element, memo))
                    memo[x] = names.reduced(new)
        return substituted(body, {x: memo[x] for x, _ in names.of(body)})

    def _read(self, stage: Stage, read: Read) -> Expr:
        inside = [t.name for t in subterms(read.view) if isinstance(t, p.Input) and t.name in self.stages]
        if not inside:
            return stage.names.read(read)
        name = inside[0]
        if len(inside) > 1 or len(read.dims) != len(self.stages[name].dims):
            raise NotGiven
        if self.at.setdefault(name, read.dims) != read.dims:
            raise NotGiven
        return self._element(read.view, len(read.dims), None, name, stage.names.read(self._whole(name)))

    def _element(self, e: Expr, axes: int, bound: Bound, name: str, given: Expr) -> Expr:
        """The element of `e`, so many axes down, at the indices at which `given` stands for the stage's."""

        def go(x: Expr, axes: int = axes, bound: Bound = bound) -> Expr:
            return self._element(x, axes, bound, name, given)

        match e:
            case p.Input() if e.name == name:
                if axes != len(self.at[name]):
                    raise NotGiven
                return given
            case p.Arg() if bound is not None:
                return go(bound[0], axes + 1, bound[1])
            case p.Map(body, x, None) if axes:
                return go(body, axes - 1, (x, bound))
            case p.Get(i, x):
                whole = go(x)
                return whole.items[i] if isinstance(whole, p.Tup) else p.Get(i, whole)
            case _ if not axes:
                return rebuild(e, go)
        raise NotGiven
