"""Plain views: made of the argument, literals, arithmetic and layout alone."""

import egglift as el
from benchmarks.programs.catalogue import entry
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.access_costs import Both, Leaf
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.nesting import GROUP, ITEM, LANE, NOBODY
from egglift.egraph.extraction.plain_views import only, smallest
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import ENode, Graph
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.types import F32, Tuple, Type

PAIR = Tuple((F32, F32))
ARG, FIRST = ENode("Arg", (), (PAIR,)), ENode("Fst", (0,))
TWICE, KEPT = ENode("Op2", (1, 1), ("add",)), ENode("To", (2,), ("private",))


def graph(*classes: tuple[ENode, ...]) -> Graph:
    types: dict[int, Type] = {0: PAIR, **dict.fromkeys(range(1, len(classes)), F32)}
    return Graph(dict(enumerate(classes)), len(classes) - 1, types, frozenset(), {}, {})


def test_the_smallest_node_is_chosen_and_none_that_is_no_view() -> None:
    again = ENode("Op2", (2, 1), ("max",))
    found = smallest(graph((ARG,), (FIRST,), (again, KEPT, TWICE)))
    assert found == {0: ARG, 1: FIRST, 2: TWICE}


def test_what_stands_on_a_copy_is_not_plain() -> None:
    above = ENode("Op1", (2,), ("abs",))
    g = graph((ARG,), (FIRST,), (TWICE, KEPT), (above,))
    assert only(g, frozenset({"private"})) == {0, 1}
    assert only(g, frozenset({"local"})) == {0, 1, 2, 3}


def test_a_copy_that_an_executor_cannot_make_does_not_count() -> None:
    g = graph((ARG,), (FIRST,), (TWICE, KEPT))
    plain = Extractor(g, weights(presets()["nvidia_h200"])).plain
    assert plain.covers(2, GROUP) and plain.covers(2, NOBODY)
    assert not plain.covers(2, ITEM) and not plain.covers(2, LANE)


def test_what_is_computed_before_but_closed_does_not_count() -> None:
    fold = ENode("Fold", (), ())
    g = graph((ARG,), (FIRST,), (fold,), (ENode("Op2", (1, 2), ("add",)),))
    assert 3 not in only(g, frozenset({"Fold"}))
    assert 3 in only(g, frozenset({"Fold"}), frozenset({2}))


def test_a_plain_view_reads_its_part_of_the_argument() -> None:
    g = graph((ARG,), (FIRST,), (TWICE,))
    seen = Extractor(g, weights(presets()["nvidia_h200"])).view(2, ITEM, Both(Leaf(5.0), Leaf(100.0)))
    assert [s.value for s in seen] == [Leaf(11.0)]


def test_plain_views_are_in_no_table() -> None:
    g = saturate(el.as_program(entry("dot").program(1000))).graph
    extractor = Extractor(g, weights(presets()["pocl_cpu"]))
    extractor.run()
    for result, c, who, _ in extractor.table.final:
        assert result or not extractor.plain.covers(c, who)
