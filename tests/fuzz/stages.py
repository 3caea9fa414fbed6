"""What must hold of a program's stages: they mean what it means, and so does every structure of each of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.rows import row_structures, rows_of
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.as_pattern import as_pattern
from egglift.egraph.stages.index_notation import NoStages
from egglift.egraph.stages.partition import Stages, stages_of
from egglift.egraph.stages.sharing import can_share, longest, shared_out
from egglift.egraph.stages.stage import Stage
from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr, Input
from egglift.ir.text import dumps
from egglift.ir.traverse import subterms
from tests.egraph.staged import sized, whole
from tests.fuzz.case import SIZES, Case, Failure

#: so many structures of a program are drawn, kernels made of, and sizes for each until some fit
STRUCTURES, KERNELS, TRIES = 2, 2, 4


def staged(case: Case) -> Failure | None:
    """The program's stages, and random structures of them, mean what it means."""
    try:
        stages = stages_of(case.program)
    except NoStages as why:
        case.counts["no stages"] += 1
        case.counts[f"no stages: {why}"] += 1
        return None
    case.counts["stages"] += len(stages.stages)
    if problem := _differs(case, whole(stages, {})):
        return Failure("stages", problem, dumps(whole(stages, {})))
    for stage, sign, term in _lowered(case, stages):
        if problem := _differs(case, whole(stages, {stage.name: term})):
            return Failure("schedules", f"{stage.name} {sign}: {problem}", f"{stage}\n{dumps(term)}")
    for row in rows_of(stages):
        left = Stages(tuple(s for s in stages.stages if s.name not in {x.name for x in row.starts}), stages.result)
        for x in row_structures(row, True):
            case.counts["structures of rows"] += 1
            if problem := _differs(case, whole(left, {row.last.name: sized(x, case.rng)})):
                return Failure("rows", f"{row.last.name} {x.sign}: {problem}", dumps(x.term))
    return None


def _lowered(case: Case, stages: Stages) -> Iterator[tuple[Stage, str, Expr]]:
    """Random structures with random sizes, and reductions shared out in random parts."""
    for _ in range(STRUCTURES):
        stage, kind = case.rng.choice(stages.stages), case.rng.choice(("gpu", "cpu"))
        if found := list(structures(stage, kind, True)):
            case.counts["structures of stages"] += len(found)
            x = case.rng.choice(found)
            yield stage, f"{kind} {x.sign}", sized(x, case.rng)
    for stage in stages.stages:
        if can_share(stage):
            most = longest(stage.reductions).extent
            assert isinstance(most, int)
            parts, added = shared_out(stage, case.rng.randint(1, most))
            yield stage, "in parts", placed(as_pattern(added), {parts.name: as_pattern(parts)})


def stage_points(case: Case, profile: str, limits: DeviceLimits) -> Iterator[Point]:
    """The program with one of its stages, the others as they stand, under a random schedule and random sizes."""
    try:
        stages = stages_of(case.program)
    except NoStages:
        return
    kind = presets()[profile].kind
    found = [(s, x) for s in stages.stages for x in structures(s, kind, True)]
    for stage, x in case.rng.sample(found, min(KERNELS, len(found))):
        term = whole(stages, {stage.name: p.To("global", x.term)})
        point = drawn_point(Search(_inside(term), x.tiles, presets()[profile], limits), case.rng)
        if point is not None:
            yield point


def _inside(term: Expr) -> Expr:
    return term.x if isinstance(term, p.To) else term


def drawn_point(search: Search, rng: Random) -> Point | None:
    """A random assignment of sizes and a random launch; None if none of some tries is legal."""
    for _ in range(TRIES):
        wish: dict[str, int] = {}
        for symbol in search.order:
            wish[symbol] = rng.choice((*search.options(symbol, wish), *SIZES))
        point = search.point(wish, rng.choice(search.launches()))
        if isinstance(point, Point):
            return point
    return None


def _differs(case: Case, e: Expr) -> str | None:
    names = {t.name for t in subterms(e) if isinstance(t, Input)}
    if unknown := names - case.inputs.keys():
        return f"inputs of no name: {unknown}"
    value = flatten(evaluate(e, {k: v for k, v in case.inputs.items() if k in names}))
    shapes = [(leaf.shape, leaf.dtype) for leaf in value]
    if shapes != [(leaf.shape, leaf.dtype) for leaf in case.narrow]:
        return f"shapes {shapes} differ"
    case.counts["equal stages"] += 1
    return case.disagreement(value)
