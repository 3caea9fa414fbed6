"""What the rules of extraction know and may ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from egglift.egraph.extraction import access_costs, layout_costs
from egglift.egraph.extraction.access_costs import ViewPrice
from egglift.egraph.extraction.nesting import Executor
from egglift.egraph.extraction.nominal_sizes import Nominal
from egglift.egraph.extraction.solutions import Found, Seen
from egglift.egraph.extraction.weights import Weights
from egglift.egraph.graph.graph import ENode, Graph
from egglift.ir.patterns import Expr
from egglift.ir.sizes import symbols
from egglift.ir.types import Array, Tuple, Type

FOLDS = ("Fold", "FoldUnroll", "FoldAhead")
SCANS = ("ScanSeq", "ScanDoubling")
TINY = 1e-3  # a price for every node, so that no view loops
AGAIN = 1.05  # what is computed element by element, where it is read, is rarely better than a loop of its own


@dataclass
class Context(ABC):
    """A graph, a device of `weights`, and the answers for other classes.

    k: programs to keep of each state; most_views: views.  levels: those that may be used (None: all).
    """

    graph: Graph
    weights: Weights
    k: int = 10
    most_views: int = 4
    levels: frozenset[str] | None = None
    nominal: Nominal = field(init=False, repr=False)
    layout: Callable[[int], Expr | None] = field(init=False, repr=False)  # of bodies that only rearrange
    _made: dict[int, Callable[..., ViewPrice]] = field(default_factory=dict, repr=False)
    _filled: dict[tuple[int, float], ViewPrice] = field(default_factory=dict, repr=False)
    _tiles: dict[int, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.nominal = Nominal(self.graph.symbols, self.weights)
        self.layout = layout_costs.layouts(self.graph)

    @abstractmethod
    def result(self, c: int, who: Executor, arg: ViewPrice | None) -> list[Found]:
        """Programs by which `who` writes class `c`."""

    @abstractmethod
    def view(self, c: int, who: Executor, arg: ViewPrice | None) -> list[Seen]:
        """Expressions by which `who` reads class `c`."""

    @abstractmethod
    def read_again(self, body: int, who: Executor, element: ViewPrice) -> list[Seen]:
        """Expressions by which `who` evaluates class `body` wherever an element is read."""

    def made(self, node: ENode) -> Callable[..., ViewPrice]:
        """The value of arithmetic or layout `node` of the graph, as a function of those of its parts."""
        known = self._made.get(id(node))
        if known is None:
            known = self._made[id(node)] = layout_costs.made(node, self.nominal, self.weights.op)
        return known

    def filled(self, c: int, each: float) -> ViewPrice:
        """The value of class `c` in a memory where an access costs `each`."""
        known = self._filled.get((c, each))
        if known is None:
            known = access_costs.fill(self.graph.types[c], access_costs.rounded(each), self.nominal.number)
            known = self._filled[c, each] = access_costs.closed(known) if c in self.graph.closed else known
        return known

    def tiles(self, c: int) -> str:
        """The tile symbols in the length of array class `c`: part of a loop's signature."""
        if c not in self._tiles:
            t = self.graph.types[c]
            self._tiles[c] = "".join(sorted(symbols(t.length))) if isinstance(t, Array) else ""
        return self._tiles[c]

    def is_array(self, c: int) -> bool:
        """Is the value of class `c` made of arrays?"""
        return _holds_arrays(self.graph.types[c])


def _holds_arrays(t: Type) -> bool:
    return isinstance(t, Array) or (isinstance(t, Tuple) and any(map(_holds_arrays, t.items)))
