"""The model's choice alone: little is generated for it, and it is nearly the best of all that measuring looks at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import egglift as el
from egglift.candidate import Candidate
from egglift.codegen.compile import compile_term
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Search
from egglift.egraph.schedules.choice import Choice, Way, first_of
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.known import KNOWN
from egglift.ir.lifting import as_program
from egglift.options import Laws
from egglift.search import searched
from tests.egraph.staged import exact_inputs, same
from tests.egraph.stages.programs import add_up, arr, dot, product

GPU = presets()["nvidia_h200"]
NEARLY = 1.02  # times as slow as the best of all may the first choice be

PROGRAMS: dict[str, Callable[[], Any]] = {
    "a sum": lambda: add_up(arr("x", 1 << 20)),
    "a map": lambda: arr("x", 1 << 28) * 2.0,
    "sums of rows": lambda: arr("A", 4096, 4096).map(add_up),
    "a product": lambda: product(512, 512, 512),
    "a matrix times a vector": lambda: arr("A", 2048, 2048).map(lambda row: dot(row, arr("v", 2048))),
    "half of a product": lambda: arr("A", 2048, 2048) @ arr("A", 2048, 2048).T,
}


def found(program: Any, several: bool) -> list[Candidate]:
    KNOWN.clear()
    return sorted(searched(as_program(program), GPU, GPU.limits, Laws(), several), key=lambda c: c.estimate)


@cache
def search(name: str, several: bool) -> tuple[Candidate, list[float]]:
    """The best of a program's candidates, and the exact prices of all that schedules generate for them."""
    prices, price = list[float](), Search.point

    def point(search: Search, *wish: Any) -> Any:
        x = price(search, *wish)
        prices.extend([] if isinstance(x, str) else [x.estimate.seconds])
        return x

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Search, "point", point)
        return found(PROGRAMS[name](), several)[0], prices


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_choice_is_nearly_the_best_of_several(name: str) -> None:
    (first, _), (best, _) = search(name, several=False), search(name, several=True)
    assert first.estimate <= NEARLY * best.estimate


@pytest.mark.parametrize("name", ["a map", "sums of rows", "a product"])
def test_no_kernel_that_is_generated_is_cheaper(name: str) -> None:
    first, prices = search(name, several=False)
    assert first.estimate == min(prices)


@pytest.mark.parametrize("name", PROGRAMS)
def test_few_kernels_are_generated_for_it(name: str) -> None:
    (_, alone), (_, several) = search(name, several=False), search(name, several=True)
    assert 0 < len(alone) < len(several) / 2 or len(alone) <= 2


def test_its_price_is_that_of_its_kernels() -> None:
    for name in ("a sum", "a product"):
        first = found(PROGRAMS[name](), several=False)[0]
        exact = estimate(compile_term(first.term, first.launch, GPU.limits), GPU)
        assert exact.seconds == pytest.approx(first.estimate, rel=0.01), name


def test_the_first_choice_means_what_was_given() -> None:
    for given in (add_up(arr("x", 1 << 16)), product(64, 48, 80)):
        program = as_program(given)
        (choice,) = scheduled(program, GPU, GPU.limits, True, several=False)[:1]
        assert same(program, choice.term, exact_inputs(program), 1e-4)


def test_the_program_as_it_stands_is_only_the_last_resort() -> None:
    assert all(c.structure != "naive" for c in found(PROGRAMS["a sum"](), several=False))
    odd = el.iterate(2, lambda v: v.map(lambda e: e * 2), arr("x", 7))
    assert found(odd, several=False)


def ways(*prices: tuple[float, float], asked: list[float] | None = None, kind: str = "") -> list[Way]:
    """Ways with a closed and an exact price each; of a kind, the most promising first."""
    (some,) = scheduled(as_program(arr("x", 64) + 1.0), GPU, GPU.limits, True, several=False)[:1]

    def generated(closed: float, exact: float) -> Sequence[Choice]:
        if asked is not None:
            asked.append(closed)
        return [replace(some, estimate=replace(some.estimate, seconds=exact))]

    return [
        Way(closed, lambda c=closed, e=exact: list(generated(c, e)), kind or str(i), i if kind else 0)
        for i, (closed, exact) in enumerate(prices)
    ]


def test_what_may_be_cheaper_than_the_best_is_generated() -> None:
    asked: list[float] = []
    (best,) = first_of(ways((1.0, 3.0), (4.0, 4.0), (2.0, 2.5), (2.6, 1.0), asked=asked))
    assert best.seconds == 2.5
    assert asked == [1.0, 2.0], "what is dearer by closed price than the best is not generated"


def test_of_no_ways_none_is_chosen() -> None:
    assert first_of([]) == []
    assert first_of([Way(1.0, list)]) == []


def test_a_structure_far_above_another_is_given_up() -> None:
    asked: list[float] = []
    slow = ways((1.0, 9.0), (1.1, 8.0), (1.2, 7.0), (1.3, 2.0), asked=asked, kind="slow")
    (best,) = first_of([*slow, *ways((2.0, 3.0), kind="fast")])
    assert best.seconds == 3.0
    assert asked == [1.0, 1.1, 1.2]


def test_a_structure_that_may_be_the_best_is_looked_at_further() -> None:
    prices = ways((1.0, 3.0), (1.1, 2.5), (1.2, 2.8), (1.3, 2.0), kind="near")
    (best,) = first_of(prices)
    assert best.seconds == 2.0
