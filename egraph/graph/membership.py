"""Is a program in a frozen e-graph?"""

from __future__ import annotations

from egglift.egraph.graph.encode import literal_text
from egglift.egraph.graph.graph import ENode, Graph
from egglift.egraph.rules.constructors import SPELLINGS
from egglift.ir import patterns as p
from egglift.ir.forms import IN_SCOPE
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, subterms


def find(graph: Graph, e: Expr) -> int | None:
    """The class that holds `e` (over binary tuples and the graph's symbols), or None if no class does."""
    index = {_key(node): c for c, nodes in graph.classes.items() for node in nodes}
    known: dict[Expr, int | None] = {}
    for t in subterms(e):
        kids = [known[k] for k in (*bodies(t), *children(t))]
        classes = tuple(k for k in kids if k is not None)
        known[t] = index.get(_key(node_of(t, classes))) if len(classes) == len(kids) else None
    return known[e]


def _key(node: ENode) -> object:
    """Literals by their text: 0.0 == -0.0, and a NaN equals nothing."""
    return ("Lit", literal_text(*node.data), node.data[1]) if node.op == "Lit" else node


def node_of(e: Expr, kids: tuple[int, ...]) -> ENode:
    """The node of a pattern over classes of its bodies and children: the inverse of `build`."""
    form = SPELLINGS.form_of(e)
    data = tuple(getattr(e, name) for name, kind in form.slots if kind not in (*IN_SCOPE, "body"))
    if isinstance(e, p.Literal) and e.type.is_float:
        data = (float(e.value), e.type)
    return ENode(form.head, kids, data)
