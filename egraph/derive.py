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

from egglift.egraph.ablation import Ablation
from egglift.egraph.book import Law, book
from egglift.egraph.embedding import Host, Place
from egglift.egraph.encode import binary
from egglift.egraph.frozen import TileSymbol
from egglift.egraph.outline import outline, size_outline
from egglift.egraph.phases import Limits
from egglift.egraph.replay import Replay, Rewrite, replay
from egglift.egraph.saturate import saturate
from egglift.egraph.story import Change, Teller, placement
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.text import brief, pretty
from egglift.ir.traverse import tile_symbols

PLACING = ("lowering", "memory")  # groups of laws that say who executes and where values are kept
SHOWN = 3  # places of a law in one step

#: what the tile lengths that laws introduce are for
KINDS = {
    "a": "elements of padding after a row in local memory", "c": "elements in a row that a work-item computes",
    "d": "work-items that share a block", "e": "rows that a work-item computes",
    "f": "prefetch: 0 none, 1 into registers, 2 into a second buffer", "h": "planes of a tile",
    "k": "chunk of what is folded", "m": "rows of a block", "n": "columns of a block", "p": "workers that share a reduction",
    "q": "work-items along an axis of a tile", "r": "chunk of a reduction", "s": "chunk of a map", "t": "stride",
    "u": "elements that a worker takes at a time", "v": "lanes of a vector", "w": "lanes that fold side by side",
    "x": "columns of a tile", "y": "rows of a tile", "z": "parts into which a reduction is shared out",
}  # fmt: skip


@dataclass(frozen=True)
class Tile:
    """A tile length of a derivation: its number, if one is known, what it is for, and what it cuts."""

    name: str
    value: int | None
    meaning: str
    cuts: str

    def __str__(self) -> str:
        number = "" if self.value is None else f" = {self.value}"
        return f"{self.name}{number}: {self.meaning}; {self.cuts}"


@dataclass(frozen=True)
class Step:
    """One law at one point of a derivation, and what it changed: the first few of `count` places."""

    law: Law
    changes: tuple[Change | str, ...]
    count: int

    def text(self, again: bool = False) -> str:
        """The step in lines.  again: the law's equation was shown before."""
        shown = [str(c) if isinstance(c, Change) else f"       {c}" for c in self.changes]
        more = [f"       and {self.count - len(shown)} more"] if self.count > len(shown) else []
        head = f"{self.law.name}, again" if again else f"{self.law.name}  [{self.law.source}]\n     {self.law.equation}"
        return "\n".join([head, *shown, *more])


@dataclass(frozen=True)
class Derivation:
    """Laws that lead from `source` to `target`, in order, each with what it changed.

    steps: laws that restructure.  placing: laws that choose executors and memories.  passing: laws of which nothing
    is left to see.  minimal: without any one law the exploration does not hold the target; False: not every law was
    tried in time.
    """

    source: Expr
    target: Expr
    tiles: tuple[Tile, ...]
    steps: tuple[Step, ...]
    placing: tuple[Step, ...]
    passing: tuple[Law, ...]
    minimal: bool

    @property
    def laws(self) -> tuple[str, ...]:
        """Names of the laws, each once, in reading order."""
        read = (*(s.law for s in self.steps), *self.passing, *(s.law for s in self.placing))
        return tuple(dict.fromkeys(law.name for law in read))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"The source program:\n{_indented(outline(binary(self.source), {}))}"
        if self.tiles:
            yield "Tile lengths:"
            yield from (f"  {tile}" for tile in self.tiles)
        seen: set[str] = set()
        for i, step in enumerate(self.steps, 1):
            yield f"{i}. {step.text(step.law.name in seen)}"
            seen.add(step.law.name)
        if self.placing:
            yield f"{len(self.steps) + 1}. Who executes what, and where values are kept:"
            yield from (f"   {step.text()}" for step in self.placing)
        if self.passing:
            yield "In passing, where views cancel or meet:"
            yield from (f"   {law}" for law in self.passing)
        yield self._claim()
        yield f"The low-level program:\n{_indented(pretty(self.target))}"

    def _claim(self) -> str:
        count = f"these {len(self.laws)} laws" if len(self.laws) > 1 else "this law"
        checked = f"Checked: what {count} alone make{'' if len(self.laws) > 1 else 's'} of the source holds the program below"
        return f"{checked}; without any one of them it does not." if self.minimal else (
            f"{checked}.  Not every law was tried in time: some may not be needed."
        )  # fmt: skip


