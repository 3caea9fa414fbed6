"""Phases as data: how often laws run together, and what stops them.  Which laws run in which, their headers say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from egglift.egraph.rules.book import Book, Law, book, rules_of
from egglift.egraph.rules.limits import GRACE as GRACE
from egglift.egraph.rules.limits import Limits as Limits


@dataclass(frozen=True)
class Phase:
    """`laws` (names; "user" stands for all of the user's) run together, at most `iterations` times.

    back: laws that run from right to left.  bottom: arrays where chains of maps begin are found.
    """

    name: str
    laws: tuple[str, ...]
    iterations: int
    back: tuple[str, ...] = ()
    share: float = 1.0  # of the limits, for this phase and those before it
    bottom: bool = False


def laws_in(phase: str) -> tuple[str, ...]:
    """The laws whose headers name `phase`, in the order of the book: in this order a phase applies them."""
    return tuple(law.name for law in book().laws if phase in law.phases)


#: Equations that make programs smaller; they run with the administrative rules in every phase.
SIMPLIFY = laws_in("simplify")

#: Which laws run in these phases, their headers say; the user's run in all of them.
FUSE = Phase("fuse", (*laws_in("fuse"), "user"), 1000, bottom=True, share=0.3)
TILE = Phase("tile", (*laws_in("tile"), "user"), 12, share=0.7)
LOWER = Phase("lower", (*laws_in("lower"), "user"), 3)

#: How programs are optimised.
EXPLORE = (FUSE, TILE, LOWER)

#: How programs are shared out over several devices; each device's program is then explored as any other.
DISTRIBUTE = (Phase("distribute", laws_in("distribute"), 16),)

#: What the headers of laws may name as a phase, and what it is for.
NAMES = {
    "simplify": "with the administrative rules, all the time: programs get smaller",
    "fuse": "first: neighbouring patterns become one",
    "tile": "then: arrays are cut, loops change places",
    "lower": "last: who executes what, and where values are kept",
    "distribute": "before all others, apart from them: which device has which part of what",
}

#: What says who executes, where values are kept or how long a tile is: no proof of equality invents that.
_CHOICES = frozenset({"MapL", "FoldUnroll", "FoldAhead", "To", "Increase", "Tile"})


def chooses(law: Law) -> bool:
    """Do a law's rules, from left to right, make levels, memories or new tile lengths?"""
    heads = [str(action) for rule in rules_of(law) if rule.ruleset == law.name for action in rule.head]
    return any(f"({name} " in head for head in heads for name in _CHOICES)


def proof(whole: Book) -> tuple[Phase, ...]:
    """How two programs are compared.

    First both are collapsed: laws from right to left undo levels, memories and tilings.  Where that does not
    make them meet, the laws that restructure run in both directions.  Laws that only offer levels, memories
    or new tile symbols never run from left to right: the levels and lengths are those of the two programs.
    """
    offers = {law.name for law in whole.laws if law.group == "tiling" or (law.group != "user" and chooses(law))}
    several = {law.name for law in whole.laws if law.group == "devices"}  # of one device's programs they say nothing
    every = tuple(name for name in whole.names if name not in {*SIMPLIFY, *several})
    forward = tuple(name for name in every if name not in {*offers, "map-one"})
    opened = (*FUSE.laws, "reduce-to-fold", "iterate-unfold")
    fuse = tuple(name for name in opened if name != "map-one")  # it copies bodies: only where all else fails
    return (
        Phase("collapse", fuse, 32, back=every, bottom=True),
        Phase("restructure", forward, 24, back=every, bottom=True),
        Phase("open", opened, 16, back=every, bottom=True),
    )


def without(laws: Collection[str], phases: Sequence[Phase], at: tuple[str, int] | None = None) -> Iterator[Phase]:
    """`phases` in which these laws take no part from iteration `at` of a phase on; None: in none at all."""
    for phase in phases:
        done = phase.iterations if at else 0
        if at and at[0] == phase.name:
            done, at = at[1], None
        if done:
            yield replace(phase, iterations=done)
        if done < phase.iterations:
            kept, back = ((n for n in names if n != "user" and n not in laws) for names in (phase.laws, phase.back))
            rest = phase.iterations - done
            yield replace(phase, name=f"{phase.name}-book", laws=tuple(kept), back=tuple(back), iterations=rest)


def rulesets(phase: Phase, whole: Book, allowed: frozenset[str]) -> Iterator[str]:
    """The rulesets of a phase, those of `allowed` laws only."""
    if phase.bottom:
        yield "bottoms"
    for law in whole.laws:
        if law.name in allowed:
            if law.name in phase.laws or ("user" in phase.laws and law.group == "user"):
                yield law.name
            if law.name in phase.back and law.has_back:
                yield f"{law.name}/back"
