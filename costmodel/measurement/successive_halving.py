"""Which candidates to measure next, and how long: successive halving over what is known so far.  No device is needed.

The first round looks briefly at the best by the model.  What it finds corrects the model's scale, kind by kind, and
brings in the best of the rest; the faster half stays in the race, and is timed longer; the last round is for two.
On recorded candidates this chooses as well as timing the first by the model alike (1.021 times the best of a hundred
on PoCL, geometric mean over 16 programs, where the first eight give 1.023; `benchmarks/rounds.py`), in half the time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: seconds of timing for one candidate, round by round: no more than the last helps
EFFORTS = (0.03, 0.1, 0.3)
#: the part of all measurements that the first round makes; the second makes the others
FIRST = 0.75
#: after the first round, what the corrected model takes for this much slower than the best is not looked at
HOPELESS = 1.5
#: what the model takes for so many times as slow as the best is not looked at while another is left
SLOW = 20.0
#: the best of a kind is looked at first if the model takes it for at most so many times as slow as the best of all
CLOSE = 1.1
#: and the best that was found in another way, if it takes it for at most so many times as slow
APART = 2.0
#: so many are timed in the last round
FINAL = 2


@dataclass(frozen=True)
class Entrant:
    """A candidate in the race.

    estimate: seconds by the model.  kind: what the model may err about alike (the candidate's structure).
    tried: was it measured, or at least begun?  seconds: measured, None where it was not or cannot be chosen.  way: how
    candidates of its kind are found, by laws or by schedules.
    """

    estimate: float
    kind: str
    tried: bool = False
    seconds: float | None = None
    way: str = ""


@dataclass(frozen=True)
class Round:
    """The next step: `fresh` is what is built and checked, `timed` what is timed, fresh ones included, for `effort`."""

    fresh: tuple[int, ...]
    timed: tuple[int, ...]
    effort: float


def next_round(race: Sequence[Entrant], number: int, measurements: int) -> Round | None:
    """The round `number` (from 0), given what is known; None: the race is over.

    measurements: how many candidates are looked at, all in all; more only where none of those can be chosen.
    """
    left = [i for i, e in enumerate(race) if not e.tried]
    right = sorted((i for i, e in enumerate(race) if e.seconds is not None), key=lambda i: race[i].seconds or 0.0)
    if not right:
        count = min(measurements, max(1, math.ceil(FIRST * measurements)))
        fresh = tuple(_first(race, left, count))
        return Round(fresh, fresh, EFFORTS[0]) if fresh else None
    if number >= len(EFFORTS):
        return None
    if number == len(EFFORTS) - 1:
        return Round((), tuple(right[:FINAL]), EFFORTS[number])
    room = max(0, measurements - (len(race) - len(left)))
    price, best = corrected(race), race[right[0]].seconds or 0.0
    fresh = tuple(i for i in sorted(left, key=price.__getitem__)[:room] if price[i] <= HOPELESS * best)
    stay = right[: max(FINAL, len(right) // 2)]
    return Round(fresh, (*stay, *fresh), EFFORTS[number])


def _first(race: Sequence[Entrant], left: Sequence[int], count: int) -> list[int]:
    """Whom to look at first: the best by the model, and of kinds that are not among them the best, if it is close.

    What the model errs about, it errs about for a whole kind: several of one kind would show one thing only.  Even more
    so for all that is found in one way: the best of another is looked at if it may be as fast.
    """
    order = sorted(left, key=lambda i: race[i].estimate)
    order = [i for i in order if race[i].estimate <= SLOW * race[order[0]].estimate]
    first = order[: count - count // 2]
    ways = {race[i].way for i in first}
    for i in order[len(first) :]:
        if race[i].way not in ways and race[i].estimate <= APART * race[order[0]].estimate:
            ways.add(race[i].way)
            first.append(i)
    kinds = {race[i].kind for i in first}
    for i in order:
        if i not in first and race[i].kind not in kinds and race[i].estimate <= CLOSE * race[order[0]].estimate:
            kinds.add(race[i].kind)
            first.append(i)
    return [*first, *(i for i in order if i not in first)][:count]


def corrected(race: Sequence[Entrant]) -> list[float]:
    """Seconds by the model for every candidate, its scale corrected by the measured ones: of its kind, and of all.

    The correction of a kind is the median of its measurements' logarithms, and that of all counts as one more.
    """
    logs: dict[str, list[float]] = {}
    for e in race:
        if e.seconds and e.estimate:
            logs.setdefault(e.kind, []).append(math.log(e.seconds / e.estimate))
    common = statistics.median([x for of_kind in logs.values() for x in of_kind] or [0.0])

    def scale(kind: str) -> float:
        own = logs.get(kind, [])
        return math.exp((sum(statistics.median(own) for _ in own) + common) / (len(own) + 1))

    return [e.estimate * scale(e.kind) for e in race]
