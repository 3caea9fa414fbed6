"""Are all bodies applied to what they take?

A law can be right in value and wrong in type: it may keep an old `Arg` type in a body whose array has another
element type.  Then numbers agree and lengths do not.
"""

from __future__ import annotations

from collections import defaultdict

from egglift.egraph.graph.graph import ENode, Graph, build
from egglift.egraph.rules.constructors import CONSTRUCTORS
from egglift.egraph.rules.language import signatures
from egglift.ir.errors import RuleError
from egglift.ir.schemes import Function, filled, told
from egglift.ir.text import brief
from egglift.ir.types import Type


def check_bodies(graph: Graph) -> None:
    """Compare the type of every body's Arg with what the body is applied to; RuleError if they differ.

    So if a class has no type: what it is made of does not fit together.
    """
    for c in graph.classes.keys() - graph.types.keys():
        raise RuleError(f"type clash: {brief(graph.term(c))} has no type; some law puts together what does not fit")
    arguments = _arguments(graph)
    for nodes in graph.classes.values():
        for node in nodes:
            applied = _applied(node, graph)
            if applied is not None:
                body, t = applied
                if body in arguments and arguments[body] != t:
                    _fail(graph, node, arguments[body], t)


def _arguments(graph: Graph) -> dict[int, Type]:
    """The type of the Arg that each class depends on, if it does; RuleError if there are two."""
    parents: dict[int, list[tuple[int, ENode]]] = defaultdict(list)
    work: list[tuple[int, Type, ENode]] = []
    for c, nodes in graph.classes.items():
        for node in nodes:
            if node.op == "Arg":
                work.append((c, node.data[0], node))
            for k in _in_scope(node):
                parents[k].append((c, node))
    types: dict[int, Type] = {}
    while work:
        c, t, node = work.pop()
        if c not in types:
            types[c] = t
            work.extend((parent, t, by) for parent, by in parents[c])
        elif types[c] != t:
            _fail(graph, node, types[c], t)
    return types


def _in_scope(node: ENode) -> list[int]:
    """The children in the scope of the node's own Arg: not its bodies."""
    kinds = [k for k in signatures()[node.op] if k in ("expr", "body")]
    return [c for c, k in zip(node.children, kinds, strict=True) if k == "expr"]


def _applied(node: ENode, graph: Graph) -> tuple[int, Type] | None:
    """A node's body, and the type of what it is applied to."""
    kinds = signatures()[node.op]
    scheme = CONSTRUCTORS[node.op].scheme if "body" in kinds else None
    if scheme is None:
        return None
    names: dict[str, Type] = {}
    for c, t in zip(node.children, scheme.takes, strict=True):
        names |= told(t, graph.types[c])
    return next((c, filled(t.takes, names)) for c, t in zip(node.children, scheme.takes) if isinstance(t, Function))


def _fail(graph: Graph, node: ENode, one: Type, other: Type) -> None:
    where = brief(build(node, [graph.term(k) for k in node.children]))
    raise RuleError(
        f"type clash: {where}: a body's argument is {one}, but it is applied to {other}; "
        "some law writes the wrong type into Arg, or keeps an old one"
    )
