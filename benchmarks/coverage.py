"""Which laws fire on which benchmark programs, and which on none.

    python -m benchmarks.coverage [--json FILE]

A law that no program fires is tested on instances of its own text (`egglift check-rules`) and nowhere else.  Laws of
the proofs of equality only (they run from right to left, or in no phase of exploration) are told apart.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from math import prod
from pathlib import Path

import egglift as el
from benchmarks.programs.catalogue import Entry, entries
from egglift.egraph.book import book
from egglift.egraph.phases import EXPLORE, SIMPLIFY, Limits
from egglift.egraph.saturate import saturate


def small(e: Entry) -> tuple[int, ...]:
    """The smallest size at which there is something to tile, else the largest of the small ones."""
    sizes = sorted((s for s in e.sizes if prod(s) < 100_000), key=prod) or [min(e.sizes, key=prod)]
    return next((s for s in sizes if min(s) >= 16), sizes[-1])


def fired(e: Entry, size: tuple[int, ...], limits: Limits = Limits()) -> dict[str, int]:
    """Matches of every law that fires on a program at a size."""
    found = saturate(el.as_program(e.program(*size)), limits=limits)
    return {law.name: law.matches for law in found.laws}


def programs_of(table: dict[str, dict[str, int]]) -> Counter[str]:
    """On how many programs each law fires; 0 for those that fire on none."""
    count = Counter(dict.fromkeys(book().names, 0))
    count.update(law for laws in table.values() for law in laws)
    return count


def in_exploration() -> frozenset[str]:
    """Laws that some phase of exploration runs."""
    return frozenset((*SIMPLIFY, *(law for phase in EXPLORE for law in phase.laws)))


def summary(table: dict[str, dict[str, int]]) -> str:
    """The table in a few lines."""
    count = programs_of(table)
    explored = in_exploration()
    never = [name for name in count if not count[name]]

    def listed(names: Iterable[str]) -> str:
        found = sorted(names)
        return f"{len(found)}: {', '.join(found)}" if found else "none"

    return "\n".join(
        [
            f"{sum(n > 0 for n in count.values())} of {len(count)} laws fire on the {len(table)} programs",
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
    table = {e.name: fired(e, small(e)) for e in entries()}
    for law, n in programs_of(table).most_common():
        matches = sum(laws.get(law, 0) for laws in table.values())
        print(f"{law:24} {n:4} programs {matches:8} matches")
    print(summary(table))
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
