"""Programs put together of choices for their stages, under one launch, with their prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isclose

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import Estimate, estimate, in_turn
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import joined
from egglift.egraph.schedules.again import together
from egglift.egraph.schedules.choice import Choice, combinations
from egglift.egraph.schedules.steps import Alone, InPieces, Steps
from egglift.egraph.stages.canonical import unnamed
from egglift.egraph.stages.partition import Stages
from egglift.ir import patterns as p
from egglift.ir.errors import EggliftError
from egglift.ir.patterns import Expr

ALIKE = 0.05  # apart may the prices of a program and of its stages be that are taken for the same


@dataclass
class Combining:
    """Puts choices together for a device of that profile; what it has priced, it knows."""

    profile: Profile
    limits: DeviceLimits
    _under: dict[tuple[Expr, Launch], Estimate | None] = field(default_factory=dict, init=False, repr=False)

    def combined(self, whole: Stages, best: Sequence[Sequence[Choice]], by: Steps) -> Iterator[Choice]:
        """Programs put together of choices for each stage, where one wants it under the launch of the cheapest."""
        launch: Launch | None = None
        apart = True  # does the whole take as long as its stages?
        for picked in combinations(best):
            wanted = dict.fromkeys(c.launch for c in picked)
            launches = [launch] if launch in wanted else list(wanted)
            choice = self._together(whole, picked, launches, apart)
            if choice is not None and launch is None and apart and not self._is_of_parts(whole, choice):
                apart, choice = False, self._together(whole, picked, launches, False)
            if choice is not None:
                launch = launch or choice.launch
                known = [c.made for c in picked if isinstance(c.made, Alone | InPieces)]
                made = replace(by, stages=tuple(known)) if len(known) == len(picked) else None
                yield replace(choice, made=made)

    def _together(
        self, whole: Stages, picked: Sequence[Choice], launches: Sequence[Launch], apart: bool
    ) -> Choice | None:
        """A choice for each stage as one program.  apart: is it known to take as long as these do?"""
        result = together(whole, [c.term for c in picked])
        sign = " | ".join(c.sign for c in picked)
        return next(iter(self.priced(sign, result, picked, launches, apart)), None)

    def _is_of_parts(self, whole: Stages, c: Choice) -> bool:
        """Are a program's kernels those of its stages?  Some lay out what these wrote, by one more, or elsewhere."""
        results = whole.result.items if isinstance(whole.result, p.Tup) else (whole.result,)
        if all(isinstance(x, p.Input) for x in results) and len(set(results)) == len(results):
            return True
        price = self._price_of(c.term, c.launch, None)
        if price is None or len(price.kernels) != len(c.estimate.kernels):
            return False
        return isclose(price.seconds, c.seconds, rel_tol=ALIKE)

    def priced(
        self, sign: str, term: Expr, parts: Sequence[Choice], launches: Sequence[Launch] = (), apart: bool = True
    ) -> list[Choice]:
        """The program under the best of these launches, or of its parts': apart: as long as these take."""
        found = []
        for launch in launches or dict.fromkeys(c.launch for c in parts):
            whole = [(term, None)] if not apart else [(c.term, c) for c in parts]
            models = [m for t, c in whole if (m := self._price_of(t, launch, c)) is not None]
            if len(models) == len(whole):
                sizes = tuple((f"{i}.{k}" if len(parts) > 1 else k, v) for i, c in enumerate(parts) for k, v in c.sizes)
                found.append(Choice(sign, term, sizes, launch, in_turn(models), joined(c.account for c in parts)))
        return sorted(found, key=lambda c: c.seconds)[:1]

    def _price_of(self, term: Expr, launch: Launch, known: Choice | None) -> Estimate | None:
        """The price of a program under a launch; None where it has no code so.  known: a choice with that term."""
        if known and (launch.group_size, launch.max_groups) == (known.launch.group_size, known.launch.max_groups):
            return known.estimate
        key = unnamed(term), launch
        if key not in self._under:
            self._under[key] = None
            with suppress(EggliftError):
                self._under[key] = estimate(compile_term(*key, self.limits), self.profile)
        return self._under[key]
