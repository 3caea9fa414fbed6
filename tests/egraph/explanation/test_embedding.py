"""Graphs of the same program under fewer laws, found in the graph under all of them."""

from __future__ import annotations

import pytest

from egglift.egraph.explanation.embedding import Embedding, Host
from egglift.egraph.explanation.law_matching import equations, makes, matches
from egglift.egraph.rules.book import book
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.traverse import subterms
from tests.egraph.programs import PROGRAMS, dot, gemv


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_is_embedded_in_itself(name: str) -> None:
    graph = saturate(PROGRAMS[name](1000)).graph
    inside = Embedding(graph, Host(graph))
    assert all(there == here for here, there in inside.classes.items())
    assert inside.values == Host(graph).values


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_under_fewer_laws_is_part_of_the_graph_under_all(name: str) -> None:
    program = PROGRAMS[name](1000)
    host = Host(saturate(program).graph)
    fewer = saturate(program, disabled=["vectorise-reduce", "chunk", "map-local"]).graph
    inside = Embedding(fewer, host)
    assert inside.at(fewer.root) == host.graph.root
    assert sum(c is not None for c in inside.classes.values()) > 0.9 * len(fewer.classes)


def test_tile_lengths_that_were_renamed_are_recognised() -> None:
    program = dot(100_000)
    host, fewer = Host(saturate(program).graph), saturate(program, disabled=["chunk"]).graph
    inside = Embedding(fewer, host)
    ours = {value: name for name, value in host.values.items()}
    found = {name: ours[value] for name, value in inside.values.items() if value in ours}
    assert set(found) == set(fewer.symbols), "each tile length is one of the larger graph"
    assert len(set(found.values())) == len(found)
    assert any(name != other for name, other in found.items()), "some have another name there"
    assert all(fewer.symbols[name].kind == host.graph.symbols[other].kind for name, other in found.items())


def test_the_parts_of_a_program_are_found() -> None:
    program = gemv(100)
    host = Host(saturate(program).graph)
    found = host.find(program, host.values)
    assert found[program].c == host.graph.root
    assert all(found[t].node in host.graph.classes[found[t].c] for t in subterms(program) if t in found)
    assert dot(100) not in host.find(dot(100), host.values)


def test_a_law_matches_what_it_takes_and_yields_what_it_makes() -> None:
    graph = saturate(gemv(100)).graph
    (law,) = equations(book()["map-global"])
    found = list(matches(law, graph.root, graph.classes.__getitem__))
    maps = [n for n in graph.classes[graph.root] if n.op == "Map"]
    assert [place.node for match in found for place in match.nodes] == maps
    assert [{match.classes["f"], match.classes["x"]} for match in found] == [set(n.children) for n in maps]
    made = [n for n in graph.classes[graph.root] if law.yields(n)]
    assert made and {str(n.data[0]) for n in made} == {"global0"}, "no other level"


def test_laws_are_told_apart_by_all_that_they_make() -> None:
    graph = saturate(dot(100_000), laws=["deal", "chunk"]).graph
    nodes = [n for n in graph.classes[graph.root] if n.op == "Reduce"]

    def made_by(law: str) -> set[int]:
        (q,) = equations(book()[law])
        found = list(matches(q, graph.root, graph.classes.__getitem__))
        made = [n for n in nodes if any(makes(q, n, m, graph.classes.__getitem__) for m in found)]
        return {i for i, n in enumerate(nodes) if n in made}

    assert made_by("deal") and made_by("chunk")
    assert not made_by("deal") & made_by("chunk")
