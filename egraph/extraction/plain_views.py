"""Plain views: of the argument, literals, arithmetic and layout alone.

Nothing is staged or computed beforehand, so all nodes of a class read the same memory in the same way, for every
executor: the smallest will do, and no k best are needed.  Most of what extraction looks at is plain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from egglift.egraph.extraction.access_costs import Row, ViewPrice
from egglift.egraph.extraction.nesting import Executor
from egglift.egraph.extraction.solutions import NONE, Seen, Term
from egglift.egraph.graph.graph import ENode, Graph

REDUCTIONS = ("Fold", "FoldUnroll", "FoldAhead", "Tree", "ScanSeq", "ScanDoubling", "Iterate")
MEMORY = ("Input", "Constant")  # dearer for one lane than for a work-item
NO_VIEW = ("MapL", "Reduce", "Scan", "Count", "Sums", "To", "Increase", *MEMORY, *REDUCTIONS)

#: what is more than plain, by the kind of executor: nodes, and memories that things are kept in
MORE = {
    "group": (*MEMORY, *REDUCTIONS, "Increase", "local", "global"),
    "item": (*MEMORY, *REDUCTIONS, "private", "global"),
    "": (*MEMORY, "global"),
}
KINDS = {"group": "group", "item": "item", "lane": "item", "lanes": "item"}


@dataclass
class Plain:
    """The plain views of `graph`.  made: the value of a node as a function of those of its parts."""

    graph: Graph
    made: Callable[[ENode], Callable[..., ViewPrice]]
    filled: Callable[[int, float], ViewPrice]
    _known: dict[tuple[int, ViewPrice | None], Seen | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._smallest = smallest(self.graph)
        self._only = {kind: only(self.graph, frozenset(more)) for kind, more in MORE.items()}
        self._ready = only(self.graph, frozenset((*REDUCTIONS, "private")), self.graph.closed)

    def covers(self, c: int, who: Executor) -> bool:
        """Does `who` read class `c` by plain views only?"""
        return c in self._only[KINDS.get(who.kind, "")]

    def is_ready(self, c: int) -> bool:
        """Is all that class `c` computes beforehand closed, and so the same wherever it is read?"""
        return c in self._ready

    def view(self, c: int, arg: ViewPrice | None) -> Seen | None:
        """The smallest plain view of class `c`, if there is one."""
        node = self._smallest.get(c)
        if node is None:
            return None
        if node.op in ("Arg", "Fst", "Snd"):
            return self._part(node, arg)
        key = c, arg
        if key not in self._known:
            self._known[key] = self._view(c, node, arg)
        return self._known[key]

    def _part(self, node: ENode, arg: ViewPrice | None) -> Seen | None:
        """A part of a pair: not worth remembering."""
        if node.op == "Arg":
            return None if arg is None else Seen(0.0, NONE, arg, "", Term(node, ()))
        s = self.view(node.children[0], arg)
        return s and Seen(s.setup, NONE, self.made(node)(s.value), "", Term(node, (s.how,)))

    def _view(self, c: int, node: ENode, arg: ViewPrice | None) -> Seen | None:
        if node.op in ("Lit", "Iota"):
            return Seen(0.0, NONE, self.filled(c, 0.0), "", Term(node, ()))
        if node.op == "Map":
            return self._lazy(node, arg)
        parts = [s for k in node.children if (s := self.view(k, arg)) is not None]
        if len(parts) < len(node.children):
            return None
        return Seen(0.0, NONE, self.made(node)(*(s.value for s in parts)), "", Term(node, tuple(s.how for s in parts)))

    def _lazy(self, node: ENode, arg: ViewPrice | None) -> Seen | None:
        """A map that is evaluated element by element, where one is read."""
        body, over = node.children
        s = self.view(over, arg)
        if s is None:
            return None
        assert isinstance(s.value, Row)
        b = self.view(body, s.value.each)
        return b and Seen(0.0, NONE, Row(s.value.n, b.value), "", Term(node, (b.how, s.how)))


def smallest(graph: Graph) -> dict[int, ENode]:
    """Of every class that has plain views the node of the smallest."""
    parents: dict[int, list[tuple[int, ENode]]] = {}
    work: list[tuple[int, ENode]] = []
    for c, nodes in graph.classes.items():
        for node in nodes:
            if node.op not in NO_VIEW:
                work.append((c, node))
                for k in node.children:
                    parents.setdefault(k, []).append((c, node))
    best: dict[int, tuple[int, ENode]] = {}
    while work:
        again: dict[int, None] = {}
        for c, node in work:
            if all(k in best for k in node.children):
                weight = 1 + sum(best[k][0] for k in node.children)
                if c not in best or weight < best[c][0]:
                    best[c] = weight, node
                    again[c] = None
        work = [item for c in again for item in parents.get(c, ())]
    return {c: node for c, (_, node) in best.items()}


def only(graph: Graph, more: frozenset[str], whatever: frozenset[int] = frozenset()) -> frozenset[int]:
    """Classes whose views are plain: nothing below them is of `more`, but in classes that may be `whatever`."""
    parents: dict[int, set[int]] = {}
    work: list[int] = []
    for c in graph.classes.keys() - whatever:
        for node in graph.classes[c]:
            if node.op in more or (node.op == "To" and node.data[0] in more):
                work.append(c)
            elif node.op not in NO_VIEW:
                for k in node.children:
                    parents.setdefault(k, set()).add(c)
    other: set[int] = set()
    while work:
        c = work.pop()
        if c not in other:
            other.add(c)
            work.extend(parents.get(c, ()))
    return frozenset(graph.classes.keys() - other)
