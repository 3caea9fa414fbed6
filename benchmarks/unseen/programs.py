"""All programs that were written unseen."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.brought.programs import named
from benchmarks.unseen import (
    attention,
    beside,
    bits,
    colours,
    contractions,
    convolutions,
    elements,
    grids,
    images,
    learning,
    normalisations,
    pairs,
    sciences,
    series,
    statistics,
)
from benchmarks.unseen.program import Unseen

#: by field, from layers of learning to series, bits and sciences
PROGRAMS: tuple[Unseen, ...] = (
    *convolutions.PROGRAMS,
    *normalisations.PROGRAMS,
    *attention.PROGRAMS,
    *learning.PROGRAMS,
    *images.PROGRAMS,
    *colours.PROGRAMS,
    *grids.PROGRAMS,
    *contractions.PROGRAMS,
    *pairs.PROGRAMS,
    *statistics.PROGRAMS,
    *series.PROGRAMS,
    *elements.PROGRAMS,
    *bits.PROGRAMS,
    *sciences.PROGRAMS,
    *beside.PROGRAMS,
)


def chosen(names: Sequence[str]) -> tuple[Unseen, ...]:
    """The programs of those names; all where none is given.  ValueError where there is no such program."""
    return named(PROGRAMS, names)
