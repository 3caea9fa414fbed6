"""An exploration played again, iteration by iteration: which law made which part of a low-level program of what.

All laws of an iteration see what the iterations before have made.  So a rewrite of iteration i takes nodes that were
born before i, and in the order of iterations nothing is shown before what it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from egglift.egraph.ablation import enter
from egglift.egraph.book import Book
from egglift.egraph.embedding import Embedding, Host, Key, Place
from egglift.egraph.encode import Encoder
from egglift.egraph.engine import engine
from egglift.egraph.frozen import ENode, Graph, freeze
from egglift.egraph.phases import EXPLORE, Limits
from egglift.egraph.saturate import Run
from egglift.egraph.sides import Equation, Match, equations, matches
from egglift.ir.patterns import Expr

_TRIED = 64  # matches of a left side that are compared


@dataclass(frozen=True)
class Rewrite:
    """At iteration `when`, `law` put a node into a class; `match`: what its left side took."""

    when: int
    law: str
    made: Place
    match: Match = field(repr=False)


@dataclass
class Replay:
    """A finished replay: its last graph, when each node was born, and when each law first rewrote each class."""

    host: Host
    book: Book
    born: dict[Key, int]
    applied: dict[int, dict[str, int]]
    _births: dict[ENode, int] = field(default_factory=dict, init=False)
    _smallest: dict[int, dict[int, ENode]] = field(default_factory=dict, init=False)

    def rewrites(self, places: Iterable[Place], laws: Sequence[str]) -> list[Rewrite]:
        """The rewrites that made these nodes, and what those took, in order; each of `laws` has one at least."""
        found: dict[Place, Rewrite | None] = {}
        self._trace(list(places), found)
        for law in laws:
            if not any(r and r.law == law for r in found.values()) and (first := self._first(law)):
                found[first.made] = first
                self._trace(list(first.match.nodes), found)
        order = {name: i for i, name in enumerate(self.book.names)}
        return sorted((r for r in found.values() if r), key=lambda r: (r.when, order[r.law], r.made.c))

    def smallest(self, when: int) -> dict[int, ENode]:
        """The node of the smallest program of each class, of what was there after iteration `when`."""
        if when not in self._smallest:
            self._smallest[when] = self._settle(when)
        return self._smallest[when]

    # ------------------------------------------------------------------------------------ tracing back

    def _trace(self, work: list[Place], found: dict[Place, Rewrite | None]) -> None:
        while work:
            place = work.pop()
            if place not in found:
                found[place] = rewrite = self._rewrite(place)
                if rewrite:
                    work.extend(rewrite.match.nodes)

    def _rewrite(self, made: Place) -> Rewrite | None:
        """How a node came into a class that was there already; None for parts of what some law made elsewhere."""
        when = self._birth(made.node)
        laws = sorted((i, law) for law, i in self.applied.get(made.c, {}).items() if i <= when)
        for _, law in reversed(laws):  # the last one before the node was there
            for q in equations(self.book[law]):
                if q.yields(made.node) and (match := self._match(q, made.c, when)):
                    return Rewrite(when, law, made, match)
        return None

    def _match(self, q: Equation, c: int, when: int) -> Match | None:
        """What the left side took: what was born last, as that is what the law waited for."""
        if q.subject not in q.taken:  # a name for what the rule itself makes
            return Match({q.subject: c})
        tried = islice(matches(q, c, lambda k: self._before(k, when)), _TRIED)
        return max(tried, key=lambda m: max((self._birth(p.node) for p in m.nodes), default=0), default=None)

    def _before(self, c: int, when: int) -> list[ENode]:
        return [node for node in self.host.graph.classes[c] if self._birth(node) < when]

    def _first(self, law: str) -> Rewrite | None:
        """The first rewrite by a law of which the target shows no trace: others took what it made."""
        classes = sorted((i[law], c) for c, i in self.applied.items() if law in i)
        for _, c in classes:
            for node in sorted(self.host.graph.classes[c], key=self._birth):
                rewrite = self._rewrite(Place(c, node))
                if rewrite and rewrite.law == law:
                    return rewrite
        return None

    def _birth(self, node: ENode) -> int:
        if node not in self._births:
            self._births[node] = self.born.get(self.host.key(node), 0)
        return self._births[node]

    def _settle(self, when: int) -> dict[int, ENode]:
        sizes: dict[int, int] = {}
        best: dict[int, ENode] = {}
        changed = True
        while changed:
            changed = False
            for c, nodes in self.host.graph.classes.items():
                for node in nodes:
                    if self._birth(node) <= when and all(k in sizes for k in node.children):
                        size = 1 + sum(sizes[k] for k in node.children)
                        if size < sizes.get(c, size + 1):
                            sizes[c], best[c], changed = size, node, True
        return best


def replay(source: Expr, laws: Iterable[str], book: Book, limits: Limits, host: Host) -> Replay:
    """Explore `source` with these laws; tile lengths have the fingerprints that they have in `host`."""
    snapshots = list(_snapshots(Run(book, frozenset(laws), limits, trace=True), source))
    last = Host(snapshots[-1], Embedding(snapshots[-1], host).values)
    born: dict[Key, int] = {}
    applied: dict[int, dict[str, int]] = {}
    for i, graph in enumerate(snapshots):
        inside = Embedding(graph, last)
        for nodes in graph.classes.values():
            for node in nodes:
                if (key := inside.key(node)) is not None:
                    born.setdefault(key, i)
        for law, c in graph.applied:
            if (there := inside.at(c)) is not None:
                applied.setdefault(there, {}).setdefault(law, i)
    return Replay(last, book, born, applied)


def _snapshots(run: Run, source: Expr) -> Iterator[Graph]:
    """The graph before the first iteration and after each."""
    encoder = Encoder()
    with engine(run.book, trace=True) as e:
        enter(e, encoder, source)
        run.prepare(e)
        yield freeze(e, encoder)
        for _ in run.steps(e, EXPLORE):
            yield freeze(e, encoder)
