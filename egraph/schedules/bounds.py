"""What no low-level program can do faster: bounds from below, to know when there is nothing left to be found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.stage_elements import Phase, StageElements, elements_of, number_of
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.matrix_products import unit_of
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.symmetry import symmetric_dims
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import At, Expr, Gather, Input, Stride
from egglift.ir.sizes import evaluate
from egglift.ir.traverse import subterms
from egglift.ir.types import Type, leaves

#: times as slow as its operations may the best schedule of products be for the laws not to be searched; and stages that
#: reduce, from which on they are not searched for the whole program
NO_FASTER, SEVERAL = 1.5, 3
OPERATIONS = 1.25  # times as slow as the operations of its elements is a program that has nothing to gain
CHOOSING = At, Gather, Stride  # of an array's elements, they may read few
CHANNELS = 8  # results for which a window is read again, as a product's operand is


def traffic_seconds(program: Expr, profile: Profile) -> float:
    """Seconds to read all inputs and to write the result once: from the last cache, where all of it fits there.

    What is read of an input may be less: then a program may be faster than this.
    """
    inputs = {t.name: t.type for t in subterms(program) if isinstance(t, Input)}
    total = sum(map(_bytes, (*inputs.values(), type_of(program))))
    return total / (profile.cache_bandwidth if total < 0.8 * profile.cache_bytes else profile.bandwidth)


def kernel_seconds(stage: Stage, profile: Profile) -> float:
    """Seconds that a kernel of a stage takes at least: its launch, and writing its results."""
    return profile.launch + _array_seconds([type_of(as_pattern(stage))], profile)


def parts_seconds(parts: Sequence[Expr], profile: Profile) -> float:
    """Seconds that kernels take at least that compute programs one after the other, each for all that reads its result.

    Each launches one, reads its inputs and writes its result: from the last cache, unless that cannot hold the array.
    A part that leaves most of an input out counts for what it writes.
    """
    return sum(_part_seconds(part, profile) for part in parts) + (len(parts) - 1) * profile.launch


def _part_seconds(part: Expr, profile: Profile) -> float:
    chosen = any(isinstance(t, CHOOSING) for t in subterms(part))
    inputs = {} if chosen else {t.name: t.type for t in subterms(part) if isinstance(t, Input)}
    return _array_seconds([*inputs.values(), type_of(part)], profile)


def _array_seconds(types: Iterable[Type], profile: Profile) -> float:
    """Seconds to go through arrays once: from the last cache, unless that cannot hold one of them."""
    sizes = (prod(evaluate(n) for n in shape) * scalar.size for t in types for shape, scalar in leaves(t))
    return sum(n / (profile.cache_bandwidth if n < 0.8 * profile.cache_bytes else profile.bandwidth) for n in sizes)


def products_seconds(program: Expr, profile: Profile, reassociate: bool, halves: bool = True) -> float:
    """Seconds for the operations of a program's products at the device's best rate; 0 where some are none.

    A product's reads go through memory a different way in every dimension.  The sums of a window that slides, and
    what is computed element by element, can become others with fewer operations: they have no such bound.  Of a CPU
    only products of two dimensions count: for sums in one, the laws have vectors that schedules have not.
    halves: may half of a symmetric result be computed?  Schedules do, the laws on patterns do not.
    """
    return _products_seconds(_stages(program, reassociate), profile, reassociate, halves)


def operations_seconds(stages: Sequence[Stage], profile: Profile) -> float:
    """Seconds that the steps of stages' reductions take at least, one number at a time; 0 where it is not known."""
    try:
        elements = [(s, elements_of(s, profile)) for s in stages]
    except EggliftError:
        return 0.0
    return sum(_operations(s, e, profile) / _on_units(s, profile) for s, e in elements) / profile.issue_rate


def served_by_stages(program: Expr, work: float, profile: Profile, reassociate: bool) -> bool:
    """Is a program that takes `work` seconds by its stages' own schedules one that the laws are not searched for?

    It has several stages that reduce: what the laws find for it is kernels of one stage each, too.  Or it is for a GPU,
    and no two results read neighbours: all that the laws have beyond schedules there is tiles with their edges in local
    memory.  Or it is near what its products take, or, for a GPU, the operations of its elements, which no tile saves.
    """
    stages = _stages(program, reassociate)
    if sum(bool(s.reductions) for s in stages) >= SEVERAL:
        return True
    if profile.kind == "gpu" and stages and not _reads_neighbours(stages, profile):
        return True
    if profile.kind == "gpu" and 0 < work <= OPERATIONS * _elements_seconds(stages, profile):
        return True
    whole = _products_seconds(stages, profile, reassociate, halves=False)
    return 0 < work <= NO_FASTER * whole and _products_seconds(stages, profile, reassociate) <= work


