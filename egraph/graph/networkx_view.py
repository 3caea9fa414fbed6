"""E-graphs as networkx graphs: to look at, to find cycles, to draw.

A class is a node `c7`; each way to compute it is a node `c7.0`, `c7.1`, ... with an edge from its class, and one edge
to each class that it is computed from.
"""

from __future__ import annotations

import networkx as nx

from egglift.egraph.graph.graph import ENode, Graph
from egglift.ir.types import Type


def as_networkx(graph: Graph) -> nx.DiGraph:
    """The e-graph as a directed graph; nodes have `kind` ("class" or "node"), `label`, and classes their `type`."""
    g = nx.DiGraph(root=f"c{graph.root}")
    for c, nodes in graph.classes.items():
        g.add_node(f"c{c}", kind="class", label=_type(graph.types.get(c)), type=graph.types.get(c))
        for i, node in enumerate(nodes):
            name = f"c{c}.{i}"
            g.add_node(name, kind="node", label=_label(node))
            g.add_edge(f"c{c}", name)
            for position, child in enumerate(node.children):
                g.add_edge(name, f"c{child}", position=position)
    return g


def cycles(graph: Graph) -> list[set[int]]:
    """Sets of classes that contain each other: `x = join (split k x)` puts x and its chunks into one.

    Extraction iterates each of them to a fixpoint; everything else is computed once.
    """
    g = as_networkx(graph)
    found = []
    for component in nx.strongly_connected_components(g):
        classes = {int(name[1:]) for name in component if "." not in name}
        if len(component) > 1:
            found.append(classes)
    return sorted(found, key=lambda classes: (-len(classes), min(classes)))


def dot(graph: Graph, most: int = 200) -> str:
    """Graphviz text of the classes nearest to the root, at most `most` of them: render it with `dot -Tsvg`."""
    g = as_networkx(graph)
    near = nx.single_source_shortest_path_length(g, f"c{graph.root}")
    kept = [name for name in near if "." not in name][:most]
    lines = ["digraph egraph {", "  compound=true; node [shape=box, fontname=monospace];"]
    for name in kept:
        lines.append(f'  subgraph cluster_{name} {{ label="{g.nodes[name]["label"]}"; style=rounded;')
        lines += [f'    "{node}" [label="{g.nodes[node]["label"]}"];' for node in g.successors(name)]
        lines.append("  }")
    inside = set(kept)
    for name in kept:
        for node in g.successors(name):
            for child in g.successors(node):
                first = next(g.successors(child), None)
                if child in inside and first is not None:
                    lines.append(f'  "{node}" -> "{first}" [lhead=cluster_{child}];')
    return "\n".join([*lines, "}"])


def _label(node: ENode) -> str:
    data = " ".join(str(d) for d in node.data if not isinstance(d, bytes))
    text = f"{node.op} {data}".strip().replace('"', "'")
    return text if len(text) <= 60 else text[:57] + "..."


def _type(t: Type | None) -> str:
    return "" if t is None else str(t).replace('"', "'")
