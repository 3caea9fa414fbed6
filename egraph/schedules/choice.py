"""What is chosen for a stage, or for a whole program, and what is put together of such choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.model.estimate import Estimate
from egglift.costmodel.search.sizes import Point
from egglift.egraph.schedules.account import Account, said_sizes
from egglift.egraph.schedules.ranking import Ranked, cheapest
from egglift.egraph.schedules.scan_choices import Priced
from egglift.egraph.schedules.steps import Alone, InPieces, Steps
from egglift.egraph.stages.canonical import Canonical
from egglift.egraph.stages.stage import Stage
from egglift.egraph.stages.stage_text import text_of
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr

NEAR = 1.3  # times as slow as the best may structures be that are kept besides it
SMALL = 0.1  # of the time of all stages, what one takes whose other choices are not tried alone
KEPT = 4  # choices of a stage that are put together with those of the others


@dataclass(frozen=True)
class Choice:
    """A low-level program of a stage, or of a whole program, its sizes, its launch and its price.

    made: how it is made again over other lengths, None: not at all.
    """

    sign: str
    term: Expr
    sizes: tuple[tuple[str, int], ...]
    launch: Launch
    estimate: Estimate
    account: Account
    made: Alone | InPieces | Steps | None = None

    @property
    def seconds(self) -> float:
        return self.estimate.seconds

    def named(self, by: Canonical) -> Choice:
        """What was chosen for canonical stages, for the stages themselves."""
        account = Account(by.told(self.account.text), self.account.laws)
        return replace(self, term=by.named(self.term), account=account)


@dataclass(frozen=True)
class Found:
    """A choice for what is one kernel, or for pieces of it, which `added` adds up: that reads `arrays` by name.

    wanted: which of the arrays are read elsewhere, too.
    """

    choice: Choice
    pieces: int = 1
    added: Stage | None = None
    arrays: Mapping[str, Expr] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """What the pieces are."""
        return f"{self.pieces} parts {self.choice.sign}" if self.pieces > 1 else self.choice.sign

    def whole(self, result: Expr) -> Expr:
        """The result, or a tuple of it and of what else is wanted."""
        return p.Tup((result, *(self.arrays[name] for name in self.wanted))) if self.wanted else result


@dataclass(frozen=True)
class Parts:
    """A stage as two, with their structures: that of parts, and the one that adds them or lays them out.

    sign: what the parts are; why: it may be, in a sentence, if the stages do not say it; pieces: how many each
    reduction is shared out over, if they are; saved: seconds less than two launches take.
    """

    sign: str
    parts: Stage
    added: Stage
    first: list[Ranked]
    last: list[Ranked]
    why: str = ""
    pieces: int | None = None
    saved: float = 0.0

    @property
    def seconds(self) -> float:
        """The closed price."""
        return cheapest(self.first) + cheapest(self.last) - self.saved


def combinations(best: Sequence[Sequence[Choice]]) -> Iterator[list[Choice]]:
    """The cheapest of each stage; the next of all; and of one stage at a time, those that cost most first.

    Of a stage that takes a small part of the time, others alone would keep what matters from being measured.
    """
    first = [choices[0] for choices in best]
    least = SMALL * sum(c.seconds for c in first)
    yield first
    if len(best) > 1:  # what the model errs about in one stage, it errs about in those like it
        for rank in range(1, KEPT):
            yield [choices[min(rank, len(choices) - 1)] for choices in best]
    for i in sorted(range(len(best)), key=lambda i: -first[i].seconds):
        for other in best[i][1:] if first[i].seconds >= least else ():
            yield [*first[:i], other, *first[i + 1 :]]


def scanning(stage: Stage, x: Priced) -> Choice:
    """What was found for a stage that scans, as a choice."""
    account = Account(f"{text_of(stage)}\n  {x.sign}{said_sizes(x.point.sizes)}", ())
    return Choice(x.sign, x.point.term, x.point.sizes, x.point.launch, x.point.estimate, account)


def counting(stage: Stage, x: Point) -> Choice:
    """What was found for a stage that counts, as a choice."""
    account = Account(f"{text_of(stage)}\n  rows", ())
    return Choice("rows", x.term, x.sizes, x.launch, x.estimate, account)


def kernels(x: Point) -> tuple[object, ...]:
    """Equal for assignments that make the same kernels."""
    return tuple((k.source, k.global_size) for k in x.plan.kernels)


def of_all_kinds(found: list[Choice], near: float = NEAR) -> list[Choice]:
    """The best of each structure that is nearly as good as the best of all, then the others, each by rising price."""
    first = {c.sign: c for c in reversed(found) if c.seconds <= near * found[0].seconds}
    return sorted(found, key=lambda c: (c is not first.get(c.sign), c.seconds))
