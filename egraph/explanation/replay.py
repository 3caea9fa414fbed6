"""An exploration played again, iteration by iteration: which law made which part of a low-level program of what.

All laws of an iteration see what the iterations before have made.  So a rewrite of iteration i takes nodes that were
born before i, and in the order of iterations nothing is shown before what it is made of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from egglift.egraph.explanation.ablation import enter
from egglift.egraph.explanation.embedding import Embedding, Host, Key, Place
from egglift.egraph.explanation.law_matching import Equation, Match, equations, makes, matches
from egglift.egraph.graph.encode import Encoder
from egglift.egraph.graph.engine import engine
from egglift.egraph.graph.graph import ENode, Graph, freeze
from egglift.egraph.rules.book import Book
from egglift.egraph.rules.phases import EXPLORE, Limits, Phase
from egglift.egraph.saturation.saturate import Run
from egglift.ir.patterns import Expr

_TRIED = 64  # matches of a left side that are compared


@dataclass(frozen=True)
class Rewrite:
    """At iteration `when`, `law` put a node into a class; `match`: what its left side took.

    after: how many rewrites of the same iteration it takes something from, one after another.
    """

    when: int
    law: str
    made: Place
    match: Match = field(repr=False)
    after: int = 0


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
        by_place: dict[Place, Rewrite | None] = {}
        self._trace(list(places), by_place)
        for law in laws:
            if not any(r and r.law == law for r in by_place.values()) and (first := self._first(law, by_place)):
                by_place[first.made] = first
                self._trace(list(first.match.nodes), by_place)
        return sorted(_layered(by_place), key=lambda r: (r.when, r.after, r.made.c))

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
        """How a node came into a class that was there already; None for parts of what some law made elsewhere.

        Of laws whose result could be this node, one whose whole right side is there; else one by its outermost pattern.
        """
        when = self._birth(made.node)
        laws = sorted(((i, law) for law, i in self.applied.get(made.c, {}).items() if i <= when), reverse=True)
        similar = [(i, q) for i, law in laws for q in equations(self.book[law]) if q.yields(made.node)]
        for until in (when - 1, when):  # a node whose parts were renamed meanwhile is noticed one iteration late
            tried = [(i, q, list(self._matches(q, made, until))) for i, q in similar]
            for _, q, matched in tried:
                whole = [m for m in matched if makes(q, made.node, m, self.host.graph.classes.__getitem__)]
                if whole:
                    return Rewrite(when, q.law, made, max(whole, key=self._latest))
        for i, q, matched in tried:
            if matched and i >= when - 1:
                return Rewrite(when, q.law, made, max(matched, key=self._latest))
        return None

    def _matches(self, q: Equation, made: Place, until: int) -> Iterator[Match]:
        """Where the left side may have matched: with nodes that were there after iteration `until`."""
        if q.subject not in q.taken:  # a name for what the rule itself makes
            return iter([Match({q.subject: made.c})])

        def there(c: int) -> Iterator[ENode]:
            return (n for n in self.host.graph.classes[c] if self._birth(n) <= until and Place(c, n) != made)

        return islice(matches(q, made.c, there), _TRIED)

    def _latest(self, m: Match) -> int:
        """When the last of the nodes that a match takes was born: what the law waited for."""
        return max((self._birth(p.node) for p in m.nodes), default=0)

    def _first(self, law: str, found: Collection[Place]) -> Rewrite | None:
        """The first rewrite by a law that left no trace in the target, where others rewrote too if it did so."""
        known = {place.c for place in found}
        classes = sorted((c not in known, i[law], c) for c, i in self.applied.items() if law in i)
        for _, _, c in classes:
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


def _layered(found: Mapping[Place, Rewrite | None]) -> Iterator[Rewrite]:
    """The rewrites, with how many others of their iteration come before them."""
    after: dict[Place, int] = {}

    def count(place: Place, above: frozenset[Place]) -> int:
        rewrite = found.get(place)
        if rewrite is None or place in above:
            return -1
        if place not in after:
            same = (p for p in rewrite.match.nodes if (r := found.get(p)) and r.when == rewrite.when)
            after[place] = 1 + max((count(p, above | {place}) for p in same), default=-1)
        return after[place]

    for place, rewrite in found.items():
        if rewrite:
            yield replace(rewrite, after=count(place, frozenset()))


def replay(
    source: Expr, laws: Iterable[str], book: Book, limits: Limits, host: Host, schedule: Sequence[Phase] = EXPLORE
) -> Replay:
    """Explore `source` with these laws; tile lengths have the fingerprints that they have in `host`."""
    snapshots = list(_snapshots(Run(book, frozenset(laws), limits, trace=True), source, schedule))
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


def _snapshots(run: Run, source: Expr, schedule: Sequence[Phase]) -> Iterator[Graph]:
    """The graph before the first iteration and after each."""
    encoder = Encoder()
    with engine(run.book, trace=True) as e:
        enter(e, encoder, source)
        run.prepare(e)
        yield freeze(e, encoder)
        for phase in schedule:  # one by one: the last is run even where a limit stopped those before it
            for _ in run.steps(e, [phase]):
                yield freeze(e, encoder)
