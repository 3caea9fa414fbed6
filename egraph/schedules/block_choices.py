"""The best blocks of stages that read one array, and what a group does with its block for each of them.

The structures of each stage are ranked by closed price, as if it were alone; some are put side by side, and priced by
the exact model, which knows what is read again from which cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.block_options import Option, options_of, side_by_side
from egglift.egraph.schedules.block_readings import BlockReading
from egglift.egraph.schedules.block_structures import SideBySide, scheduled, with_numbers
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.schedule import Schedule
from egglift.egraph.stages.blocks import Cut, InBlocks, block_copy, block_type, in_blocks, runs_of
from egglift.egraph.stages.stage import Dim, Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr

#: bytes of a block, and elements along the last axis: of a GPU's, in local memory; all of it where it is short
BYTES = {"gpu": (1 << 15, 1 << 14), "cpu": (1 << 16, 1 << 18)}
IN_TURN = (1 << 12, 1 << 13)  # bytes of a block where groups take some in turn
WIDTHS, WHOLE = {"gpu": (256, 128, 512), "cpu": (4096,)}, {"gpu": 1024, "cpu": 8192}
TRIED = {True: 6, False: 3}  # structures side by side that are generated for blocks of a shape
FAR = 1.3  # times as slow as the best so far may the first of these be, for others to be tried
GROUPS = (16, 8)  # for each unit, where they take blocks in turn
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
    for shape in _shapes(x, profile, limits):
        require_time()
        least = min((f.choice.seconds for f in found), default=apart)
        found += shape.found(TRIED[several], least)
    found.sort(key=lambda f: f.choice.seconds)
    near = [f for f in found if f.choice.seconds <= min(apart, NEAR * found[0].choice.seconds)]
    return near[: CHOICES if several else 1]


def _shapes(x: BlockReading, profile: Profile, limits: DeviceLimits) -> Iterator[_Shape]:
    """Blocks of several shapes; where all stages reduce along what is cut, a GPU's groups take some in turn."""
    in_turn = list(_in_turn(x, profile, limits)) if len(x.axes) == 1 and profile.kind == "gpu" and x.reduces else []
    yield from in_turn or (_Shape(x, n, profile, limits) for n in _lengths(x, profile.kind, BYTES[profile.kind]))


