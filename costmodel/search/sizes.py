"""Numbers for a structure: tile sizes and launch sizes, chosen by the analytic model.

A candidate's term still has tile symbols.  What a symbol may be follows from where it is used: the number of
work-groups, of work-items, of lanes, or the length of a chunk.  Coordinate descent from a plausible start, each
point compiled and priced; illegal points (too much local memory, ...) have no price and are remembered as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.model.estimate import Estimate, estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.size_choices import GPU_STARTS, SCANNING, fitted, may_be_zero, wanted
from egglift.ir import tile_kinds as kinds
from egglift.ir.check import type_of
from egglift.ir.deadline import TooLate
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr, Fold, Map
from egglift.ir.sizes import Size, evaluate, symbols
from egglift.ir.tile_kinds import TILE_KINDS
from egglift.ir.traverse import instantiate, subterms, tile_symbols
from egglift.ir.types import Array


class Symbol(Protocol):
    """A tile symbol: its kind (a letter of ir/tile_kinds.py) and the length that it cuts."""

    @property
    def kind(self) -> str: ...
    @property
    def length(self) -> Size: ...


@dataclass(frozen=True)
class Point:
    """One assignment: the concrete low-level program, its plan and its price."""

    sizes: tuple[tuple[str, int], ...]
    launch: Launch
    term: Expr
    plan: Plan
    estimate: Estimate


@dataclass
class Search:
    """The assignments of one structure that were tried, and why some have no price."""

    term: Expr
    tiles: Mapping[str, Symbol]
    profile: Profile
    limits: DeviceLimits
    tried: dict[tuple[tuple[tuple[str, int], ...], Launch], Point | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.roles = roles(self.term)
        self.order = sorted(tile_symbols(self.term), key=lambda s: (self._depth(s), s))
        there = {TILE_KINDS.get(self.tiles[s].kind) for s in self.order}
        shared_out = bool(there & {kinds.CHUNKS, kinds.ROW_CHUNKS, kinds.WARP_ROWS})
        self.by_lanes = kinds.SHARING_LANES in there and self.profile.kind == "gpu"
        self.scans = kinds.SCANNED_RUN in there
        self.tiled = shared_out or (self.profile.kind == "cpu" and kinds.BLOCK_COLUMNS in there)

    def _depth(self, name: str) -> int:
        inner = symbols(self.tiles[name].length)
        return 1 + max((self._depth(s) for s in inner), default=0)

    # ------------------------------------------------------------------------------------ evaluation

    def point(self, wish: Mapping[str, int], launch: Launch) -> Point | str:
        """Price of the assignment nearest to `wish` that fits the lengths; a text where it has none."""
        env = self.fitting(wish)
        key = (tuple(sorted(env.items())), launch)
        if key not in self.tried:
            self.tried[key] = self._price(env, launch)
        return self.tried[key]

    def fitting(self, wish: Mapping[str, int]) -> dict[str, int]:
        """The assignment nearest to `wish` that fits the lengths."""
        env: dict[str, int] = {}
        chunks: dict[Size, int] = {}
        for name in self.order:
            tile = self.tiles[name]
            length = evaluate(tile.length, env)
            inner = bool(symbols(tile.length))
            env[name] = fitted(tile.kind, wish[name], length, chunks.get(tile.length, 1), inner)
            if tile.kind == kinds.CHUNK.letter:
                chunks[tile.length] = env[name]
        return env

    def _price(self, env: dict[str, int], launch: Launch) -> Point | str:
        try:
            term = instantiate(self.term, env)
            plan = compile_term(term, launch, self.limits)
            return Point(tuple(sorted(env.items())), launch, term, plan, estimate(plan, self.profile))
        except EggliftError as error:
            return str(error)

    # ------------------------------------------------------------------------------------ descent

    def run(self, tries: int = 24) -> list[Point]:
        """Coordinate descent; every point that is priced in time (ir/deadline.py), cheapest first."""
        with suppress(TooLate):
            self._descend(tries)
        points = [p for p in self.tried.values() if isinstance(p, Point)]
        priced = sorted(points, key=lambda p: (p.estimate.seconds, p.sizes))
        # a launch size that nothing depends on makes no other program
        different = {tuple((k.source, k.global_size) for k in p.plan.kernels): p for p in reversed(priced)}
        return sorted(different.values(), key=lambda p: (p.estimate.seconds, p.sizes))

    def _descend(self, tries: int) -> None:
        launch = self.launches()[0]
        starts = [(self.point(wish, launch), wish) for wish, _ in zip(self.starts(), range(tries), strict=False)]
        best, wish = min(starts, key=lambda s: _seconds(s[0]))
        improved = True
        while improved:
            improved = False
            for name in (None, *self.order):
                for other, shape in self._moves(name, wish, launch):
                    if len(self.tried) >= tries:
                        return
                    point = self.point(other, shape)
                    if _seconds(point) < _seconds(best) * 0.999:
                        best, wish, launch, improved = point, other, shape, True

    def start(self) -> dict[str, int]:
        """The first option of every symbol, outer ones first."""
        env: dict[str, int] = {}
        for name in self.order:
            env[name] = self.options(name, env)[0]
        return env

    def _moves(self, name: str | None, wish: dict[str, int], launch: Launch) -> Iterator[tuple[dict[str, int], Launch]]:
        """The other sizes of a symbol, or, without a name, the other launches."""
        if name is None:
            yield from ((wish, shape) for shape in self.launches() if shape != launch)
        else:
            yield from (({**wish, name: n}, launch) for n in self.options(name, wish) if n != wish[name])

    # ------------------------------------------------------------------------------------ options

    def options(self, name: str, env: Mapping[str, int]) -> list[int]:
        """Sizes worth trying for a symbol under the sizes of those around it, the most plausible first."""
        kind = self.tiles[name].kind
        n = max(1, evaluate(self.tiles[name].length, env))
        inner = bool(symbols(self.tiles[name].length))
        sizes = wanted(kind, n, self.roles.get(name, ""), self.profile, inner)
        return list(dict.fromkeys(w if may_be_zero(kind) else max(1, min(w, n)) for w in sizes))

    def starts(self) -> Iterator[dict[str, int]]:
        """Plausible assignments to start from: of a GPU's blocks several, their sizes going together."""
        first = self.start()
        yield first
        if self.profile.kind == "gpu" and self.tiled:
            for start in GPU_STARTS:
                yield {name: self._started(name, start, first[name]) for name in self.order}

    def _started(self, name: str, start: tuple[int, int, int, int, int], other: int) -> int:
        """The size of a symbol in one of GPU_STARTS; `other` for kinds that are not in it."""
        block_rows, block_columns, rows, columns, fold_chunk = start
        match TILE_KINDS.get(self.tiles[name].kind):
            case kinds.BLOCK_ROWS:
                return block_rows
            case kinds.BLOCK_COLUMNS:
                return block_columns
            case kinds.FOLD_CHUNK:
                return fold_chunk
            case kinds.CHUNK:
                return 4
            case kinds.CHUNKS:
                cut = symbols(self.tiles[name].length)
                return rows if any(x[0] == kinds.BLOCK_ROWS.letter for x in cut) else columns
        return other

    def launches(self) -> list[Launch]:
        """Group sizes and numbers of groups to try, the most plausible first."""
        levels = set(self.roles.values())
        if self.profile.kind == "gpu" and self.tiled:  # the tiles say how many work-items there are
            return [Launch(256, swizzle=8), Launch(256), Launch(256, swizzle=4)]
        if self.profile.kind == "gpu" and self.scans:  # as many as there are runs, or fewer
            return [Launch(count) for count in SCANNING]
        if self.by_lanes:  # so do lanes, up to the largest group
            return [Launch(self.limits.group_size)]
        if self.profile.kind == "cpu":
            sizes = [64, 16, 256, 1] if "global" in levels else [64]
            if self.tiled and "global" in levels:  # work enough for a group; loops around it cost registers
                sizes = [1, 16]
            return [Launch(s) for s in sizes]
        most = self.profile.compute_units
        grid = [Launch(256), Launch(256, most * 16), Launch(128), Launch(512, most * 8)]
        return grid if "global" in levels else [Launch(256), Launch(512), Launch(1024)]


