"""How many programs each phase of the search holds: `python -m benchmarks.phases [NAME[:SIZE] ...] [--out FILE.json]`.

After each phase of saturation: rows, nodes, classes, and the equal programs that the e-graph stands for, of at most as
many patterns as the smallest structure that is found in the end (of any size there are infinitely many).  Then:
structures, which have symbols for sizes, and candidates of schedules, with sizes.  No device is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from math import log10
from pathlib import Path
from typing import Any

from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from benchmarks.setting import Record, versions
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import Graph
from egglift.egraph.rules.phases import EXPLORE
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children
from egglift.options import Laws
from egglift.search import by_schedules

#: programs of the literature that is compared with, at lengths that a GPU is given
USUAL = ("asum:16777216", "dot:16777216", "gemv:4096", "matmul-f32:1024,1024,1024", "jacobi_2d-5:4096,4096")


def held(graph: Graph, size: int) -> int:
    """Programs of at most so many nodes in the root's class: a node stands for all combinations of its children's.

    `counts[c][s]`: those of class c with s nodes, which follow from those with fewer.
    """
    counts = {c: [0] * (size + 1) for c in graph.classes}
    for s in range(1, size + 1):
        for c, nodes in graph.classes.items():
            counts[c][s] = sum(_of_size(s - 1, [counts[k] for k in node.children]) for node in nodes)
    return sum(counts[graph.root])


def _of_size(size: int, children: Sequence[Sequence[int]]) -> int:
    """Ways to choose a program for each child, such that all have `size` nodes together."""
    match children:
        case []:
            return int(size == 0)
        case [only]:
            return only[size]
        case [first, *rest]:
            return sum(first[i] * _of_size(size - i, rest) for i in range(1, size) if first[i])
    raise AssertionError(children)


def size_of(x: Expr) -> int:
    """Patterns of a program, written out."""
    return 1 + sum(size_of(part) for part in (*children(x), *bodies(x)))


def line(e: Entry, size: Size, profile: Profile) -> dict[str, Any]:
    """The counts of one program."""
    program = as_program(e.program(*size))
    saturated = [saturate(program, phases=EXPLORE[: i + 1]) for i in range(len(EXPLORE))]
    graph = saturated[-1].graph
    structures = Extractor(graph, weights(profile)).run()
    nodes = min(size_of(s.term) for s in structures)
    found: dict[str, Any] = {"program": e.name, "size": size_text(size), "nodes at most": nodes}
    for phase, after in zip(EXPLORE, saturated, strict=True):
        count = held(after.graph, nodes)
        found[phase.name] = {
            "rows": after.rows,
            "nodes": after.graph.size,
            "classes": len(after.graph.classes),
            "programs": count if count < 10**6 else f"10^{log10(count):.1f}",
        }
    schedules = by_schedules(program, profile, profile.limits, Laws())
    return found | {"structures": len(structures), "candidates of schedules": len(schedules)}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wanted", nargs="*", metavar="NAME[:SIZE]", help=f"default: {' '.join(USUAL)}")
    parser.add_argument("--profile", default="nvidia_h200", choices=presets(), help="the device that prices")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    facts = {"device": f"none, the profile {given.profile}", "date": datetime.now(UTC).date().isoformat()}
    record = Record({**facts, "versions": versions()}, given.out)
    for e, size in chosen(given.wanted or USUAL, lambda e: e.sizes[-1]):
        record.add(line(e, size, presets()[given.profile]))


if __name__ == "__main__":
    main()