def _in_turn(x: BlockReading, profile: Profile, limits: DeviceLimits) -> Iterator[_Shape]:
    """Blocks that groups take in turn, as many groups as fill the device; whatever items share, nothing is left."""
    for (most,) in _lengths(x, profile.kind, IN_TURN):
        length = 1 << (most.bit_length() - 1)
        for groups in GROUPS:
            if (turns := x.extents[0] // (groups * profile.compute_units * length)) > 1:
                yield _Shape(x, (length,), profile, limits, turns)


def _lengths(x: BlockReading, kind: str, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Lengths of blocks of about so many bytes along the axes that are cut."""
    *outer, last = x.extents
    found = dict[tuple[int, ...], None]()
    for size in sizes:
        elements = max(1, size // x.bytes)
        widths = [last] if not outer else [last, *WIDTHS[kind]] if last <= WHOLE[kind] else WIDTHS[kind]
        for width in widths:
            width = min(width, last, elements)
            each = max(1, round((elements // width) ** (1 / len(outer)))) if outer else 1
            lengths = (*(min(1 << (each.bit_length() - 1), n) for n in outer), width if outer else min(elements, last))
            found[lengths] = None
    return [lengths for lengths in found if any(2 * n <= m for n, m in zip(lengths, x.extents, strict=True))]


def _near(x: BlockReading, copy: Stage) -> dict[Expr, p.Input]:
    """What stands for the blocks of each array."""
    return {v: p.Input(f"%block{i}", block_type(copy, i, len(x.views))) for i, v in enumerate(x.views)}


@dataclass(frozen=True)
class _Shape:
    """Blocks of one shape, of which groups take so many in turn."""

    x: BlockReading
    lengths: Sequence[int]
    profile: Profile
    limits: DeviceLimits
    turns: int = 1

    @cached_property
    def turn(self) -> Dim | None:
        """What counts the blocks of a run."""
        return self.x.names.dim(self.turns) if self.turns > 1 else None

    @cached_property
    def counted(self) -> tuple[Dim, ...]:
        """What counts blocks, or runs of them, and then the blocks of a run."""
        runs = (runs_of(n, length, self.turns) for n, length in zip(self.x.extents, self.lengths, strict=True))
        return (*map(self.x.names.dim, runs), *([self.turn] if self.turn else []))

    def _cuts(self, dims: Sequence[Dim]) -> list[Cut]:
        return [Cut(d, w, n, self.turn) for d, w, n in zip(dims, self.counted, self.lengths, strict=False)]

    @cached_property
    def copy(self) -> Stage | None:
        """What copies a block to local memory."""
        if self.profile.kind != "gpu":
            return None
        axes = [self.x.names.dim(n) for n in self.x.shape]
        return block_copy(self.x.views, self.x.names, axes, self._cuts([axes[a] for a in self.x.axes]))

    @cached_property
    def blocks(self) -> list[InBlocks]:
        """The stages in blocks."""
        near = _near(self.x, self.copy) if self.copy else {}
        each = zip(self.x.stages, self.x.dims, self.x.given, strict=True)
        return [in_blocks(s, self._cuts(dims), near, given) for s, dims, given in each]

    def found(self, tries: int, least: float) -> list[FoundBlocks]:
        """The cheapest of what was tried, where one is known that takes so many seconds; none where no code is."""
        stages = [*([self.copy] if self.copy else []), *(b.block for b in self.blocks)]
        options = [options_of(s, self.counted, self.profile, self.limits) for s in stages]
        found = list[FoundBlocks]()
        for picked in side_by_side(options, self.profile.kind, tries, self.turn is not None):
            with suppress(EggliftError):
                found.append(self._made(picked))
            if found and found[0].choice.seconds > FAR * least:
                break
        return sorted(found, key=lambda f: f.choice.seconds)[:1]

    def _made(self, picked: Sequence[Option]) -> FoundBlocks:
        """These ways side by side, with the price of the kernel."""
        own = picked[1:] if self.copy else picked
        copy = (self.copy, self._schedule(self.copy, picked[0])) if self.copy else None
        stages = [(b.near, self._schedule(b.near, o)) for b, o in zip(self.blocks, own, strict=True)]
        near = [f"%block{i}" for i in range(len(self.x.views))] if self.copy else []
        work = SideBySide(stages, self.counted, copy, near, self.turn)
        kernel = work.program()
        launch = Launch(self.limits.group_size if self.profile.kind == "gpu" else 1)
        price = estimate(compile_term(kernel, launch, self.limits), self.profile)
        kept, arrays = p.To("global", kernel), dict[str, Expr]()
        for i, b in enumerate(self.blocks):
            arrays[b.stage.name if b.added is None else b.parts.name] = b.whole(work.array(kept, i))
        added = {b.stage.name: b.added for b in self.blocks if b.added is not None}
        turns = f"{self.turns} times " if self.turn else ""
        sign = f"blocks {turns}{'x'.join(map(str, self.lengths))}: {', '.join(o.way.name for o in own)}"
        sizes = tuple((f"{i}.{k}", n) for i, o in enumerate(picked) for k, n in sorted(o.sizes.items()))
        account = Account("\n".join([*(text_of(b.parts) for b in self.blocks), f"  {self.x.name}"]), ())
        return FoundBlocks(Choice(sign, kernel, sizes, launch, price, account), added, arrays)

    def _schedule(self, stage: Stage, o: Option) -> Schedule:
        found = scheduled(stage, self.counted, o.way, self.profile.kind, self.turn is not None)
        assert found is not None, "what is near changes no loop"
        schedule, work = found
        return with_numbers(schedule, dict.fromkeys(work.tiles, 0) | o.sizes)  # no padding of what is kept besides