def varied(points: Sequence[Point], k: int, within: float = 1.3) -> list[Point]:
    """The best of `points` (best first) and up to k - 1 that are estimated nearly as well but differ most.

    The model cannot tell neighbours apart; measuring should.
    """
    if not points:
        return []
    chosen, rest = [points[0]], [p for p in points[1:] if p.estimate.seconds <= within * points[0].estimate.seconds]

    def news(p: Point) -> int:
        known = {pair for q in chosen for pair in (*q.sizes, ("group", q.launch.group_size))}
        return len({*p.sizes, ("group", p.launch.group_size)} - known)

    while rest and len(chosen) < k:
        best = min(rest, key=lambda p: (-news(p), p.estimate.seconds, p.sizes))
        chosen.append(best)
        rest.remove(best)
    return chosen


def roles(term: Expr) -> dict[str, str]:
    """Who goes through what a symbol cuts: symbol -> kind of the map over so many elements, or "unrolled" (a fold)."""
    by_symbol: dict[str, str] = {}
    for t in subterms(term):
        if not isinstance(t, Map | Fold):
            continue
        if isinstance(t, Map) and t.level is not None:
            array = type_of(t.x)
            assert isinstance(array, Array)
            for s in symbols(array.length):
                by_symbol.setdefault(s, t.level.kind)
        if isinstance(t, Fold) and t.unroll:
            array = type_of(t.x)
            assert isinstance(array, Array)
            by_symbol.update(dict.fromkeys(symbols(array.length), "unrolled"))
        if isinstance(t, Map) and t.level is not None:
            by_symbol.setdefault(f"level {t.level.kind}", t.level.kind)
    return by_symbol


def _seconds(found: Point | str) -> float:
    return found.estimate.seconds if isinstance(found, Point) else float("inf")
