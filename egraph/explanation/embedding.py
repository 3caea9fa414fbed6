"""One frozen e-graph inside another: the same programs under other numbers of classes and names of tile lengths.

Graphs of the same program under fewer laws number their classes and tile lengths anew.  What stays is content: an
array is the same if its parts are, a tile length if its kind and the array that it cuts are.  Lengths are compared by
a fingerprint, computed from one number for each tile length of the larger graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from egglift.egraph.graph.encode import literal_text
from egglift.egraph.graph.graph import ENode, Graph
from egglift.egraph.graph.membership import node_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym, symbols
from egglift.ir.traverse import bodies, children, subterms
from egglift.ir.types import Array, Tuple, Type

_PRIME = (1 << 61) - 1

#: a node by content: operator, classes of its parts, everything else
Key = tuple[object, ...]


@dataclass(frozen=True)
class Place:
    """A node of a graph and its class."""

    c: int
    node: ENode


@dataclass
class Host:
    """A graph in which programs and other graphs are found.  values: a fingerprint for each of its tile lengths."""

    graph: Graph
    values: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.graph.symbols:
            self.values.setdefault(name, fingerprint(name))

    @cached_property
    def index(self) -> dict[Key, Place]:
        """Its nodes by content."""
        return {self.key(node): Place(c, node) for c, nodes in self.graph.classes.items() for node in nodes}

    @cached_property
    def cuts(self) -> dict[tuple[str, object], str]:
        """Its tile lengths by kind and what they cut: an array, or, where no program holds it, so many elements."""
        found: dict[tuple[str, object], str] = {}
        for s in self.graph.symbols.values():
            found.setdefault((s.kind, ("length", length_value(s.length, self.values))), s.name)
            found[s.kind, s.array] = s.name
        return found

    def key(self, node: ENode) -> Key:
        """One of its own nodes by content."""
        return content(node, node.children, self.values)

    def holds(self, e: Expr, values: Mapping[str, int]) -> bool:
        """Is `e` one of the programs of its root?"""
        place = self.find(e, values).get(e)
        return place is not None and place.c == self.graph.root

    def find(self, e: Expr, values: Mapping[str, int]) -> dict[Expr, Place]:
        """Where the graph holds the sub-expressions of `e` (over binary tuples); those that it lacks are left out.

        values: the fingerprints of the tile lengths in `e`.
        """
        known: dict[Expr, Place] = {}
        for t in subterms(e):
            parts = (*bodies(t), *children(t))
            kids = tuple(known[k].c for k in parts if k in known)
            place = self.index.get(content(node_of(t, kids), kids, values)) if len(kids) == len(parts) else None
            if place is not None:
                known[t] = place
        return known


@dataclass
class Embedding:
    """Where the classes and tile lengths of `guest` are in `host`.

    A class that the host lacks is None there; a tile length that it lacks has a fingerprint that nothing else has.
    """

    guest: Graph
    host: Host
    classes: dict[int, int | None] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.guest.symbols:
            self._measure(name)
        for c in self.guest.classes:
            self.at(c)

    def at(self, c: int) -> int | None:
        """The host's class of the guest's class `c`: that of its smallest program."""
        stack = [c]
        while c not in self.classes:
            top = stack[-1]
            node = self.guest.smallest[top]
            todo = [k for k in node.children if k not in self.classes]
            if todo:
                stack.extend(todo)
                continue
            stack.pop()
            for name in _mentioned(node):
                self._measure(name)
            key = self.key(node)
            place = None if key is None else self.host.index.get(key)
            self.classes[top] = place.c if place else None
        return self.classes[c]

    def key(self, node: ENode) -> Key | None:
        """A node of the guest by its content in the host; None if one of its parts is not there."""
        kids = tuple(k for k in map(self.at, node.children) if k is not None)
        return content(node, kids, self.values) if len(kids) == len(node.children) else None

    def _measure(self, name: str) -> None:
        """Settle the fingerprint of a tile length, after those by which the array that it cuts is long."""
        if name in self.values or name not in self.guest.symbols:
            return
        symbol = self.guest.symbols[name]
        self.values[name] = fingerprint(f"only here: {name}")  # while its array is looked for, and if it is not there
        for inner in symbols(symbol.length):
            self._measure(inner)
        cut: object = self.at(symbol.array) if symbol.array in self.guest.classes else None
        if cut is None:
            cut = ("length", length_value(symbol.length, self.values))
        known = self.host.cuts.get((symbol.kind, cut))
        if known is not None:
            self.values[name] = self.host.values[known]


# ------------------------------------------------------------------------------------ fingerprints


def fingerprint(text: object) -> int:
    """A number for anything with a `repr`, the same in every process."""
    return int.from_bytes(blake2b(repr(text).encode(), digest_size=16).digest(), "little") % _PRIME


def length_value(size: Size, values: Mapping[str, int]) -> int:
    """A length's fingerprint: sums and products as numbers, quotients by what they are made of."""
    match size:
        case int():
            return size
        case Sym(name):
            return values[name] if name in values else fingerprint(name)
        case SizeOp(op, a, b):
            x, y = length_value(a, values), length_value(b, values)
            return fingerprint((x, y)) if op == "/" else {"+": x + y, "-": x - y, "*": x * y}[op] % _PRIME


def content(node: ENode, kids: tuple[int, ...], values: Mapping[str, int]) -> Key:
    """What a node is, with classes `kids` as its parts and lengths as fingerprints."""
    if node.op == "Lit":  # by text: 0.0 == -0.0, and a NaN equals nothing
        return ("Lit", literal_text(*node.data), node.data[1])
    return (node.op, kids, tuple(_plain(d, values) for d in node.data))


def _plain(d: object, values: Mapping[str, int]) -> object:
    match d:
        case int() | Sym() | SizeOp():
            return length_value(d, values)
        case Array(n, t):
            return ("array", length_value(n, values), _plain(t, values))
        case Tuple(items):
            return ("tuple", *(_plain(t, values) for t in items))
    return d


def _mentioned(node: ENode) -> frozenset[str]:
    """The tile lengths in a node's own lengths and types."""
    found: frozenset[str] = frozenset()
    for d in node.data:
        if isinstance(d, Sym | SizeOp):
            found |= symbols(d)
        elif isinstance(d, Array | Tuple):
            found |= _in_type(d)
    return found


def _in_type(t: Type) -> frozenset[str]:
    match t:
        case Array(n, element):
            return symbols(n) | _in_type(element)
        case Tuple(items):
            return frozenset().union(*map(_in_type, items))
    return frozenset()
