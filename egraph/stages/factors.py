"""What is made of an array's elements before they are multiplied with others of a row, as an array.

    [ sum_2 (x[2,0] * w[2]) * x[2,1] ],  [ sum_1 (x[1,0] * w[1]) * y[1] ]
    ->  [ sum_2 v[2,0] * x[2,1] ],  [ sum_1 v[1,0] * y[1] ],    v = [ x[0,1] * w[0] ]

No array is written: where a block of it is kept, each element is computed once, and not for each product.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod

from egglift.egraph.stages.as_pattern import computed, reads_of
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.operands import operands_of
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number, substituted
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import replaced, subterms

LARGE = 64  # parts of an element that is looked at


def with_factors(stages: Sequence[Stage], least: int) -> list[Stage]:
    """Stages that read computed factors of so many elements at least, also those that multiply them with nothing."""
    factors = {array for s in stages for array in _factors(s, least)}
    return [_reading(s, factors) for s in stages] if factors else list(stages)


def _factors(stage: Stage, least: int) -> list[Expr]:
    """Arrays of the factors that a stage computes and reads again for other results."""
    found, names = list[Expr](), stage.names
    for r in _plain(stage).reductions if _is_known(stage) else ():
        space = (*stage.dims, *r.dims)
        for o in operands_of(names, r.element, space):
            again = len(o.dims) < len(space) and {*r.dims} < {*o.dims}
            if again and not isinstance(o.at, p.Input) and prod(map(number, o.dims)) >= least:
                found.append(computed(names, _dims(names, o.at), o.at))
    return found


def _is_known(stage: Stage) -> bool:
    dims = {*stage.dims, *(d for r in stage.reductions for d in r.dims)}
    return not stage.is_apart and all(isinstance(d.extent, int) for d in dims)


def _plain(stage: Stage) -> Stage:
    """The stage with arrays read as they lie in memory."""
    return replace(stage, body=stage.names.with_reads(stage.body, plain_read))


def _dims(names: Names, e: Expr) -> tuple[Dim, ...]:
    """What an element depends on, in the order of the axes of the largest array that it reads."""
    reads = sorted(reads_of(names, e), key=lambda r: -len(r.dims))
    return tuple(dict.fromkeys(d for r in reads for d in r.dims))


def _reading(stage: Stage, factors: Collection[Expr]) -> Stage:
    """A stage that reads these arrays wherever it computes their elements."""
    if not _is_known(stage):
        return stage
    stage = _plain(stage)
    names, new = stage.names, dict[Expr, Expr]()

    def read(e: Expr) -> Expr | None:
        if not isinstance(e, p.Apply) or names.has_reductions(e) or not (dims := _dims(names, e)):
            return None
        array = computed(names, dims, e)
        return names.read(Read(array, dims)) if array in factors else None

    for x, r in names.of(stage.body):
        if isinstance(r, Reduction) and sum(1 for _ in subterms(r.element)) <= LARGE:
            new[x] = names.reduced(replace(r, element=replaced(r.element, read)))
    return replace(stage, body=substituted(stage.body, new))
