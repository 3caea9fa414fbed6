"""Extraction: the k best low-level programs of an e-graph, structurally different, every nesting legal.

A dynamic program over (e-class, executor, prices of the argument).  The executor says who is running here and so
which levels may follow (nesting.py): the grid, a work-group, a work-item, the lanes of a vector.  The prices of the
argument (access_costs.py) give closed bodies their context without substitution.  A class is asked for in two ways:
for its *result* (programs.py: code that writes it) and as a *view* (views.py: an expression that reads it).
"""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from egglift.egraph.extraction.access_costs import ViewPrice, argument
from egglift.egraph.extraction.context import Context
from egglift.egraph.extraction.fixpoint import Fixpoint
from egglift.egraph.extraction.nesting import GRID, Executor
from egglift.egraph.extraction.plain_views import Plain
from egglift.egraph.extraction.programs import programs
from egglift.egraph.extraction.solutions import Found, Seen, best, best_views, different, same
from egglift.egraph.extraction.views import views
from egglift.ir.deep import deep

MOST = 12  # programs that are found
MANY = 20  # times as many programs as are kept are compared for the whole
ALIKE = 2  # programs of the same loops and staging among them, while there are others
State = tuple[bool, int, Executor, ViewPrice | None]  # results or views, the class, who asks, the argument


@dataclass
class Extractor(Context):
    """The k best programs of `graph` for a device of `weights`: `Extractor(graph, weights(profile)).run()`.

    seconds: `run` may take, else TimeoutError: chains of hundreds of arrays that may each be kept grow with the cube.
    """

    seconds: float = math.inf
    start: float = field(default_factory=perf_counter, init=False, repr=False)
    plain: Plain = field(init=False, repr=False)
    #: lists of Found for results (True), of Seen for views (False), in one table: they call each other
    table: Fixpoint[State, list[Any]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.plain = Plain(self.graph, self.made, self.filled)
        self.table = Fixpoint([], same)

    def run(self) -> list[Found]:
        """The best programs of the root, cheapest first."""
        return deep(self._run)  # structures of small graphs, too, nest as deeply as the longest body

    def _run(self) -> list[Found]:
        with _only_growing():
            self.result(self.graph.root, GRID, None)
            many = best(programs(self, self.graph.root, GRID, None), MANY * self.k)
        found = different(many, MOST, self.weights.group > 1, ALIKE)
        for f in found:
            _ = f.term  # made here, as it may be deep
        return found

    def result(self, c: int, who: Executor, arg: ViewPrice | None) -> list[Found]:
        """Programs by which `who` writes class `c`."""
        if perf_counter() - self.start > self.seconds:
            raise TimeoutError
        if c in self.graph.closed:
            arg = None
        return self.table.get((True, c, who, arg), lambda: best(programs(self, c, who, arg), self.k))

    def view(self, c: int, who: Executor, arg: ViewPrice | None) -> list[Seen]:
        """Expressions by which `who` reads class `c`."""
        if c in self.graph.closed:
            arg = None
        if self.plain.covers(c, who):
            s = self.plain.view(c, arg)
            return [] if s is None else [s]
        who = who.writing("global")
        return self.table.get((False, c, who, arg), lambda: best_views(views(self, c, who, arg), self.most_views))

    def read_again(self, body: int, who: Executor, element: ViewPrice) -> list[Seen]:
        """Expressions by which `who` evaluates class `body` wherever an element is read.

        Where the neighbours of `element` lie matters only where nothing is computed first.
        """
        if self.plain.is_ready(body):
            return self.view(body, who, element)
        s = self.plain.view(body, element)
        return [*([] if s is None else [s]), *self.view(body, who, argument(element))]


@contextmanager
def _only_growing() -> Iterator[None]:
    """The table only grows, so nothing is looked for that could be freed: a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
