"""Which form of a program several devices take: the one whose blocks, copies and borders are the fewest bytes.

A class of the e-graph that no argument reaches is a value of the whole program; it is computed by `mapDevice`, or by
one device alone.  In the body of a `mapDevice` such a value is a copy that every device has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import inf, prod

from egglift.egraph.graph.graph import ENode, Graph, build
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym, computed
from egglift.ir.traverse import subterms
from egglift.ir.types import leaves

#: what a node costs beside the bytes that it moves, so that of two equal terms the smaller is taken
NODE = 1e-3
#: an array that one device computes alone counts so many times
ALONE = 16.0
#: patterns that compute for every element they read
_COMPUTING = (
    "Reduce",
    "Fold",
    "FoldUnroll",
    "FoldAhead",
    "Tree",
    "Scan",
    "ScanSeq",
    "ScanDoubling",
    "Count",
    "Sums",
    "Iterate",
)
_SCALAR = ("Op1", "Op2", "Op3", "Cast")


@dataclass
class Forms:
    """The e-graph of a program that is to be shared out among some devices.

    divided: names of inputs that no device may have as a whole: other forms are looked for.
    """

    graph: Graph
    devices: int
    divided: Collection[str] = ()
    _works: dict[int, bool] = field(default_factory=dict)

    def best(self) -> Expr:
        """The program with the least price; the source's own form where no device can be given a block."""
        costs, chosen = self._settled()
        if (self.graph.root, False) not in chosen:
            return self.graph.term(self.graph.root)
        return self._term(self.graph.root, costs, chosen)

    # ------------------------------------------------------------------------------------ prices

    def _settled(self) -> tuple[dict[tuple[int, bool], float], dict[tuple[int, bool], ENode]]:
        """The least price of every class, and the node that has it: outside of devices, and in the body of one."""
        costs: dict[tuple[int, bool], float] = {}
        chosen: dict[tuple[int, bool], ENode] = {}
        changed = True
        while changed:
            changed = False
            for c, nodes in self.graph.classes.items():
                for inside in (False, True):
                    for node in nodes:
                        cost = self._price(c, node, inside, costs)
                        if cost < costs.get((c, inside), inf) * (1 - 1e-9):
                            costs[c, inside], chosen[c, inside] = cost, node
                            changed = True
        return costs, chosen

    def _price(self, c: int, node: ENode, inside: bool, costs: dict[tuple[int, bool], float]) -> float:
        if inside and c in self.graph.closed:
            return self._captured(c, node, costs)
        if is_device(node):
            return self._blocks(c, node, costs)
        if inside:
            return NODE + sum(costs.get((k, True), inf) for k in node.children)
        if node.op == "Distl" and self._is_divided(node.children[0]):
            return inf
        parts = [(k, k not in self.graph.closed) for k in node.children]
        alone = self._alone(c, node) if self._computes(node) else 0.0
        return NODE + alone + sum(costs.get(key, inf) for key in parts)

    def _alone(self, c: int, node: ENode) -> float:
        """The price of what one device computes: of all that it reads and writes, but what devices have left of it."""
        arrays = [k for k in node.children if k in self.graph.closed]
        if any(map(self._is_of_devices, arrays)):
            return 0.0
        return ALONE * (sum(map(self.bytes, arrays)) + self.bytes(c))

    def _is_of_devices(self, c: int) -> bool:
        """Is a class what several devices give, an element each?"""
        parts = {k for node in self.graph.classes[c] if node.op == "Concat" for k in node.children}
        return any(is_device(node) for k in {c, *parts} for node in self.graph.classes[k])

    def _captured(self, c: int, node: ENode, costs: dict[tuple[int, bool], float]) -> float:
        """A value of the whole program in the body of a device's map: each device gets a copy."""
        if self._is_divided(c):
            return inf
        known = costs.get((c, False), inf)
        return known + self.devices * self.bytes(c) if reads(self.graph.term(c)) else known

    def _is_divided(self, c: int) -> bool:
        """Does a class read inputs that no device may have as a whole?"""
        return not set(self.divided).isdisjoint(names_in(self.graph.term(c)))

    def _blocks(self, c: int, node: ENode, costs: dict[tuple[int, bool], float]) -> float:
        body, x = node.children
        inner = costs.get((body, True), inf)
        if self.is_rest(x):
            return NODE if inner < inf else inf
        return NODE + inner + costs.get((x, False), inf) + self.bytes(x) + self.bytes(c)

    def is_rest(self, c: int) -> bool:
        """Is an array the one block that is left when others are cut off?"""
        return any(node.op == "Fill" for node in self.graph.classes[c])

    def _computes(self, node: ENode) -> bool:
        """Does a node compute something for every element of an array?"""
        if node.op in ("Map", "MapL"):
            return self.works(node.children[0])
        return node.op in _COMPUTING

    def works(self, c: int) -> bool:
        """Does a class compute something, rather than rearrange?"""
        if c not in self._works:
            self._works[c] = works(self.graph.term(c))
        return self._works[c]

    # ------------------------------------------------------------------------------------ sizes and terms

    def bytes(self, c: int) -> float:
        """Bytes of the values of a class, with blocks of one length for all devices."""
        return float(sum(prod(map(self._number, shape)) * scalar.size for shape, scalar in leaves(self.graph.types[c])))

    def _number(self, n: Size) -> int:
        match n:
            case Sym(name):
                cut = self.graph.symbols.get(name)
                return -(-self._number(cut.length) // self.devices) if cut else 1
            case SizeOp(op, a, b):
                return max(0, computed(op, self._number(a), self._number(b)))
        return n

    def _term(self, root: int, costs: dict[tuple[int, bool], float], chosen: dict[tuple[int, bool], ENode]) -> Expr:
        memo: dict[tuple[int, bool], Expr] = {}

        def go(c: int, inside: bool) -> Expr:
            if (c, inside) not in memo:
                if inside and c in self.graph.closed:
                    memo[c, inside] = go(c, False)
                    return memo[c, inside]
                node = chosen[c, inside]
                if is_device(node) and self.is_rest(node.children[1]):
                    memo[c, inside] = self.graph.term(c)
                    return memo[c, inside]
                body = is_device(node)
                kids = [go(k, inside or (body and i == 0) or self._in_body(k)) for i, k in enumerate(node.children)]
                memo[c, inside] = build(node, kids)
            return memo[c, inside]

        return go(root, False)

    def _in_body(self, c: int) -> bool:
        return c not in self.graph.closed


def is_device(node: ENode) -> bool:
    """Is a node a map over devices?"""
    return node.op == "MapL" and node.data[0].kind == "device"


def works(e: Expr) -> bool:
    """Does a program compute something, rather than rearrange?"""
    computing = (
        p.Apply | p.Cast | p.Reduce | p.Fold | p.Tree | p.Scan | p.ScanSeq | p.ScanDoubling | p.Count | p.Iterate
    )
    return any(isinstance(t, computing) for t in subterms(e))


def reads(e: Expr) -> bool:
    """Does a program read inputs?"""
    return next(iter(names_in(e)), None) is not None


def names_in(e: Expr) -> Iterator[str]:
    """The names of the inputs that a program reads."""
    return (t.name for t in subterms(e) if isinstance(t, p.Input))
