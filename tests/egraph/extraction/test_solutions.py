"""Which of the programs and views that extraction finds are kept, and how their structures are written."""

from egglift.egraph.extraction.access_costs import Leaf, Row
from egglift.egraph.extraction.solutions import (
    KEPT,
    NONE,
    SPREAD,
    Found,
    Seen,
    Term,
    best,
    best_views,
    different,
    groups,
    kernels,
    main_part,
    marked,
    skeleton,
    ungrouped,
)
from egglift.egraph.graph.graph import ENode

HOW = Term(ENode("Arg", (), ()), ())


def program(cost: float, sign: str, spread: float = 1.0) -> Found:
    return Found(cost, NONE, sign, HOW, spread)


def view(price: float, sign: str = "", unit: int = -1, setup: float = 0.0) -> Seen:
    return Seen(setup, NONE, Row(8, Leaf(price, unit)), sign, HOW)


def test_of_one_structure_the_cheapest_is_kept() -> None:
    cheap, other = program(2, "G(c)"), program(4, "W(c)")
    assert best([program(3, "G(c)"), cheap, other], 5) == [cheap, other]


def test_costs_count_for_all_executors_that_share_them() -> None:
    assert best([program(1, "L(c)", spread=100), program(50, "F(c)")], 1) == [program(50, "F(c)")]


def test_what_costs_hundreds_of_times_as_much_is_dropped() -> None:
    assert best([program(1, "G(c)"), program(1000, "W(c)")], 5) == [program(1, "G(c)")]


def test_of_equal_views_the_one_that_says_most_is_kept() -> None:
    assert best_views([view(1.0), view(1.0, unit=0)], 4) == [view(1.0, unit=0)]


def test_staging_different_parts_makes_different_views() -> None:
    first = Seen(2.0, NONE, Row(8, Leaf(0.1)), "[pc]", HOW)
    second = Seen(2.0, NONE, Row(8, Leaf(5.0)), "[pc]", HOW)
    assert best_views([first, second], 4) == [first, second]


def test_ways_to_add_up_do_not_crowd_out_other_programs() -> None:
    sums = [program(i, f"W(T[l{tail}])") for i, tail in enumerate(("F(c)", "F[pc](c)", "T[pc]"), 1)]
    other = program(9, "G(F(c))")
    assert different([*sums, other], 2) == [sums[0], other]
    assert different(sums, 2) == sums[:2]  # where there are no others


def test_a_short_kernel_after_a_long_one_makes_no_difference() -> None:
    once = frozenset({(7, "W(c)", 1000.0)})
    ends = [Found(i, once, f"{level}[g{{W(c)}}](c)", HOW) for i, level in enumerate("GW", 1)]
    other = program(2000, "G(c)")
    assert different([*ends, other], 2) == [ends[0], other]


def test_without_groups_parallel_loops_of_any_level_are_alike() -> None:
    assert ungrouped("W1m0(Ln0(F(c)))") == ungrouped("G1m0(Gn0(F(c)))") == ungrouped("Wm0(1Gn0(F(c)))")
    assert ungrouped("Wm0([lc]F(c))") != ungrouped("Gm0(F(c))")
    both = [program(1, "G1m0(Gn0(c))"), program(2, "Wm0(Ln0(c))")]
    assert different(both, 2, groups=False) == both[:1]


def test_the_parts_of_a_signature() -> None:
    assert groups("[pc]<F[lc](c)>[g{W(c)}]") == ["[pc]", "<F[lc](c)>", "[g{W(c)}]"]
    assert kernels("G[g{W[g{G(c)}](c)}](c)[lc]") == ["[g{W[g{G(c)}](c)}]"]
    assert skeleton("W(T[lLp0(F[pvw2(F(c))](c))])") == "W[lLp0"
    assert skeleton("Gm0(sn0(F(c)))", groups=False) == skeleton("G1m0(Gn0(c))", groups=False)


def test_what_is_computed_first_alone_is_the_main_part() -> None:
    assert main_part("[pc]" + marked("F(c)", KEPT), KEPT) == "F(c)"
    assert main_part("[g{W(c)}]" + marked("F(c)", SPREAD), SPREAD) == "[g{W(c)}]F(c)"
    assert main_part(marked("F(c)", KEPT), SPREAD) is None
    assert main_part(marked("F(c)", KEPT) + marked("T(c)", KEPT), KEPT) is None
