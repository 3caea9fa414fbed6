"""Which laws does a low-level program need?  Explorations that leave some out, down to a set that needs all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from egglift.egraph.explanation.embedding import Embedding, Host
from egglift.egraph.explanation.law_matching import equations
from egglift.egraph.graph.encode import Encoder, binary
from egglift.egraph.graph.engine import Engine, engine
from egglift.egraph.graph.graph import Graph, freeze
from egglift.egraph.graph.membership import node_of
from egglift.egraph.rules.book import Book
from egglift.egraph.rules.phases import EXPLORE, SIMPLIFY, Limits, Phase
from egglift.egraph.saturation.saturate import Run
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, subterms


@dataclass
class Ablation:
    """Searches for the laws by which `source` becomes `target`, a program of `host` with its tile lengths.

    schedule: the phases of an exploration; the last ones only add levels and memories to what the others found.
    """

    source: Expr
    target: Expr
    host: Host
    book: Book
    limits: Limits
    schedule: Sequence[Phase] = EXPLORE
    rows: int = field(default=0, init=False)  # of the last exploration that held the target

    @property
    def shaping(self) -> list[Phase]:
        """The phases that restructure: those that leave a share of the limits to others."""
        return [phase for phase in self.schedule if phase.share < 1]

    def holds(self, laws: Collection[str]) -> bool:
        """Is the target among what these laws make of the source?"""
        with self._shaped(laws) as (e, run, encoder):
            return self._found(e, run, encoder)

    def likely(self, laws: Sequence[str]) -> Sequence[str]:
        """Laws without those that make patterns which the target lacks and no other law takes, if the rest suffices."""
        relevant = self._relevant(laws)
        few = [n for n in laws if n in relevant]
        return few if self.holds(few) else laws

    def completed(self, some: Collection[str], laws: Sequence[str], deadline: float) -> list[str]:
        """`some` of `laws`, with as few others as are found by bisection, so that the target is reached."""
        needed, rest = set(some), [n for n in laws if n not in some]
        while rest and not self.holds(needed):
            few, enough = 0, len(rest)  # with the first `few` the target is not reached, with the first `enough` it is
            while enough - few > 1 and perf_counter() < deadline:
                middle = (few + enough) // 2
                few, enough = (few, middle) if self.holds(needed | {*rest[:middle]}) else (middle, enough)
            needed |= {rest[enough - 1]} if enough - few == 1 else {*rest[:enough]}
            rest = rest[: enough - 1]
        return [n for n in laws if n in needed]

    def smallest(self, laws: Sequence[str], deadline: float) -> tuple[list[str], bool]:
        """Leaves out what can be left out; False where the deadline came before every law had been tried."""
        self.limits = replace(self.limits, rows=3 * self.rows // 2 + 300)
        needed = list(laws)
        shaping = [n for n in needed if n in {law for phase in self.shaping for law in phase.laws} or n in SIMPLIFY]
        user = [n for n in needed if self.book[n].group == "user"]
        rest = [n for n in needed if n not in shaping and n not in user]
        for name in (*shaping, *user):
            if perf_counter() > deadline:
                return needed, False
            without = [n for n in needed if n != name]
            if self.holds(without):
                needed = without
        return self._smallest_last(needed, rest, deadline)

    def _smallest_last(self, needed: list[str], rest: Sequence[str], deadline: float) -> tuple[list[str], bool]:
        """The same for laws of the last phase only: what the others found is kept."""
        with self._shaped(needed) as (e, run, encoder):
            for name in rest:
                if perf_counter() > deadline:
                    return needed, False
                without = [n for n in needed if n != name]
                e.run("(push)")
                if self._found(e, replace(run, allowed=frozenset(without)), encoder):
                    needed = without
                e.run("(pop)")
        return needed, True

    @contextmanager
    def _shaped(self, laws: Collection[str]) -> Iterator[tuple[Engine, Run, Encoder]]:
        """The source explored with all phases but the last."""
        run, encoder = Run(self.book, frozenset(laws), self.limits), Encoder()
        with engine(self.book) as e:
            enter(e, encoder, self.source)
            run.prepare(e)
            for phase in self.shaping:
                run.phase(e, phase)
            yield e, run, encoder

    def _found(self, e: Engine, run: Run, encoder: Encoder) -> bool:
        for phase in self.schedule[len(self.shaping) :]:
            run.phase(e, phase)
        found = contains(freeze(e, encoder), self.host, self.target)
        self.rows = run.most if found else self.rows
        return found

    def _relevant(self, names: Sequence[str]) -> set[str]:
        """Laws whose result has only patterns that the target has, or that a law which restructures takes: a guess."""
        useful = {node_of(t, (0,) * len((*bodies(t), *children(t)))).op for t in subterms(self.target)}
        found: set[str] = set()
        while True:
            laws = [self.book[n] for n in names]
            useful_now = [q for law in laws for q in equations(law) if q.makes <= useful]
            if {q.law for q in useful_now} <= found:
                return found
            found |= {q.law for q in useful_now}
            useful |= {op for q in useful_now if self.book[q.law].group not in ("lowering", "memory") for op in q.takes}


def enter(e: Engine, encoder: Encoder, source: Expr) -> None:
    """Put a program into an empty e-graph, as its root."""
    root = encoder.add(binary(source))
    e.add([*encoder.actions, f"(root (slot {root}))"])


def contains(graph: Graph, host: Host, target: Expr) -> bool:
    """Is `target`, with the tile lengths of `host`, among the programs of `graph`?"""
    return Host(graph, Embedding(graph, host).values).holds(target, host.values)
