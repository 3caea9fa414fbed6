"""Neighbours of the catalogue's programs, which need as little as they do: does the model's best price say so?

    python -m benchmarks.neighbours [NAME[:SIZE]...] [--device nvidia_h200] [--kind KIND...] [--above 1.3]

A neighbour differs from its program by one small change (`benchmarks/changes.py`), and its floor says what the change
costs.  A line for each: how many times the program's best estimate its own is, over the ratio of their floors.  What is
far above 1 is a law or a way that one shape has and the other has not.  No device is needed: `--device` is a preset.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import egglift as el
from benchmarks.changes import CHANGES, Case, resized
from benchmarks.floor import floor
from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from benchmarks.suites import SUITES
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.ir.errors import EggliftError
from egglift.options import Laws, useful
from egglift.search import searched

#: what a ratio is listed above
ABOVE = 1.3
LONGER, SHORTER = "lengths + 1", "lengths - 1"
KINDS = (*CHANGES, LONGER, SHORTER)


@dataclass(frozen=True)
class Price:
    """What a program is expected to take: the model's best estimate and the floor, in seconds; the best's structure."""

    best: float
    floor: float
    structure: str

    def __str__(self) -> str:
        return f"{1e6 * self.best:.1f} us (floor {1e6 * self.floor:.1f})"


@dataclass(frozen=True)
class Comparison:
    """A program at a size beside its neighbour."""

    name: str
    size: Size
    kind: str
    program: Price
    neighbour: Price

    @property
    def ratio(self) -> float:
        """How many times as slow as its floor the neighbour is, over the same of the program."""
        return (self.neighbour.best / self.neighbour.floor) / (self.program.best / self.program.floor)

    def __str__(self) -> str:
        name = f"{self.name}:{size_text(self.size)}"
        return f"{self.ratio:6.2f}  {name:36} {self.kind:14} {self.neighbour} beside {self.program}"


def neighbours(e: Entry, size: Size, kinds: Iterable[str] = KINDS) -> Iterator[tuple[str, Case]]:
    """The neighbours of a program at a size, by kind; kinds that it has no neighbour of are left out."""
    case = Case(el.as_program(e.program(*size)), e.operations(*size) if e.operations else None)
    for kind in kinds:
        neighbour = resized(e, size, 1 if kind == LONGER else -1) if kind in (LONGER, SHORTER) else CHANGES[kind](case)
        if neighbour is not None:
            yield kind, neighbour


def price(case: Case, profile: Profile) -> Price:
    """The best estimate of all candidates, and the floor."""
    candidates = searched(case.program, profile, profile.limits, useful(Laws(), profile))
    best = min(candidates, key=lambda c: c.estimate)
    return Price(best.estimate, floor(case.program, profile, case.operations).seconds, best.structure)


def compared(e: Entry, size: Size, profile: Profile, kinds: Sequence[str] = KINDS) -> Iterator[Comparison]:
    """A program at a size beside each of its neighbours; one that cannot be searched is as slow as can be."""
    program = el.as_program(e.program(*size))
    own = price(Case(program, e.operations(*size) if e.operations else None), profile)
    for kind, case in neighbours(e, size, kinds):
        try:
            other = price(case, profile)
        except EggliftError as error:
            other = Price(float("inf"), floor(case.program, profile, case.operations).seconds, str(error))
        yield Comparison(e.name, size, kind, own, other)


def summary(found: Sequence[Comparison], above: float) -> str:
    """Those above a ratio, by kind, the farthest first."""
    high = sorted((c for c in found if c.ratio > above), key=lambda c: (c.kind, -c.ratio))
    lines = [f"{c}\n        {c.neighbour.structure}\n        {c.program.structure}" for c in high]
    return "\n".join([f"{len(high)} of {len(found)} neighbours are above {above:g}", *lines])


def usual(e: Entry, kind: str) -> Size:
    """The size of a program on a kind of device in the suites."""
    sizes = SUITES["all"][e.name]
    return tuple(map(int, (sizes.gpu if kind == "gpu" else sizes.cpu).split(",")))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each neighbour, and those above the limit again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="NAME[:SIZE]", help="programs of the catalogue (default: all)")
    parser.add_argument("--device", choices=sorted(presets()), default="nvidia_h200", help="a preset")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these neighbours; may be repeated")
    parser.add_argument("--above", type=float, default=ABOVE, help=f"what is listed at the end (default: {ABOVE})")
    given = parser.parse_args(arguments)
    profile = presets()[given.device]
    try:
        wanted = list(chosen(given.programs, lambda e: usual(e, profile.kind)))
    except ValueError as error:
        parser.error(str(error))
    comparisons = []
    for e, size in wanted:
        for c in compared(e, size, profile, given.kind or KINDS):
            print(c, flush=True)
            comparisons.append(c)
    print(summary(comparisons, given.above))


if __name__ == "__main__":
    main()
