"""E-graphs as networkx graphs."""

import networkx as nx

import egglift as el
from egglift.egraph.graph.networkx_view import as_networkx, cycles, dot
from egglift.egraph.saturation.saturate import saturate


def test_every_class_is_reached_from_the_root() -> None:
    graph = saturate(el.as_program(el.array("x", el.f32, 4097).reduce(el.add, 0.0))).graph
    g = as_networkx(graph)
    reached = nx.descendants(g, g.graph["root"]) | {g.graph["root"]}
    assert {n for n, kind in g.nodes(data="kind") if kind == "class"} <= reached


def test_a_sum_is_cyclic_because_it_equals_sums_of_its_parts() -> None:
    graph = saturate(el.as_program(el.array("x", el.f32, 4097).reduce(el.add, 0.0))).graph
    assert cycles(graph)


def test_the_picture_names_the_patterns() -> None:
    graph = saturate(el.as_program(el.array("x", el.f32, 4097).map(lambda v: v * 2))).graph
    text = dot(graph)
    assert text.startswith("digraph") and "MapL global0" in text and "Input x" in text
