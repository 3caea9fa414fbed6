"""A stage in blocks of the dimensions of what it reads: what each block yields, and the result made of that.

    s[0] = sum_1 A[0,1]  ->  s.blocks[2,3,4] = sum_5 A[2 * l + 4, 3 * c + 5];  s[0] = sum_3 s.blocks[0 / l, 3, 0 mod l]
    m[0,1] = f A[0,1]    ->  m.blocks[2,3,4,5] = f A[2 * l + 4, 3 * c + 5], in their order

2 and 3 count the blocks.  Blocks that reach beyond the end of what is reduced take in the neutral element there.  What
is reduced may be cut into runs of blocks, which are taken in turn:

    s[0] = sum_1 A[1,0]  ->  s.blocks[2,0] = sum_3,4 A[(2 * t + 3) * l + 4, 0];  s[0] = sum_2 s.blocks[2,0]

source: [Hagedorn2018] (25), over several dimensions; an element is in one block
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from egglift.egraph.stages.adjacent import separated
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.sharing import added, can_share, commutes
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, merged, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL, Array, Tuple, Type

EVEN = 64  # runs of blocks


@dataclass(frozen=True)
class Cut:
    """A dimension of a stage in blocks of `length`, which `which` counts; the last one may reach beyond the end.

    turn: counts the blocks of a run; then `which` counts the runs, `EVEN` or a multiple of it: what they have found is
    added by many items, each of which then has as many parts.
    """

    dim: Dim
    which: Dim
    length: int
    turn: Dim | None = None

    @property
    def run(self) -> int:
        """How many indices one of `which` has."""
        return self.length * (number(self.turn) if self.turn else 1)

    @property
    def counted(self) -> tuple[Dim, ...]:
        """What counts blocks, the outermost first."""
        return (self.which, self.turn) if self.turn else (self.which,)

    @property
    def _padded(self) -> int:
        """What the dimension is filled up to a multiple of."""
        return self.run * EVEN if self.turn else self.run

    def split(self, x: Expr) -> Expr:
        """An axis of an array as one for each that counts, and one for what is within, filled up."""
        return self._split(p.PadUp(self._padded, x) if self.ends else x)

    def _split(self, x: Expr) -> Expr:
        runs = p.Split(self.run, x)
        return at_depth(1, runs, lambda e: p.Split(self.length, e)) if self.turn else runs

    @property
    def ends(self) -> bool:
        """Does the last block reach beyond the end?"""
        return number(self.dim) % self._padded != 0

    @property
    def there(self) -> Expr:
        """Is an index before the end?  An array of as many axes."""
        there = p.Fill(number(self.dim), p.Literal(True, BOOL))
        return self._split(p.PadUp(self._padded, there, p.Literal(False, BOOL)))


def runs_of(n: int, length: int, turns: int) -> int:
    """How many runs of so many blocks there are of n indices; of one block each, how many blocks."""
    each = length * turns
    return -(-n // (each * EVEN)) * EVEN if turns > 1 else -(-n // each)


@dataclass(frozen=True)
class InBlocks:
    """parts: the stage of the blocks, or of their runs, over these and then over what is within; block: what is made of
    one block; near: the same, given elements of blocks of what it reads; added: the stage that adds up what blocks have
    reduced, of an array named after `parts`; None: the blocks' elements are the result's."""

    stage: Stage
    parts: Stage
    block: Stage
    near: Stage
    added: Stage | None
    order: Callable[[Expr], Expr] = field(repr=False)

    def whole(self, x: Expr) -> Expr:
        """The result, or what `added` reads, of the array of `parts`."""
        return self.order(x)


def can_be_in_blocks(stage: Stage, dims: Sequence[Dim]) -> bool:
    """May a stage be computed in blocks of these dimensions?"""
    if stage.is_apart or stage.given or stage.planes is not None or len(stage.phases) > 1:
        return False
    reduced = {d for r in stage.reductions for d in r.dims}
    return not reduced & set(dims) or (can_share(stage) and commutes(stage))


def in_blocks(
    stage: Stage,
    cuts: Sequence[Cut],
    near: Mapping[Expr, p.Input] | None = None,
    given: tuple[Stage, tuple[int, ...]] | None = None,
) -> InBlocks:
    """A stage that may be computed so, in these blocks.

    near: by what is read along all that is cut, what stands for it in blocks, an array over these and then over what is
    within.  given: the stage as it was before some of its dimensions became one, and where that is cut again.
    """
    work, (old, again) = _Blocks(stage, tuple(cuts), near or {}), given or (stage, ())
    body, near_body = work.body(work.cut), work.body(work.near)
    block = Stage(f"{stage.name}.blocks", work.counted, body, stage.names, narrow=stage.narrow)
    own = replace(block, body=near_body, given=frozenset(work.given))
    parts = replace(block, dims=work.dims, body=work.body(work.cut, in_runs=True)) if work.turns else block
    first = 1 if work.partial else 0

    def order(x: Expr) -> Expr:
        return at_depth(first, work.in_order(x), lambda e: separated(e, again)) if again else work.in_order(x)

    if not work.partial:
        return InBlocks(stage, parts, block, own, None, order)
    array = order(p.Input(parts.name, parts.type))
    part = stage.names.dim(prod(number(c.which) for c in work.partial))
    whole = added(old, p.Input(parts.name, type_of(array)), (part, *old.dims), part)
    return InBlocks(stage, parts, block, own, whole, order)


class _Blocks:
    def __init__(self, stage: Stage, cuts: tuple[Cut, ...], blocks: Mapping[Expr, p.Input]) -> None:
        self.stage, self.cuts, self.blocks = stage, cuts, blocks
        self.inside = {c.dim: stage.names.dim(c.length) for c in cuts}
        reduced = {d for r in stage.reductions for d in r.dims}
        self.partial = [c for c in cuts if c.dim in reduced]
        self.turns = [c.turn for c in cuts if c.turn]
        inner = [self.inside.get(d, d) for d in stage.dims]
        self.dims, self.counted = (*(c.which for c in cuts), *inner), (*counted(cuts), *inner)
        self.given: list[p.Input] = []

    @property
    def names(self) -> Names:
        return self.stage.names

    def cut(self, read: Read) -> Read:
        """What is read, in blocks."""
        for c in self.cuts:
            read = read.along(c.dim, c.split, (*c.counted, self.inside[c.dim]))
        return read

    def near(self, read: Read) -> Read:
        """The same, of a block that is near."""
        plain = plain_read(read)
        if plain.view not in self.blocks:
            return self.cut(read)
        dims = (*counted(self.cuts), *(self.inside.get(d, d) for d in plain.dims))
        found = Read(self.blocks[plain.view], dims)
        name = self.names.read(found)
        assert isinstance(name, p.Input)
        self.given.append(name)
        return found

    def body(self, cut: Callable[[Read], Read], in_runs: bool = False) -> Expr:
        """What is made of a block, or of a run of them: its reductions alone, where these go on in others."""
        if not self.partial:
            return self.names.with_reads(self.stage.body, cut)
        ends = [c for c in self.partial if c.ends]
        there = [self.names.read(Read(c.there, (*c.counted, self.inside[c.dim]))) for c in ends]
        reductions = (r for _, r in self.names.of(self.stage.body) if isinstance(r, Reduction))
        turns = self.turns if in_runs else []
        return as_one([self._reduced(r, cut, there, turns) for r in reductions])

    def _reduced(self, r: Reduction, cut: Callable[[Read], Read], there: Sequence[Expr], turns: Sequence[Dim]) -> Expr:
        """A reduction over the elements of a block, or of the blocks of a run, that there are."""
        assert r.op is not None and r.op.neutral is not None
        element = self.names.with_reads(r.element, cut)
        for condition in there:
            element = _where(condition, element, r.op.neutral)
        dims = (*turns, *(self.inside.get(d, d) for d in r.dims))
        return self.names.reduced(replace(r, init=r.op.neutral, dims=dims, element=element))

    def in_order(self, array: Expr) -> Expr:
        """The blocks' elements in the order of the result; before, as one axis, the blocks of what is reduced."""
        own = {c.dim: (c.which, self.inside[c.dim]) for c in self.cuts}
        parts = [c.which for c in self.partial]
        axes = [own.get(d, (d,)) for d in self.stage.dims]
        array = permuted(array, self.dims, [*parts, *(a for each in axes for a in each)])
        first = 1 if parts else 0
        array = merged(array, 0, len(parts)) if parts else array
        for depth, (d, each) in enumerate(zip(self.stage.dims, axes, strict=True), first):
            array = merged(array, depth, len(each))
            if len(each) > 1 and number(d) % number(each[1]):
                array = at_depth(depth, array, lambda e, d=d: p.Take(d.extent, e))  # type: ignore[misc]
        return array


