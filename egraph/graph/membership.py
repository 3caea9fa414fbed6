"""Is a program in a frozen e-graph?"""

from __future__ import annotations

from dataclasses import fields

from egglift.egraph.graph.encode import literal_text
from egglift.egraph.graph.graph import ENode, Graph
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Operator
from egglift.ir.traverse import bodies, children, is_expr, subterms


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
    """The node of a pattern over classes of its bodies and children: the inverse of `frozen.build`."""
    match e:
        case p.Apply(op, args):
            return ENode(f"Op{len(args)}", kids, (op,))
        case p.Literal(value, t):
            return ENode("Lit", kids, (float(value) if t.is_float else value, t))
        case p.Constant(t):
            return ENode("Constant", kids, (e, t))
        case p.Get(i):
            return ENode("Snd" if i else "Fst", kids)
        case p.Map(_, _, level):
            return ENode("Map", kids) if level is None else ENode("MapL", kids, (level,))
        case p.Fold(_, _, _, False, n) if n != 0:
            return ENode("FoldAhead", kids, (n,))
        case p.To("local", _, n) if n != 0:
            return ENode("Increase", kids, (n,))
        case p.To(space):
            return ENode("To", kids, (space,))
        case p.Fold(_, _, _, unroll):
            return ENode("FoldUnroll" if unroll else "Fold", kids)
        case p.Pad(left, right, mode, _, value):
            data = (left, right)
            return ENode("PadConst", kids, data) if value is not None else ENode("Pad", kids, (*data, mode))
        case p.PadUp(k, _, value):
            return ENode("PadUp" if value is None else "PadUpConst", kids, (k,))
    values = (getattr(e, f.name) for f in fields(e))
    rest = tuple(v for v in values if isinstance(v, Operator) or not (is_expr(v) or isinstance(v, tuple)))
    return ENode(type(e).__name__, kids, rest)
