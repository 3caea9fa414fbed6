"""Laws of schedule.egg: every run of a saturated class computes what the plain loops compute."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import egglift as el
from egglift.egraph.schedules import runs
from egglift.egraph.schedules.lower import lower
from egglift.egraph.schedules.runs import Axis, Digit, Runs, runs_of
from egglift.egraph.schedules.schedule import RESULT, Keep, Loop, Schedule, Step
from egglift.egraph.stages.sharing import commutes
from egglift.egraph.stages.stage import Dim, Stage
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Level
from tests.egraph.staged import composed, exact_inputs, only_stage, same
from tests.egraph.stages.programs import add_up, arr, product

SEQUENTIAL = Level("seq")
#: runs of a class that are lowered; all, if there are no more
MANY = 40
#: blocks of a first and of a second cut
BLOCKS = (4, 2)

Path = tuple[Digit | int, ...]


def paths(found: Runs, kept: int = 0) -> Iterator[Path]:
    """The runs of a class from the outside in, no loop twice; each keeps at most so many operands."""

    def go(c: int, left: int, before: Path) -> Iterator[Path]:
        if not found.nodes[c]:
            yield before
        for what, child in found.nodes[c]:
            if what not in before and (isinstance(what, Digit) or left):
                yield from go(child, left - isinstance(what, int), (*before, what))

    yield from go(found.root, kept, ())


def scheduled(path: Path, dims: list[Dim], reduced: set[Dim]) -> Schedule:
    """A run as a schedule: one work-item does everything, what is kept is in private memory."""
    cuts = dict.fromkeys(dims, 0)
    steps: list[Step] = []
    for what in path:
        if isinstance(what, int):
            steps.append(Keep(what, "private"))
            continue
        d = dims[what.axis]
        cuts[d] = max(cuts[d], what.cut + (not what.rest))
        steps.append(Loop(d, what.cut, "sequential") if d in reduced else Loop(d, what.cut, "own", SEQUENTIAL))
    return Schedule(tuple(steps), tuple((d, BLOCKS[:n]) for d, n in cuts.items() if n))


def space(stage: Stage) -> tuple[list[Dim], set[Dim]]:
    reduced = list(dict.fromkeys(d for r in stage.reductions for d in r.dims))
    return [*stage.dims, *reduced], set(reduced)


def class_of(stage: Stage, cuts: dict[int, int], operands: int = 0) -> Runs:
    dims, reduced = space(stage)
    axes = tuple(Axis(i, d in reduced, cuts.get(i, 0), commutes(stage)) for i, d in enumerate(dims))
    return runs_of(axes, operands)


def first_wrong(program: Any, cuts: dict[int, int], kept: int = 0) -> Path | None:
    """A run of the class that computes something else, or is no program."""
    e = as_program(program)
    stage, inputs = only_stage(e), exact_inputs(e)
    dims, reduced = space(stage)
    found = list(paths(class_of(stage, cuts, 2 if kept else 0), kept))
    assert len(found) > 1
    for path in Random(0).sample(found, min(MANY, len(found))):
        try:
            if not same(e, lower(stage, scheduled(path, dims, reduced)), inputs, 1e-5):
                return path
        except (EggliftError, AssertionError, LookupError, ValueError):
            return path
    return None


def composition() -> Any:
    """A reduction in two dimensions whose operator does not commute."""
    return el.array("P", (el.i64, el.i64), (2, 3, 5)).map(lambda m: el.reduce(composed, (1, 0), el.join(m)))


CLASSES = {
    "product": (lambda: product(3, 5, 7), {0: 1, 1: 1, 2: 1}, 0),
    "product in two cuts": (lambda: product(7, 3, 5), {0: 2, 2: 2}, 0),
    "product of what is kept": (lambda: product(3, 5, 7), {1: 1, 2: 1}, 2),
    "product in one cut": (lambda: product(3, 5, 7), {0: 1}, 0),
    "sums": (lambda: arr("x", 3, 5, 7).map(add_up), {0: 1, 1: 1, 2: 1}, 0),
    "rotation": (lambda: el.transpose(arr("x", 3, 5, 7)).map(lambda m: m.T), {0: 1, 1: 2, 2: 1}, 0),
    "composition": (composition, {0: 1, 1: 1}, 0),
    "two sums": (lambda: arr("A", 5, 7).map(lambda r: add_up(r) + el.reduce(el.maximum, 0, r)), {0: 1, 1: 1}, 0),
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_run_of_a_class_means_the_same(name: str) -> None:
    program, cuts, kept = CLASSES[name]
    assert first_wrong(program(), cuts, kept) is None


#: laws that do not hold, and a class that shows it
PLANTED = {
    "the loop inside a block is dropped": (
        lambda text: text.replace("(Loop (Rest d (+ i 1)) x)", "x"),
        "product in one cut",
    ),
    "what does not commute is reordered": (
        lambda text: text.replace("(commutes d) (commutes e) ", ""),
        "composition",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_law_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, which = PLANTED[name]
    right = runs._laws()
    assert change(right) != right
    program, cuts, kept = CLASSES[which]
    monkeypatch.setattr(runs, "_laws", lambda: change(right))
    runs_of.cache_clear()
    try:
        assert first_wrong(program(), cuts, kept) is not None
    finally:
        runs_of.cache_clear()


def test_a_class_of_runs_is_a_set_of_loops() -> None:
    """Three parallel loops: a class for each subset that is still to come, and all orders of all."""
    found = runs_of(tuple(Axis(i, False, 0) for i in range(3)), 0)
    assert len(list(paths(found))) == 1, "what is neither cut nor reduced keeps its place"
    cut = list(paths(runs_of(tuple(Axis(i, False, 1) for i in range(2)), 0)))
    digits = {frozenset(path): 0 for path in cut}
    for path in cut:
        digits[frozenset(path)] += 1
    assert sorted(digits.values()) == [2, 6, 6, 24], "all orders of each set of digits"


def test_a_step_that_no_run_begins_with_is_none() -> None:
    found = runs_of((Axis(0, False, 0), Axis(1, True, 1)), 1)
    assert found.after(found.root, Digit(0, 1, True)) is None
    assert found.after(found.root, 7) is None
    assert found.after(found.root, 0) == found.root, "keeping changes no value"
    assert found.after(found.root, Digit(0, 0, True)) is not None


def test_results_are_kept_where_nothing_is_reduced() -> None:
    each, sums = runs_of((Axis(0, False, 1),), 1), runs_of((Axis(0, False, 1), Axis(1, True, 0)), 1)
    inside = each.after(each.root, Digit(0, 0, False))
    assert inside is not None and each.after(inside, RESULT) == inside
    assert not any(what == RESULT for nodes in sums.nodes.values() for what, _ in nodes)