def derive(
    source: Expr,
    target: Expr,
    *,
    sizes: Mapping[str, int] | None = None,
    rules: Iterable[Law | str] = (),
    reassociate: bool = True,
    limits: Limits = Limits(20_000, 30.0),
    seconds: float = 10.0,
) -> Derivation:
    """How `target`, a program of the e-graph of `source` with tile lengths as symbols, follows; RuleError if it is not.

    sizes: the numbers of the tile lengths, to be shown.  After `seconds` no more laws are tried: what is left leads to
    the target, but some of it may not be needed.
    """
    rules = tuple(rules)
    host, fired = _explored(source, rules, reassociate, limits)
    goal = binary(target)
    whole = book().extended(rules)
    if host.find(goal, host.values).get(goal, Place(-1, host.graph.smallest[0])).c != host.graph.root:
        raise RuleError(
            f"{brief(target)} is not among the programs that the laws make of {brief(source)}; "
            "derive takes a program as extraction found it, with its tile lengths as symbols"
        )
    attempt = Ablation(source, goal, host, whole, limits)
    laws, minimal = attempt.smallest(fired, perf_counter() + seconds) if goal is not binary(source) else ([], True)
    played = replay(source, laws, whole, limits, host)
    places = played.host.find(goal, host.values)
    if goal not in places or places[goal].c != played.host.graph.root:
        raise RuleError(f"the laws {', '.join(laws)} do not lead to {brief(target)} again; raise the limits")
    return _Telling(source, target, host, played, sizes or {}).derivation(laws, places, minimal)


@lru_cache(maxsize=2)
def _explored(
    source: Expr, rules: tuple[Law | str, ...], reassociate: bool, limits: Limits
) -> tuple[Host, tuple[str, ...]]:
    """The whole e-graph of a program, and the laws that matched: kept, as several candidates come from one."""
    found = saturate(source, rules=rules, reassociate=reassociate, limits=limits)
    return Host(found.graph), tuple(report.name for report in found.laws)


@dataclass
class _Telling:
    """Makes a derivation of a replay."""

    source: Expr
    target: Expr
    host: Host
    played: Replay
    sizes: Mapping[str, int]

    def derivation(self, laws: Sequence[str], places: Mapping[Expr, Place], minimal: bool) -> Derivation:
        rewrites = self.played.rewrites(places.values(), laws)
        groups = [list(g) for _, g in groupby(self._in_order(rewrites), key=lambda r: (r.when, r.law))]
        shaping = [g for g in groups if self._law(g[0].law).group not in PLACING]
        told = {r.law for r in rewrites}
        return Derivation(
            self.source, self.target, tuple(self._tiles()),
            tuple(self._step(g) for g in shaping), tuple(self._placing(rewrites, places)),
            tuple(self._law(name) for name in laws if name not in told), minimal,
        )  # fmt: skip

    def _in_order(self, rewrites: Sequence[Rewrite]) -> list[Rewrite]:
        """By iterations; within one, from the outside of the program inwards."""
        first: dict[tuple[int, str], int] = {}
        for r in rewrites:
            first[r.when, r.law] = min(r.made.c, first.get((r.when, r.law), r.made.c))
        return sorted(rewrites, key=lambda r: (r.when, first[r.when, r.law], r.law, r.made.c))

    def _step(self, rewrites: Sequence[Rewrite]) -> Step:
        changes = dict.fromkeys(self._teller.change(r) for r in rewrites)
        return Step(self._law(rewrites[0].law), tuple(changes)[:SHOWN], len(changes))

    def _placing(self, rewrites: Sequence[Rewrite], places: Mapping[Expr, Place]) -> Iterator[Step]:
        """The laws of levels and memories, each with the parts of the target that it made."""
        parts = {place: t for t, place in places.items()}
        for name in self.played.book.names:
            made = [r for r in rewrites if r.law == name]
            if made and self._law(name).group in PLACING:
                seen = [parts[r.made] for r in made if r.made in parts]
                texts = dict.fromkeys(placement(t, {}) for t in seen) or dict.fromkeys(self._teller.change(r) for r in made)
                yield Step(self._law(name), tuple(texts)[:SHOWN], len(texts))

    def _tiles(self) -> Iterator[Tile]:
        for name in sorted(tile_symbols(self.target)):
            if (symbol := self.host.graph.symbols.get(name)) is not None:
                yield Tile(name, self.sizes.get(name), KINDS.get(symbol.kind, "a tile length"), self._cut(symbol))

    def _cut(self, symbol: TileSymbol) -> str:
        length = size_outline(symbol.length, {})
        if symbol.array not in self.host.graph.closed:
            return f"cuts {length}"
        return f"cuts the {length} elements of {outline(self.host.graph.term(symbol.array), {}, 1, 60)}"

    def _law(self, name: str) -> Law:
        return self.played.book[name]

    @cached_property
    def _teller(self) -> Teller:
        ours = {value: name for name, value in self.host.values.items()}
        names = {name: ours[v] for name, v in self.played.host.values.items() if v in ours}
        return Teller(self.played, names, frozenset(inputs_of(self.source)))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
