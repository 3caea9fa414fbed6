"""What a stage takes for each element, apart from any schedule: of its operands, its reductions and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.elements import ACCUMULATOR, Element, element_of, leaves_of, sizes_of_leaves
from egglift.egraph.stages.operands import Operand, bound, operands_of
from egglift.egraph.stages.stage import Dim, Reduction, Stage
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate
from egglift.ir.traverse import applied
from egglift.ir.tuples import as_one


@dataclass(frozen=True)
class Source:
    """An operand: its dimensions, and what an element of it takes; bytes: of its element; given: is it just there, no
    array that is read?"""

    dims: tuple[Dim, ...]
    element: Element
    bytes: int
    given: bool = False


@dataclass(frozen=True)
class Phase:
    """Reductions over one space: what they read, and a step of all of them on elements at hand."""

    dims: tuple[Dim, ...]
    sources: tuple[Source, ...]
    step: Element


@dataclass(frozen=True)
class StageElements:
    """phases: of its reductions; after, finish: what the rest of its body reads and computes; accumulators:
    bytes of each number; results: of each array that is written, and how many numbers beside each other are an
    element's; combine: of two accumulators one."""

    phases: tuple[Phase, ...]
    after: tuple[Source, ...]
    finish: Element
    accumulators: tuple[int, ...]
    results: tuple[tuple[int, int], ...]


def number_of(d: Dim) -> int:
    """How many indices a dimension has."""
    return evaluate(d.extent)


# structures of one stage, and stages that several programs share, are priced one after the other
@lru_cache(maxsize=256)
def _known(stage: Stage, names: int, profile: _Same) -> StageElements:
    phases = tuple(_phase(stage, reductions, profile.profile) for reductions in stage.phases)
    after = operands_of(stage.names, stage.body, stage.dims, stage.given, stage.narrow)
    finish = bound(stage.body, after, _own(after))
    return StageElements(
        phases,
        _sources(stage, after, profile.profile),
        element_of(finish, (), profile.profile),
        tuple(n for r in (stage.phases or ((),))[0] for n in sizes_of_leaves(r.type)),
        tuple(_results(stage)),
    )


def _results(stage: Stage) -> list[tuple[int, int]]:
    """Of each array that is written, or plane of one: bytes of a number, and how many of an element lie together."""
    found = leaves_of(type_of(stage.body))
    return [(size, 1) for size, count in found for _ in range(count)] if stage.planes is not None else found


@dataclass(frozen=True, eq=False)
class _Same:
    """A profile as a key: compared by identity, as it holds dictionaries."""

    profile: Profile

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.profile is self.profile

    def __hash__(self) -> int:
        return id(self.profile)


def elements_of(stage: Stage, profile: Profile) -> StageElements:
    """What a stage takes for each element.  EggliftError where the code generator refuses an element."""
    return _known(stage, id(stage.names), _Same(profile))


def _phase(stage: Stage, reductions: Sequence[Reduction], profile: Profile) -> Phase:
    dims = tuple(dict.fromkeys((*stage.dims, *(d for r in reductions for d in r.dims))))
    elements = tuple(r.element for r in reductions)
    body = as_one(elements)
    operands = operands_of(stage.names, body, dims, stage.given, stage.narrow)
    steps = []
    for i, r in enumerate(reductions):
        steps.append(applied(r.step, p.Input(f"{ACCUMULATOR}{i}", r.type), bound(r.element, operands, _own(operands))))
    step = element_of(as_one(steps), (), profile)
    return Phase(reductions[0].dims, _sources(stage, operands, profile), step)


def _own(operands: Sequence[Operand]) -> list[Expr]:
    return [p.Input(f"%own{i}", type_of(o.at)) for i, o in enumerate(operands)]


def _sources(stage: Stage, operands: Sequence[Operand], profile: Profile) -> tuple[Source, ...]:
    return tuple(_source(o, o.at in stage.given, profile) for o in operands)


def _source(o: Operand, given: bool, profile: Profile) -> Source:
    element = Element((), (), 0, True) if given else element_of(o.array, o.dims, profile)
    return Source(o.dims, element, prod(sizes_of_leaves(type_of(o.at))), given)
