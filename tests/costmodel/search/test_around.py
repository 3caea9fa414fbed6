"""The space of sizes around an assignment."""

from __future__ import annotations

from collections.abc import Mapping

import egglift as el
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.around import around
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.partition import stages_of
from egglift.ir.deadline import TooLate

PROFILE = presets()["pocl_cpu"]


def search(n: int = 64) -> Search:
    """That of the first structure of a product with two tile sizes or more."""
    A, B = el.array("A", el.f32, (n, n)), el.array("B", el.f32, (n, n))
    (stage,) = stages_of(el.as_program(A @ B)).stages
    found = (Search(s.term, s.tiles, PROFILE, PROFILE.limits) for s in structures(stage, "cpu", True))
    return next(s for s in found if len(s.order) > 1)


def test_a_map_has_the_price_of_the_assignment_itself() -> None:
    looked, launch = search(), Launch(1)
    sizes = looked.fitting(looked.start())
    found = around(looked, sizes, launch)
    point = looked.point(sizes, launch)
    assert found is not None and isinstance(point, Point)
    assert found.seconds[found.chosen] == point.estimate.seconds
    assert found.complete and found.chosen == tuple(sizes[name] for name in found.names)


def test_a_map_is_over_the_sizes_that_matter_most() -> None:
    looked = search()
    found = around(looked, looked.fitting(looked.start()), Launch(1))
    assert found is not None
    rows, columns = found.names
    least = min(found.influence[rows], found.influence[columns])
    assert all(x <= least for name, x in found.influence.items() if name not in found.names)


def test_a_map_that_is_out_of_time_says_so() -> None:
    looked = search()
    found = around(looked, looked.fitting(looked.start()), Launch(1), limit=0.0)
    assert found is not None and not found.complete and not found.seconds


def test_what_was_priced_to_find_the_names_is_in_the_map() -> None:
    looked = search()
    sizes, asked = looked.fitting(looked.start()), len(looked.order)
    point, prices = looked.point, iter(range(3 * asked))

    def few(wish: Mapping[str, int], launch: Launch) -> Point | str:
        if next(prices, None) is None:
            raise TooLate
        return point(wish, launch)

    looked.point = few  # type: ignore[method-assign]
    found = around(looked, sizes, Launch(1))
    assert found is not None and not found.complete and found.seconds
    assert all(row == found.chosen[0] or column == found.chosen[1] for row, column in found.seconds)
