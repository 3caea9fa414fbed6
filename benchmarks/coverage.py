"""Which laws fire on which benchmark programs, and which on none.

    python -m benchmarks.coverage [--json FILE]

A law that no program fires is tested on instances of its own text (`egglift check-rules`) and nowhere else.  Laws of
the proofs of equality only (they run from right to left, or in no phase of exploration) are told apart.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.egraph.rules.book import book
from egglift.egraph.rules.phases import EXPLORE, SIMPLIFY
from egglift.rulecoverage import coverage, line


def small(e: Entry) -> tuple[int, ...]:
    """The smallest size at which there is something to tile, else the largest of the small ones."""
    sizes = sorted((s for s in e.sizes if prod(s) < 100_000), key=prod) or [min(e.sizes, key=prod)]
    return next((s for s in sizes if min(s) >= 16), sizes[-1])


def in_exploration() -> frozenset[str]:
    """Laws that some phase of exploration runs."""
    return frozenset((*SIMPLIFY, *(law for phase in EXPLORE for law in phase.laws)))


def summary(fired: Mapping[str, Mapping[str, int]], programs: int) -> str:
    """The table in a few lines."""
    count = {law: len(on) for law, on in fired.items()}
    explored = in_exploration()
    never = [name for name in count if not count[name]]

    def listed(names: Iterable[str]) -> str:
        found = sorted(names)
        return f"{len(found)}: {', '.join(found)}" if found else "none"

    return "\n".join(
        [
            f"{sum(n > 0 for n in count.values())} of {len(count)} laws fire on the {programs} programs",
            f"on one program only, {listed(n for n in count if count[n] == 1)}",
            f"in exploration, but on no program, {listed(n for n in never if n in explored)}",
            f"in proofs of equality only, {listed(n for n in never if n not in explored)}",
        ]
    )


def main() -> None:
    """Prints a line for each law and the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write matches by program and law")
    arguments = parser.parse_args()
    programs = {e.name: el.as_program(e.program(*small(e))) for e in entries()}
    fired = coverage(programs, book(), book().laws)
    for law in sorted(fired, key=lambda law: -len(fired[law])):
        print(line(law, fired[law]))
    print(summary(fired, len(programs)))
    if arguments.json:
        table = {name: {law: on[name] for law, on in fired.items() if name in on} for name in programs}
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
