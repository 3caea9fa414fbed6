"""Low-level programs of whole programs, stage by stage: the best schedules of each, by the analytic model.

A stage is computed as a schedule of its own loops says; or its reductions are shared out, by two stages; or as the laws
on patterns make it (`by_book`).  Stages are priced apart, and the cheapest of each are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf
from typing import TypeVar

from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.again import arranged, beside, place, placed
from egglift.egraph.schedules.batch_choices import batch_choices
from egglift.egraph.schedules.batches import Batch, batches, placed_ends
from egglift.egraph.schedules.block_choices import block_choices
from egglift.egraph.schedules.block_readings import block_readings
from egglift.egraph.schedules.bounds import kernel_seconds
from egglift.egraph.schedules.chain_choices import chain_choices
from egglift.egraph.schedules.choice import (
    KEPT,
    NEAR,
    Choice,
    Found,
    first_of,
    of_all_kinds,
)
from egglift.egraph.schedules.held_choices import held_choices
from egglift.egraph.schedules.known import KNOWN
from egglift.egraph.schedules.one_reading import OneReading, one_readings
from egglift.egraph.schedules.partitions import partitions
from egglift.egraph.schedules.ranking import cheapest
from egglift.egraph.schedules.readings import reading_choices
from egglift.egraph.schedules.reduced_tiles import ReducedTiles, tiled
from egglift.egraph.schedules.rows import Row, read_by, row_structures, rows_of
from egglift.egraph.schedules.stage_choices import GENERATED, OfStages
from egglift.egraph.schedules.steps import Steps
from egglift.egraph.schedules.tile_chains import TileChain, tile_chains
from egglift.egraph.schedules.tile_choices import TileWay, tile_choices, tile_ways
from egglift.egraph.stages.as_pattern import as_pattern, in_pairs
from egglift.egraph.stages.canonical import Canonical, canonical
from egglift.egraph.stages.partition import Stages
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.deadline import TooLate
from egglift.ir.patterns import Expr
from egglift.ir.progress import tick

GENERATED_ROWS = (6, 3)  # assignments of structures of rows that are generated
GENERATED_ALONE, KEPT_ALONE = (6, 4, 3), 8  # the same of a program's only stage, and choices of it that are kept
CLOSE_ALONE = 3.0  # what the model errs about in one structure shows when others are measured beside it
FAR = 1.3  # times as slow as the best program may one be at least, that is put together to be measured
SHARE = 0.2  # of the time of all stages, what two take at least that may be reduced in tiles
TILED = 2  # pairs of stages of which one is reduced in tiles
MINOR = 0.05  # of the time of all stages, what one takes that is not worth a search

T = TypeVar("T")
#: what the laws on patterns find for a program, of which something is known that takes so many seconds
ByBook = Callable[[Expr, float], Sequence[Choice]]


def scheduled(
    program: Expr,
    profile: Profile,
    limits: DeviceLimits,
    reassociate: bool,
    by_book: ByBook | None = None,
    tf32: bool = False,
    several: bool = True,
) -> list[Choice]:
    """Programs equal to a closed one, put together from schedules of its stages, cheapest first.

    Empty where the program has no index notation; what was found where the time for it is up (ir/deadline.py).
    tf32: may the factors of f32 products be rounded for matrix units?  several: are programs wanted that measuring
    chooses from, or the model's choice alone, for which little is generated?
    """
    found: list[Choice] = []
    work = _Choosing(profile, limits, reassociate, several, tf32, by_book)
    with suppress(TooLate):
        for whole, by in partitions(program, profile.kind, reassociate, tf32):
            known = work.known = min((c.seconds for c in found), default=inf)
            least = work.least(whole.stages, NEAR * known if several else known)
            if not several and least > known:
                continue
            near = several and least <= NEAR * known
            far = several and not near
            first = [] if found and near else (work.at_once if far else work.first_of_stages)(whole.stages)
            if first and all(first) and not far:  # should the time end, there is something
                found += islice(work.combined(whole, first, by), 1)
            names = (s.name for s in whole.stages)
            best = work.of_stages(whole.stages) if near else dict(zip(names, first, strict=True))
            if near and all(best.values()):
                found += work.combined(whole, list(best.values()), by)
            work.known = min((c.seconds for c in found), default=inf)
            found += work.by_rows(whole, best, by) if profile.kind == "gpu" else ()
            found += work.by_readings(whole, best, by) if reassociate else ()
            found += work.by_blocks(whole, best) if reassociate else ()
            found += work.by_tiles(whole, best, by) if profile.kind == "gpu" and reassociate else ()
            found += work.by_chains(whole, best, by) if profile.kind == "gpu" and reassociate else ()
            found += work.by_batches(whole, best)
    different = {(c.term, c.launch): c for c in found}  # what is there in time may be found again
    return sorted(different.values(), key=lambda c: c.seconds)


@dataclass
class _Choosing(OfStages):
    by_book: ByBook | None
    _tiles: dict[Hashable, list[TileWay]] = field(default_factory=dict)
    known: float = inf  # seconds of the cheapest program so far

    def __post_init__(self) -> None:
        #: all that choices depend on, but for the stage
        self.settings = self.profile.dumps(), self.limits, self.reassociate, self.by_book, self.tf32, self.several

    def combined(self, whole: Stages, best: Sequence[Sequence[Choice]], by: Steps) -> Iterator[Choice]:
        """None of what takes too long with the best choice of each stage."""
        if not self._is_far(best, []):
            yield from super().combined(whole, best, by)

    def of_stages(self, stages: Sequence[Stage]) -> dict[str, list[Choice]]:
        """The cheapest choices of each stage: of those that matter little, only the first is looked at."""
        forms = {s.name: canonical([s]) for s in stages}
        least = {name: self._least(c) for name, c in forms.items()}
        best: dict[str, list[Choice]] = {}
        for s in sorted(stages, key=lambda s: -least[s.name]):
            tick("schedules", s.name)
            matters = s.is_apart or least[s.name] >= MINOR * sum(x for x in least.values() if x < inf)
            best[s.name] = self._choices(forms[s.name], len(stages) == 1, matters)
            if best[s.name]:
                least[s.name] = best[s.name][0].seconds
        return {s.name: best[s.name] for s in stages}

    def first_of_stages(self, stages: Sequence[Stage]) -> list[list[Choice]]:
        """One choice for each stage: what is known first of a choice that is good enough where time is short."""
        return [self._choices(canonical([s]), len(stages) == 1, matters=s.is_apart)[:1] for s in stages]

    def at_once(self, stages: Sequence[Stage]) -> list[list[Choice]]:
        """One choice for each stage of a division that takes longer than another one, but for what its stages share."""
        return [self._at_once(canonical([s]), s.is_apart, len(stages) == 1) for s in stages]

    def least(self, stages: Sequence[Stage], most: float = inf) -> float:
        """What stages take at least by closed price; those that have none are not counted.

        most: of what takes longer, a price that is more than this is enough.
        """
        rest = [0.0 if s.is_apart else kernel_seconds(s, self.profile) for s in stages]
        total = 0.0
        for i, s in enumerate(stages):
            if total + sum(rest[i:]) > most:
                return total + sum(rest[i:])
            total += x if (x := self._least(canonical([s]))) < inf else 0.0
        return total

    def _once(self, what: Hashable, form: Canonical, find: Callable[[], T]) -> T:
        """What is found for stages of that form, in this search or in one before it with the same settings."""
        return KNOWN.once((self.settings, what, form.key), find)

    def _named(self, what: Hashable, form: Canonical, find: Callable[[], list[Choice]]) -> list[Choice]:
        return [c.named(form) for c in self._once(what, form, find)]

    def _least(self, form: Canonical) -> float:
        """The lowest closed price of a stage."""
        (stage,) = form.stages
        closed = lambda: min([cheapest(self._direct(stage)), *(x.seconds for x in self._parts(stage))])  # noqa: E731
        return self._once("least", form, closed)

    def _choices(self, form: Canonical, alone: bool, matters: bool) -> list[Choice]:
        """The cheapest choices of one stage.  alone: it is the program, which others search by the laws on patterns."""
        (stage,) = form.stages
        find = lambda: ([] if matters else self._first(stage)) or self.of_stage(stage, alone)  # noqa: E731
        return self._named((alone, matters), form, find)

    def _at_once(self, form: Canonical, apart: bool, alone: bool) -> list[Choice]:
        """The first choice of a stage that has code, by rising closed price."""
        (stage,) = form.stages
        if apart:
            return self._choices(form, alone, matters=True)[:1]
        rows, text = self._direct(stage), text_of(stage)
        made = next((found for r in rows if (found := self._made(stage, r, (0,), text))), None)
        return [c.named(form) for c in made or self._first(stage)]

    def of_stage(self, stage: Stage, alone: bool) -> list[Choice]:
        if stage.scan is not None:
            return self.of_scan(stage)
        if stage.counts is not None:
            return self.of_counts(stage)
        if not self.several:
            return self._first(stage)
        direct, shared = self._direct(stage), self._parts(stage)
        best = min([cheapest(direct), *(x.seconds for x in shared)])
        whole = self._generated(stage, direct, best, *((GENERATED_ALONE, CLOSE_ALONE) if alone else (GENERATED,)))
        half = self._all_joined(self._halves(stage), best)
        choices = [*whole, *self._all_joined(shared, best), *half]
        if self.by_book is not None and not alone and not (stage.dims and stage.reductions) and in_pairs(stage):
            choices += [replace(c, account=Account(text_of(stage), ())) for c in self.by_book(as_pattern(stage), best)]
        choices.sort(key=lambda c: c.seconds)
        kept = of_all_kinds(choices, CLOSE_ALONE)[:KEPT_ALONE] if alone else of_all_kinds(choices)[:KEPT]
        if whole and kept and all(c in half for c in kept):  # what computes all of it is measured too
            kept[-1] = min(whole, key=lambda c: c.seconds)
        return kept

    def by_rows(self, whole: Stages, best: Mapping[str, list[Choice]], by: Steps) -> Iterator[Choice]:
        """Programs in which stages start within the loops of others."""
        for i, row in enumerate(rows_of(whole)):
            left = row.left(whole.stages)
            if self._is_far((best[s.name] for s in left if s.name != row.last.name), [row.last]):
                continue
            choices = [self.of_row(row) if s.name == row.last.name else best[s.name] for s in left]
            if all(choices):
                yield from self.combined(Stages(left, whole.result), choices, replace(by, row=i))

    def by_readings(self, whole: Stages, best: Mapping[str, list[Choice]], by: Steps) -> Iterator[Choice]:
        """Programs in which rows are read once for what they need and for what they add to a result."""
        for x in one_readings(whole):
            starts = {s.name for s in x.starts}
            left = [s for s in whole.stages if s.name not in starts]
            if self._is_far((best[s.name] for s in left if s.name != x.last.name), [x.last]):
                continue
            choices = [self.of_reading(x) if s.name == x.last.name else best[s.name] for s in left]
            if all(choices) and x.wanted:
                yield from self._with_wanted(whole, x, [s.name for s in left], choices)
            elif all(choices):
                yield from self.combined(Stages(tuple(left), whole.result), choices, by)

    def _with_wanted(
        self, whole: Stages, x: OneReading, names: list[str], choices: Sequence[Sequence[Choice]]
    ) -> Iterator[Choice]:
        """Programs that read what rows needed besides the result: of the same kernel."""
        at, picked = names.index(x.last.name), [found[0] for found in choices]
        for c in choices[at]:
            picked[at] = c
            term = beside(whole, dict(zip(names, (c.term for c in picked), strict=True)), x.last.name, x.wanted)
            yield from self.priced(" | ".join(c.sign for c in picked), term, picked, apart=False)

    def of_reading(self, x: OneReading) -> list[Choice]:
        """The cheapest choices of a result that rows are added to, each read once; with what is wanted of rows too."""
        form = canonical([*x.starts, x.last], (x.rows, x.columns))
        *starts, last = form.stages
        wanted = tuple(short for name in x.wanted for short, own in form.own.items() if own == name)
        own = replace(x, starts=tuple(starts), last=last, wanted=wanted)
        find = lambda: self._of_found(reading_choices(own, self.profile, self.limits, self.several))  # noqa: E731
        return self._named(("one reading", wanted), form, find)

    def by_blocks(self, whole: Stages, best: Mapping[str, list[Choice]]) -> Iterator[Choice]:
        """Programs in which blocks of what several stages read are read once."""
        for x in block_readings(whole):
            gone = {s.name for s in x.stages}
            left = {s.name: best[s.name][:1] for s in whole.stages if s.name not in gone}
            if self._is_far(left.values(), []):
                continue
            apart = sum(min((c.seconds for c in best[s.name]), default=inf) for s in x.stages)
            find = lambda x=x, apart=apart: block_choices(x, *self._device[:2], self.several, apart)  # noqa: E731
            for found in KNOWN.once((self.settings, "blocks", x.key), find) if all(left.values()) else ():
                others = left | {name: self.of_stage(s, alone=False)[:1] for name, s in found.added.items()}
                if all(others.values()):
                    terms = {name: c.term for name, (c,) in others.items()}
                    picked = [found.choice, *(c for (c,) in others.values())]
                    term = arranged(whole, terms, found.arrays)
                    yield from self.priced(" | ".join(c.sign for c in picked), term, picked, apart=False)

    def by_tiles(self, whole: Stages, best: Mapping[str, list[Choice]], by: Steps) -> Iterator[Choice]:
        """Programs in which tiles are reduced in registers: of the stages whose price is lowest then."""
        total = sum(found[0].seconds for found in best.values() if found)
        pairs = list[tuple[float, Stages, dict[str, list[Choice]], ReducedTiles]]()
        for stages, x in tiled(whole):
            apart = [best[s.name] for s in (x.first, x.last) if s.name in best]
            if len(apart) == 2 and all(apart) and sum(found[0].seconds for found in apart) < SHARE * total:
                continue
            left = [s for s in stages.stages if s.name not in (x.first.name, x.last.name)]
            known = dict(best) | self.of_stages([s for s in left if s not in whole.stages])
            others = {s.name: known[s.name] for s in left}
            if all(others.values()) and not self._is_far(others.values(), [x.last]) and (ways := self._tile_ways(x)):
                least = sum(found[0].seconds for found in others.values()) + min(w.order.best for w in ways)
                pairs.append((least, stages, others, x))
        for _, stages, others, x in sorted(pairs, key=lambda pair: pair[0])[: TILED if self.several else 1]:
            own = Stages(tuple(s for s in stages.stages if s.name != x.first.name), whole.result)
            choices = [others[s.name] if s.name in others else self.of_tiles(x) for s in own.stages]
            if all(choices):
                yield from self.combined(own, choices, by)

    def _tile_ways(self, x: ReducedTiles) -> list[TileWay]:
        """The ways of tiles under canonical names, ranked once."""
        form = canonical([x.first, x.last], (x.rows, x.columns))
        if form.key not in self._tiles:
            first, last = form.stages
            self._tiles[form.key] = tile_ways(replace(x, first=first, last=last), *self._device)
        return self._tiles[form.key]

    def of_tiles(self, x: ReducedTiles) -> list[Choice]:
        """The cheapest choices of a result of tiles that are reduced in registers."""
        form = canonical([x.first, x.last], (x.rows, x.columns))
        find = lambda: self._of_found(tile_choices(self._tile_ways(x), self.several))  # noqa: E731
        return self._named("reduced tiles", form, find)

    def _is_far(self, others: Iterable[Sequence[Choice]], own: Sequence[Stage]) -> bool:
        """Does a program take too long in any case, of these choices and of kernels that compute stages of its own?"""
        known = (found[0] for found in others if found)
        least = sum(c.seconds - sum(k.joins for k in c.estimate.kernels) for c in known)
        least += sum(kernel_seconds(s, self.profile) for s in own)
        return least > self.known * (FAR if self.several else 1.0)

    @property
    def _device(self) -> tuple[Profile, DeviceLimits, bool]:
        return self.profile, self.limits, self.reassociate

    def _of_found(self, found: Iterable[Found]) -> list[Choice]:
        """What was found, and what adds its pieces where it is in such, as choices."""
        choices: list[Choice] = []
        found, adding = list(found), dict[int, list[Choice]]()  # by what adds pieces, the same for several found
        for x in found:
            if x.added is None:
                choices.append(x.choice)
                continue
            if id(x.added) not in adding:
                adding[id(x.added)] = self._cheapest(x.added, self._ranked(x.added))
            for last in adding[id(x.added)]:
                choices += self.priced(f"{x.sign}; {last.sign}", x.whole(placed(last.term, x.arrays)), (x.choice, last))
        return sorted(choices, key=lambda c: c.seconds)

    def by_chains(self, whole: Stages, best: Mapping[str, list[Choice]], by: Steps) -> Iterator[Choice]:
        """Programs in which tiles of one contraction are multiplied as they are computed."""
        for x in tile_chains(whole):
            name = x.chain.last.name
            left = [s for s in whole.stages if s.name == name or s.name not in x.stages]
            if self._is_far((best[s.name] for s in left if s.name != name), [x.chain.last]):
                continue
            apart = sum(best[n][0].seconds for n in x.stages if best[n])
            choices = [self.of_chain(x.chain, apart) if s.name == name else best[s.name] for s in left]
            if all(choices):
                yield from self.combined(Stages(tuple(left), whole.result), choices, by)

    def of_chain(self, x: TileChain, apart: float) -> list[Choice]:
        """The cheapest choices of a contraction of what is contracted in tiles.  apart: seconds of kernels for each."""
        form = canonical(x.stages, (x.rows, x.middle, x.columns))
        tile, *sums, last = form.stages
        own = replace(x, tile=tile, sums=tuple(sums), last=last)
        find = lambda: self._of_found(chain_choices(own, self.profile, self.limits, apart, self.several))[:KEPT]  # noqa: E731
        return self._named(("chain", x.online), form, find)

    def by_batches(self, whole: Stages, best: Mapping[str, list[Choice]]) -> Iterator[Choice]:
        """Programs in which work-items compute chains of small stages."""
        for batch in batches(whole):
            names = {s.name for s in batch.stages}
            left = [s for s in whole.stages if s.name not in names]
            if not all(best[s.name] for s in left) or self._is_far((best[s.name] for s in left), []):
                continue
            others = {s.name: best[s.name][0] for s in left}
            first = {n for s in batch.stages for n in read_by(s, whole.stages)}
            for kernel in self.of_batch(batch):
                terms: dict[str, Expr] = {}
                place({name: c.term for name, c in others.items() if name in first}, terms)
                terms |= placed_ends(batch, p.To("global", placed(kernel.term, terms)))
                place({name: c.term for name, c in others.items() if name not in first}, terms)
                picked = [kernel, *others.values()]
                yield from self.priced(
                    " | ".join(c.sign for c in picked), placed(whole.result, terms), picked, apart=False
                )

    def of_batch(self, batch: Batch) -> list[Choice]:
        """The kernels of a chain of small stages, for groups of several sizes: the cheapest first."""
        form = canonical(batch.stages)
        short = {own: name for name, own in form.own.items()}
        ends = tuple(short[name] for name in batch.ends)
        batch = Batch(form.stages, ends)
        return self._named(("batch", ends), form, lambda: batch_choices(batch, self.profile, self.limits))

    def of_row(self, row: Row) -> list[Choice]:
        """The cheapest choices of a stage in which others start."""
        form = canonical([*row.starts, row.last])
        *starts, last = form.stages
        return self._named("row", form, lambda: self._of_row(Row(tuple(starts), last)))

    def _of_row(self, row: Row) -> list[Choice]:
        """More of each structure than of others: their closed price is less exact where the last stage reduces too."""
        rows = self._in_order(row_structures(row, self.reassociate))
        held = held_choices(row, *self._device[:2], self.several) if self.reassociate else []
        if not self.several:
            return sorted([*held, *first_of(self._alone(row.last, rows))], key=lambda c: c.seconds)[:1]
        made = self._generated(row.last, rows, cheapest(rows), GENERATED_ROWS)
        return of_all_kinds(sorted([*made, *held], key=lambda c: c.seconds))[:KEPT]
