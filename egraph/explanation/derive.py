"""How a low-level program follows from its source: the laws that it needs, what each made of what, and in which order.

The target keeps its tile lengths as symbols, so it is one of the programs of the e-graph that it was chosen from.
Nothing is shown that was not checked: an exploration with the laws of the derivation, and no others, holds the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from time import perf_counter

from egglift.egraph.explanation.abbreviate import outline, size_outline
from egglift.egraph.explanation.ablation import Ablation
from egglift.egraph.explanation.derivation import Derivation, Step, Tile
from egglift.egraph.explanation.embedding import Host, Place
from egglift.egraph.explanation.law_matching import equations
from egglift.egraph.explanation.narrate import Change, Teller, placement
from egglift.egraph.explanation.replay import Replay, Rewrite, replay
from egglift.egraph.graph.encode import binary
from egglift.egraph.graph.graph import TileSymbol
from egglift.egraph.rules.book import Book, Law, book
from egglift.egraph.rules.phases import GRACE, SIMPLIFY, Limits, Phase
from egglift.egraph.saturation.saturate import saturate
from egglift.egraph.saturation.subprocess_run import Stopped, Tell, apart
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.text import brief
from egglift.ir.tile_kinds import TILE_KINDS
from egglift.ir.traverse import tile_symbols

PLACING = {"MapL", "To", "Increase", "FoldAhead", "FoldUnroll"}  # what says who executes and where values are kept
SHOWN = 3  # places of a law in one step


def derive(
    source: Expr,
    target: Expr,
    *,
    sizes: Mapping[str, int] | None = None,
    rules: Iterable[Law | str] = (),
    disabled: Iterable[str] = (),
    reassociate: bool = True,
    limits: Limits = Limits(20_000, 30.0),
    seconds: float = 10.0,
) -> Derivation:
    """How `target`, a program of the e-graph of `source` with tile lengths as symbols, follows; RuleError if it is not.

    sizes: the numbers of the tile lengths, to be shown.  rules, disabled, reassociate: as `saturate` was told.
    After `seconds` no more laws are tried: what is left leads to the target, but some of it may not be needed.
    """
    rules = tuple(rules)
    explored = _explored(source, rules, tuple(disabled), reassociate, limits)
    work = _Work(source, target, dict(sizes or {}), book().extended(rules), limits, seconds, explored)
    if not rules:
        return work()
    try:
        return apart(work, limits.seconds + seconds + GRACE, limits.memory)
    except Stopped as stop:
        raise RuleError(
            f"no derivation of {brief(target)} within the limits ({stop.why}): laws among rules=[...] grow too fast"
        ) from None


@dataclass(frozen=True)
class Explored:
    """The whole e-graph of a program, the laws that matched, and the phases in which they did."""

    host: Host
    fired: tuple[str, ...]
    schedule: tuple[Phase, ...]


@dataclass(frozen=True)
class _Work:
    """A derivation to be found, in this process or another; call it."""

    source: Expr
    target: Expr
    sizes: Mapping[str, int]
    book: Book
    limits: Limits
    seconds: float
    explored: Explored

    def __call__(self, tell: Tell | None = None) -> Derivation:
        host, schedule, goal = self.explored.host, self.explored.schedule, binary(self.target)
        if not host.holds(goal, host.values):
            raise RuleError(
                f"{brief(self.target)} is not among the programs that the laws make of {brief(self.source)}; "
                "derive takes a program as extraction found it, with its tile lengths as symbols"
            )
        laws, minimal = list[str](), True
        if goal is not binary(self.source):
            deadline = perf_counter() + self.seconds
            attempt = Ablation(self.source, goal, host, self.book, self.limits, schedule)
            laws, minimal = attempt.smallest(_traced(attempt, attempt.likely(self.explored.fired), deadline), deadline)
        played = replay(self.source, laws, self.book, self.limits, host, schedule)
        if not played.host.holds(goal, host.values):
            raise RuleError(f"the laws {', '.join(laws)} do not lead to {brief(self.target)} again; raise the limits")
        return _Telling(self.source, self.target, host, played, self.sizes).derivation(laws, goal, minimal)


def _traced(attempt: Ablation, laws: Sequence[str], deadline: float) -> Sequence[str]:
    """Those of `laws` by which the parts of the target came about when all of them run, and what else these need."""
    played = replay(attempt.source, laws, attempt.book, attempt.limits, attempt.host, attempt.schedule)
    places = played.host.find(attempt.target, attempt.host.values).values()
    used = {r.law for r in played.rewrites(places, ())} | {n for n in laws if n in SIMPLIFY}
    return attempt.completed(used, laws, deadline)


@lru_cache(maxsize=2)
def _explored(
    source: Expr, rules: tuple[Law | str, ...], disabled: tuple[str, ...], reassociate: bool, limits: Limits
) -> Explored:
    """What there is of a program: kept, as several candidates come from one."""
    found = saturate(source, rules=rules, disabled=disabled, reassociate=reassociate, limits=limits)
    return Explored(Host(found.graph), tuple(report.name for report in found.laws), found.schedule)


@dataclass
class _Telling:
    """Makes a derivation of a replay."""

    source: Expr
    target: Expr
    host: Host
    played: Replay
    sizes: Mapping[str, int]

    def derivation(self, laws: Sequence[str], goal: Expr, minimal: bool) -> Derivation:
        """`goal` is the target over binary tuples, which the replay holds."""
        places = self.played.host.find(goal, self.host.values)
        rewrites = self.played.rewrites(places.values(), laws)
        groups = [list(g) for _, g in groupby(self._in_order(rewrites), key=_turn)]
        shaping = [g for g in groups if not _is_placing(self._law(g[0].law))]
        told = {r.law for r in rewrites}
        return Derivation(
            self.source,
            self.target,
            tuple(self._tiles()),
            tuple(self._step(g) for g in shaping),
            tuple(self._placing(rewrites, places)),
            tuple(self._law(name) for name in laws if name not in told),
            minimal,
        )

    def _in_order(self, rewrites: Sequence[Rewrite]) -> list[Rewrite]:
        """By iterations; within one, from the outside of the program inwards."""
        first: dict[tuple[int, int, str], int] = {}
        for r in rewrites:
            first[_turn(r)] = min(r.made.c, first.get(_turn(r), r.made.c))
        return sorted(rewrites, key=lambda r: (r.when, r.after, first[_turn(r)], r.law, r.made.c))

    def _step(self, rewrites: Sequence[Rewrite]) -> Step:
        changes = dict.fromkeys(self._teller.change(r) for r in rewrites)
        return Step(self._law(rewrites[0].law), tuple(changes)[:SHOWN], len(changes))

    def _placing(self, rewrites: Sequence[Rewrite], places: Mapping[Expr, Place]) -> Iterator[Step]:
        """The laws of levels and memories, each with the parts of the target that it made."""
        parts = {place: t for t, place in places.items()}
        for name in self.played.book.names:
            made = [r for r in rewrites if r.law == name]
            if made and _is_placing(self._law(name)):
                seen = [parts[r.made] for r in made if r.made in parts]
                shown: list[Change | str] = [placement(t) for t in seen]
                texts = dict.fromkeys(shown or [self._teller.change(r) for r in made])
                yield Step(self._law(name), tuple(texts)[:SHOWN], len(texts))

    def _tiles(self) -> Iterator[Tile]:
        for name in sorted(tile_symbols(self.target)):
            if (symbol := self.host.graph.symbols.get(name)) is not None:
                known = TILE_KINDS.get(symbol.kind)
                meaning = known.meaning if known else "a tile length"
                yield Tile(name, self.sizes.get(name), meaning, self._cut(symbol))

    def _cut(self, symbol: TileSymbol) -> str:
        length = size_outline(symbol.length)
        if symbol.array not in self.host.graph.closed:
            return f"cuts {length}"
        return f"cuts the {length} elements of {outline(self.host.graph.term(symbol.array), 60)}"

    def _law(self, name: str) -> Law:
        return self.played.book[name]

    @cached_property
    def _teller(self) -> Teller:
        ours = {value: name for name, value in self.host.values.items()}
        names = {name: ours[v] for name, v in self.played.host.values.items() if v in ours}
        return Teller(self.played, names, frozenset(inputs_of(self.source)))


def _turn(r: Rewrite) -> tuple[int, int, str]:
    """What is told in one step."""
    return r.when, r.after, r.law


def _is_placing(law: Law) -> bool:
    """Does a law only say who executes, or where a value is kept?"""
    return any(q.made.name in PLACING for q in equations(law) if hasattr(q.made, "name"))
