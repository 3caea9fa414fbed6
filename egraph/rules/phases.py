"""Phases as data: which laws run together, how often, and what stops them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from egglift.egraph.rules.book import Book


@dataclass(frozen=True)
class Limits:
    """When to stop: `rows` that laws have added to the e-graph, `seconds` on the clock.

    Checked between iterations, so that the last one may overshoot.  The first phases have a share of both,
    and the last makes one step in any case: what was found is always lowered.  Where laws of the user's run, an
    iteration that takes GRACE seconds more, or more than `memory` bytes, is ended by force.
    """

    rows: int = 25_000
    seconds: float = 20.0
    memory: int = 2 << 30


#: seconds beyond its limit in which an iteration must be done where laws of the user's run
GRACE = 5.0


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


#: Equations that make programs smaller; they run with the administrative rules in every phase.
SIMPLIFY = ("map-id", "join-split", "transpose-transpose", "concat-take-drop", "take-all", "iterate-zero")

FUSE = Phase(
    "fuse",
    (
        "map-fusion",
        "zip-map",
        "zip-distl",
        "map-one",
        "map-promotion",
        "split-of-join",
        "unzip-left",
        "unzip-right",
        "stride-trivial",
        "slide-is-split",
        "iterate-one",
        "reduce-promotion",
        "reduce-absorb",
        "fold-map-fusion",
        "reduce-seed",
        "separate",
        "reduce-window",
        "user",
    ),
    1000,
    bottom=True,
    share=0.3,
)
TILE = Phase(
    "tile",
    (
        "deal",
        "chunk",
        "vectorise-reduce",
        "vectorise-map",
        "tile-map",
        "hoist-capture",
        "reduce-to-fold",
        "fold-map-fusion",
        "block",
        "block-row",
        "fold-split",
        "split-k",
        "split-row",
        "fission",
        "interchange-outer",
        "interchange-outer-into",
        "interchange-row",
        "interchange-row-into",
        "tile-outer",
        "tile-row",
        "split-zip",
        "take-zip",
        "drop-zip",
        "unzip-left",
        "unzip-right",
        "split-distl",
        "take-distl",
        "drop-distl",
        "slide-tiling",
        "slide-tiling-2d",
        "slide-tiling-3d",
        "interchange-window",
        "zip-part",
        "pad-pad",
        "pad-none",
        "user",
    ),
    12,
    share=0.7,
)
LOWER = Phase(
    "lower",
    (
        "drop-map",
        "reduce-to-fold",
        "reduce-to-tree",
        "fold-map-fusion",
        "fold-unroll",
        "map-global",
        "map-global-2d",
        "map-global-3d",
        "map-workgroup-2d",
        "map-workgroup-3d",
        "map-local-2d",
        "map-local-3d",
        "prefetch",
        "increase",
        "pack",
        "map-workgroup",
        "map-local",
        "map-seq",
        "map-seq-unroll",
        "map-warp",
        "map-lane",
        "map-vec",
        "copy-result",
        "copy-result-2d",
        "to-global",
        "to-local",
        "to-private",
        "user",
    ),
    3,
)

#: How programs are optimised.
EXPLORE = (FUSE, TILE, LOWER)

#: Other laws than tiling.egg's that cut with new tile symbols: in a proof the lengths are those of the two programs.
CUTTING = (
    "deal",
    "chunk",
    "vectorise-reduce",
    "vectorise-map",
    "tile-map",
    "reduce-stride",
    "slide-tiling",
    "slide-tiling-2d",
    "slide-tiling-3d",
    "slide-slide",
)


def proof(book: Book) -> tuple[Phase, ...]:
    """How two programs are compared.

    First both are collapsed: laws from right to left undo levels, memories and tilings.  Where that does not
    make them meet, the laws that restructure run in both directions.  Laws that only offer levels, memories
    or new tile symbols never run from left to right: the levels and lengths are those of the two programs.
    """
    offers = {
        law.name
        for law in book.laws
        if law.group in ("tiling", "lowering", "memory") or law.name in (*CUTTING, "map-vec")
    }
    every = tuple(name for name in book.names if name not in SIMPLIFY)
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


def rulesets(phase: Phase, book: Book, allowed: frozenset[str]) -> Iterator[str]:
    """The rulesets of a phase, those of `allowed` laws only."""
    if phase.bottom:
        yield "bottoms"
    for law in book.laws:
        if law.name in allowed:
            if law.name in phase.laws or ("user" in phase.laws and law.group == "user"):
                yield law.name
            if law.name in phase.back and law.has_back:
                yield f"{law.name}/back"
