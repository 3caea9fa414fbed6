"""The best blocks of stages that read one array, and what a group does with its block for each of them.

The structures of each stage are ranked by closed price, as if it were alone; some are put side by side, and priced by
the exact model, which knows what is read again from which cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from math import inf, prod

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.block_readings import BlockReading
from egglift.egraph.schedules.block_structures import SideBySide, inside, scheduled, with_numbers
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.nest import digits_of
from egglift.egraph.schedules.ranking import Ranked, ranked
from egglift.egraph.schedules.schedule import Schedule
from egglift.egraph.schedules.ways import Way
from egglift.egraph.stages.blocks import Cut, InBlocks, block_copy, block_type, in_blocks
from egglift.egraph.stages.stage import Dim, Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr

#: bytes of a block, and elements along the last axis: of a GPU's, in local memory; all of it where it is short
BYTES = {"gpu": (1 << 15, 1 << 14), "cpu": (1 << 16, 1 << 18)}
WIDTHS, WHOLE = {"gpu": (256, 128, 512), "cpu": (4096,)}, {"gpu": 1024, "cpu": 8192}
SHAPES = 6  # shapes of groups of a stage that are tried
CLOSE = {"gpu": 1.5, "cpu": 4.0}  # times as slow as its best, by closed price, may a stage's ways be: a cache helps all
TRIED = {True: 6, False: 3}  # structures side by side that are generated for blocks of a shape
FAR = 1.3  # times as slow as the best so far may the first of these be, for others to be tried
CHOICES, NEAR = 2, 1.2  # shapes of blocks that may be chosen, and times as slow as the best


@dataclass(frozen=True)
class FoundBlocks:
    """A kernel of several arrays.  added: the stages that add up what blocks have found, by the stages' names; arrays:
    what these read, and results that need nothing more, by name."""

    choice: Choice
    added: Mapping[str, Stage]
    arrays: Mapping[str, Expr]


def block_choices(
    x: BlockReading, profile: Profile, limits: DeviceLimits, several: bool = True, apart: float = inf
) -> list[FoundBlocks]:
    """The cheapest first; without those that the device cannot run or the code generator refuses.

    several: may it be one of some that are measured?  Else only the best is wanted.  apart: what kernels for each take.
    """
    found = list[FoundBlocks]()
    for lengths in _shapes(x, profile.kind):
        least = min((f.choice.seconds for f in found), default=apart)
        found += _of_shape(x, lengths, profile, limits, TRIED[several], least)
    found.sort(key=lambda f: f.choice.seconds)
    near = [f for f in found if f.choice.seconds <= min(apart, NEAR * found[0].choice.seconds)]
    return near[: CHOICES if several else 1]


def _shapes(x: BlockReading, kind: str) -> list[tuple[int, ...]]:
    """Lengths of blocks along the axes that are cut."""
    *outer, last = x.extents
    found = dict[tuple[int, ...], None]()
    for size in BYTES[kind]:
        elements = max(1, size // x.bytes)
        widths = [last] if not outer else [last, *WIDTHS[kind]] if last <= WHOLE[kind] else WIDTHS[kind]
        for width in widths:
            width = min(width, last, elements)
            each = max(1, round((elements // width) ** (1 / len(outer)))) if outer else 1
            lengths = (*(min(1 << (each.bit_length() - 1), n) for n in outer), width if outer else min(elements, last))
            found[lengths] = None
    return [lengths for lengths in found if any(2 * n <= m for n, m in zip(lengths, x.extents, strict=True))]


def _of_shape(
    x: BlockReading, lengths: Sequence[int], profile: Profile, limits: DeviceLimits, tries: int, least: float
) -> list[FoundBlocks]:
    """The cheapest of blocks of that shape, where one is known that takes so many seconds; none where no code is."""
    require_time()
    names = x.stages[0].names
    which = [names.dim(-(-n // length)) for n, length in zip(x.extents, lengths, strict=True)]
    axes = [names.dim(n) for n in x.shape]
    copied = [Cut(axes[a], w, n) for a, w, n in zip(x.axes, which, lengths, strict=True)]
    copy = block_copy(x.views, names, axes, copied) if profile.kind == "gpu" else None
    near = _near(x, copy) if copy else {}
    cuts = ([Cut(d, w, n) for d, w, n in zip(dims, which, lengths, strict=True)] for dims in x.dims)
    blocks = [in_blocks(s, own, near) for s, own in zip(x.stages, cuts, strict=True)]
    work = _Shape(x, lengths, which, blocks, copy, [v.name for v in near.values()], profile, limits)
    return work.found(tries, least)


def _near(x: BlockReading, copy: Stage) -> dict[Expr, p.Input]:
    """What stands for the blocks of each array."""
    return {v: p.Input(f"%block{i}", block_type(copy, i, len(x.views))) for i, v in enumerate(x.views)}


@dataclass(frozen=True)
class _Option:
    """A way of a stage within blocks, with sizes, the items of a group in each dimension, and the price of it alone."""

    way: Way
    sizes: dict[str, int]
    items: tuple[int, ...]
    seconds: float


@dataclass
class _Shape:
    """Blocks of one shape."""

    x: BlockReading
    lengths: Sequence[int]
    which: Sequence[Dim]
    blocks: Sequence[InBlocks]
    copy: Stage | None
    near: Sequence[str]
    profile: Profile
    limits: DeviceLimits

    def found(self, tries: int, least: float) -> list[FoundBlocks]:
        """The cheapest of what was tried."""
        stages = [*([self.copy] if self.copy else []), *(b.parts for b in self.blocks)]
        options = [_options(s, self.which, self.profile, self.limits) for s in stages]
        found = list[FoundBlocks]()
        for picked in islice(_together(options), tries):
            with suppress(EggliftError):
                found.append(self._made(picked))
            if found and found[0].choice.seconds > FAR * least:
                break
        return sorted(found, key=lambda f: f.choice.seconds)[:1]

    def _made(self, picked: Sequence[_Option]) -> FoundBlocks:
        """These ways side by side, with the price of the kernel."""
        own = picked[1:] if self.copy else picked
        copy = (self.copy, self._schedule(self.copy, picked[0])) if self.copy else None
        stages = [(b.near, self._schedule(b.near, o)) for b, o in zip(self.blocks, own, strict=True)]
        work = SideBySide(stages, self.which, copy, self.near)
        kernel = work.program()
        launch = Launch(self.limits.group_size if self.profile.kind == "gpu" else 1)
        price = estimate(compile_term(kernel, launch, self.limits), self.profile)
        kept, arrays = p.To("global", kernel), dict[str, Expr]()
        for i, b in enumerate(self.blocks):
            arrays[b.stage.name if b.added is None else b.parts.name] = b.whole(work.array(kept, i))
        added = {b.stage.name: b.added for b in self.blocks if b.added is not None}
        sign = f"blocks {'x'.join(map(str, self.lengths))}: {', '.join(o.way.name for o in own)}"
        sizes = tuple((f"{i}.{k}", n) for i, o in enumerate(picked) for k, n in sorted(o.sizes.items()))
        account = Account("\n".join([*(text_of(b.parts) for b in self.blocks), f"  {self.x.name}"]), ())
        return FoundBlocks(Choice(sign, kernel, sizes, launch, price, account), added, arrays)

    def _schedule(self, stage: Stage, o: _Option) -> Schedule:
        found = scheduled(stage, self.which, o.way, self.profile.kind)
        assert found is not None, "what is near changes no loop"
        schedule, work = found
        return with_numbers(schedule, dict.fromkeys(work.tiles, 0) | o.sizes)  # no padding of what is kept besides


def _options(stage: Stage, blocks: Sequence[Dim], profile: Profile, limits: DeviceLimits) -> list[_Option]:
    """The cheapest of each shape of groups, by closed price."""
    found = list[_Option]()
    for way, s in inside(stage, blocks, profile.kind):
        with suppress(EggliftError):
            if (r := ranked(s, profile, limits, several=False)) is not None:
                found += _of_each_shape(way, r, profile.kind)
    found.sort(key=lambda o: o.seconds)
    return [o for o in found if o.seconds <= CLOSE[profile.kind] * found[0].seconds]


def _of_each_shape(way: Way, r: Ranked, kind: str) -> Iterator[_Option]:
    gpu, near = kind == "gpu", int(np.searchsorted(r.seconds, CLOSE[kind] * r.best, side="right"))
    s, columns = r.structure, {name: c[:near] for name, c in r.columns.items()}
    shape = [np.ones(near), np.ones(near)]
    for d in digits_of(s.schedule, columns, frozenset(d for q in s.stage.reductions for d in q.dims)) if gpu else ():
        if d.role == "item":
            shape[d.dim] = np.maximum(shape[d.dim], d.count)
    firsts = dict[tuple[int, ...], int]()
    for k in range(near):
        firsts.setdefault((int(shape[0][k]), int(shape[1][k])), k)
    for items, k in islice(firsts.items(), SHAPES):
        yield _Option(way, r.sizes(k), items, float(r.seconds[k]))


def _together(options: Sequence[Sequence[_Option]]) -> Iterator[tuple[_Option, ...]]:
    """One option of each stage: first those that take least, where items that a stage has not wait for it."""

    def price(picked: Sequence[_Option]) -> float:
        items = prod(map(max, zip(*(o.items for o in picked), strict=True)))
        return float(sum(o.seconds * items / prod(o.items) for o in picked))

    yield from sorted(product(*options), key=price)
