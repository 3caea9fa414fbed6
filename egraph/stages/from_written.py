"""Reductions that go on from what another stage reduces: a total of sums, not of what they are sums of.

    m[0] = sum_1 A[1,0] / n;  t = sum_0,1 A[0,1]      ->      s[0] = sum_1 A[1,0];  m[0] = s[0] / n;  t = sum_0 s[0]

An array and the means of its columns, of its rows, and of all of it are then read once less.  The order of additions
changes, so programs must be free to be reassociated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.stage import Dim, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import Scalar

#: elements of a reduction at least, and of how many at least each of the results stands for that it goes on from
LONG, EACH = 1 << 16, 8


def from_written(stages: Sequence[Stage]) -> list[Stage]:
    """Stages in an order in which they can run, whose reductions go on from those of others where these are shorter."""
    found = list(stages)
    for stage in stages:
        whole = _Reduced.of(stage)
        if whole is None or whole.volume < LONG:
            continue
        parts = [x for s in found if s.name != stage.name and (x := _Reduced.of(s)) is not None and whole.contains(x)]
        if parts:
            found = _going_on(found, whole, min(parts, key=lambda x: x.results))
    return found


@dataclass(frozen=True)
class _Reduced:
    """A stage with one reduction, of numbers: `space` are all dimensions, in the order in which it reads them."""

    stage: Stage
    name: Expr
    reduction: Reduction
    space: tuple[Dim, ...]

    @staticmethod
    def of(stage: Stage) -> _Reduced | None:
        """None of a stage with none, or several, or whose reduction is of other indices than its own."""
        found = [(x, r) for x, r in stage.names.of(stage.body) if isinstance(r, Reduction)]
        if stage.is_apart or stage.given or len(found) != 1 or len(stage.phases) != 1:
            return None
        ((name, r),) = found
        reads = map(plain_read, reads_of(stage.names, r.element))
        space = tuple(dict.fromkeys(d for x in reads for d in x.dims))
        plain = r.op is not None and r.op.commutative and r.init == r.op.neutral and isinstance(type_of(r.init), Scalar)
        known = set(space) == {*stage.dims, *r.dims} and not any(isinstance(d.extent, Length) for d in space)
        return _Reduced(stage, name, r, space) if plain and known else None

    @property
    def volume(self) -> int:
        """How many elements it reduces."""
        return prod(map(number, self.space))

    @property
    def results(self) -> int:
        """How many it reduces them to."""
        return prod(map(number, self.stage.dims))

    def contains(self, part: _Reduced) -> bool:
        """Does it reduce what the other one has reduced along some of its dimensions?"""
        if part.volume != self.volume or part.reduction.op != self.reduction.op or EACH * part.results > self.volume:
            return False
        mine = {i for i, d in enumerate(self.space) if d in self.reduction.dims}
        own = {i for i, d in enumerate(part.space) if d in part.reduction.dims}
        return own < mine and self._element() == part._element()

    def _element(self) -> Expr:
        """What is reduced, with dimensions that are numbered by the order in which it reads them."""
        new = {d: Dim(-1 - i, d.extent) for i, d in enumerate(self.space)}
        names = self.stage.names
        return names.with_reads(self.reduction.element, lambda x: plain_read(x).at(new))


def _going_on(stages: Sequence[Stage], whole: _Reduced, part: _Reduced) -> list[Stage]:
    """The stages, of which one goes on from the reduction of another, which is a stage of its own then."""
    names, own = part.stage.names, part.stage
    sums = own if own.body == part.name else replace(own, name=f"{own.name}.reduced", body=part.name)
    array = p.Input(sums.name, sums.type)
    rest = replace(own, body=substituted(own.body, {part.name: names.read(Read(array, own.dims))}))
    at = dict(zip(part.space, whole.space, strict=True))
    element = names.read(Read(array, tuple(at[d] for d in own.dims)))
    dims = tuple(d for d in whole.reduction.dims if d in [at[x] for x in own.dims])
    total = names.reduced(replace(whole.reduction, dims=dims, element=element))
    new = {
        own.name: [sums] if sums is own else [sums, rest],
        whole.stage.name: [replace(whole.stage, body=substituted(whole.stage.body, {whole.name: total}))],
    }
    return list(_in_order([s for old in stages for s in new.get(old.name, [old])]))


def _in_order(stages: Sequence[Stage]) -> Iterator[Stage]:
    """The stages, each after those that it reads."""
    left = {s.name: s for s in stages}
    while left:
        ready = next(s for s in left.values() if not _needs(s) & left.keys() - {s.name})
        yield left.pop(ready.name)


def _needs(stage: Stage) -> set[str]:
    """What a stage reads, anywhere."""
    found, todo = set[str](), list(stage.bodies)
    while todo:
        body = todo.pop()
        found |= {t.name for t in subterms(body) if isinstance(t, p.Input)}
        for _, what in stage.names.of(body):
            match what:
                case Read(view):
                    found |= {t.name for t in subterms(view) if isinstance(t, p.Input)}
                case Reduction(init=init, element=element):
                    todo += [init, element]
    return found