def _stages(program: Expr, reassociate: bool) -> tuple[Stage, ...]:
    """The stages of a program; none where it has no index notation."""
    try:
        return stages_of(program, reassociate).stages
    except NoStages:
        return ()


def _products_seconds(all_stages: Sequence[Stage], profile: Profile, reassociate: bool, halves: bool = True) -> float:
    try:
        stages = [(s, elements_of(s, profile)) for s in all_stages]
    except EggliftError:
        return 0.0
    if any(_overlaps(phase) for _, e in stages for phase in e.phases):
        return 0.0
    least = 2 if profile.kind == "cpu" else 0
    wanted = [(s, e) for s, e in stages if len(s.dims) >= least]
    total = sum(_operations(s, e, profile) * (_part(s, reassociate) if halves else 1) for s, e in wanted)
    return total / profile.issue_rate


def _elements_seconds(stages: Sequence[Stage], profile: Profile) -> float:
    """Seconds for the operations on what is read, of stages none of which reduces; else 0."""
    try:
        elements = [] if any(s.reductions or s.is_apart for s in stages) else [elements_of(s, profile) for s in stages]
    except EggliftError:
        return 0.0
    each = zip(stages, elements, strict=False)
    return sum(prod(map(number_of, s.dims)) * sum(n for n, _ in e.finish.calls) for s, e in each) / profile.issue_rate


def _part(stage: Stage, reassociate: bool) -> float:
    """Of the results, those that must be computed: half of a symmetric one and its diagonal."""
    pair = symmetric_dims(stage, reassociate)
    return 1.0 if pair is None else (1 + 1 / number_of(pair[0])) / 2


def _operations(stage: Stage, e: StageElements, profile: Profile) -> float:
    """Instructions of the steps of a stage's reductions, a register's worth of a CPU's vectors at once."""
    width = profile.simd_bytes if profile.kind == "cpu" else 1
    results = prod(map(number_of, stage.dims))
    steps = ((prod(map(number_of, phase.dims)), phase.step.calls) for phase in e.phases)
    each = ((n, cost * (size / width if width > 1 else 1)) for n, calls in steps for cost, size in calls)
    return _on_units(stage, profile) * results * sum(n * cost for n, cost in each)


def _on_units(stage: Stage, profile: Profile) -> float:
    """Times as long as by single numbers a stage's products take at least: less where there are matrix units.

    Products of f32 count as such: that their factors may be rounded is seldom allowed.
    """
    unit = unit_of(stage)
    if unit is None or unit.name == "tf32" or unit.name not in profile.matrix_costs:
        return 1.0
    return min(1.0, profile.matrix_costs[unit.name] / profile.type_costs.get(unit.total.name, 1.0))


def _reads_neighbours(stages: Sequence[Stage], profile: Profile) -> bool:
    """Is an array read at windows that overlap, or in one neighbourhood at several places?  True if unknown."""
    try:
        elements = [elements_of(s, profile) for s in stages]
    except EggliftError:
        return True
    pairs = zip(stages, elements, strict=True)
    return any(_beside(e) or any(_overlaps(phase, s) for phase in e.phases) for s, e in pairs)


def _beside(e: StageElements) -> bool:
    """Does what follows the reductions read one array the same way from several places?"""
    places = {place for source in e.after for place in source.element.places} | set(e.finish.places)
    ways = [(place.buffer, place.strides) for place in places if any(place.strides)]
    return len(set(ways)) < len(ways)


def _overlaps(phase: Phase, stage: Stage | None = None) -> bool:
    """Do several indices read one element though each dimension matters, as windows do that overlap?

    Of a stage: windows that are read again for many of its results aside, as those of a convolution are for each
    channel of its result: tiles of a product read them as often.
    """
    for source in phase.sources:
        if stage is not None and prod(number_of(d) for d in stage.dims if d not in source.dims) >= CHANNELS:
            continue
        for place in source.element.places:
            steps = zip(map(abs, place.strides), map(number_of, source.dims), strict=True)
            reach = 0
            for stride, number in sorted(s for s in steps if s[0] and s[1] > 1):
                if stride <= reach:
                    return True
                reach += stride * (number - 1)
    return False


def _bytes(t: Type) -> int:
    return sum(prod(evaluate(n) for n in shape) * scalar.size for shape, scalar in leaves(t))