def counted(cuts: Sequence[Cut]) -> tuple[Dim, ...]:
    """What counts blocks, and then those of their runs."""
    return (*(c.which for c in cuts), *(c.turn for c in cuts if c.turn))


def _where(condition: Expr, x: Expr, other: Expr) -> Expr:
    """One of two numbers, or of two tuples of such."""
    if isinstance(x, p.Tup):
        others = other.items if isinstance(other, p.Tup) else [p.Get(i, other) for i in range(len(x.items))]
        return p.Tup(tuple(_where(condition, a, b) for a, b in zip(x.items, others, strict=True)))
    return p.Apply("where", (condition, x, other))


def block_copy(views: Sequence[Expr], names: Names, axes: Sequence[Dim], cuts: Sequence[Cut]) -> Stage:
    """A stage that yields blocks of arrays over the same axes, as they are; of several arrays, tuples."""
    work = _Blocks(Stage("%blocks", tuple(axes), p.Tup(()), names), tuple(cuts), {})
    body = as_one([names.read(work.cut(Read(view, tuple(axes)))) for view in views])
    inner = (work.inside.get(d, d) for d in axes)
    return Stage("%blocks", (*counted(cuts), *inner), body, names)


def block_type(copy: Stage, i: int, count: int) -> Type:
    """The type of the i-th of so many arrays that `copy` yields."""
    t = type_of(copy.body)
    if count > 1:
        assert isinstance(t, Tuple)
        t = t.items[i]
    for d in reversed(copy.dims):
        t = Array(d.extent, t)
    return t
