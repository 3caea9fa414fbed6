"""Sizes of saturated e-graphs, for every program: `python -m benchmarks.saturation [--laws] [NAME[:SIZE] ...]`.

A size is written `1000,1003,997`; without one, it is the middle one of the program.  Rows are egglog's,
administrative ones included; nodes and classes are what extraction sees.
"""

from __future__ import annotations

import argparse
from time import perf_counter

from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.egraph.saturation.saturate import Saturated, saturate
from egglift.ir.notation import as_expr


def measured(entry: Entry, size: Size, detail: bool) -> tuple[Saturated, float]:
    """The saturated program and the seconds it took (the best of three)."""
    program = as_expr(entry.program(*size))
    runs = []
    for _ in range(3):
        start = perf_counter()
        saturated = saturate(program, detail=detail)
        runs.append(perf_counter() - start)
    return saturated, min(runs)


def main() -> None:
    """Print a line per program; with --laws what each law did."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wanted", nargs="*", metavar="NAME[:SIZE]", help="programs; all by default")
    parser.add_argument("--laws", action="store_true", help="matches, rows and time of each law")
    options = parser.parse_args()
    header = f"{'program':24} {'size':>14} {'rows':>6} {'nodes':>6} {'classes':>7} {'symbols':>7} {'ms':>6}"
    print(f"{header}  stopped at")
    for entry, size in chosen(options.wanted, lambda e: e.sizes[len(e.sizes) // 2]):
        saturated, seconds = measured(entry, size, options.laws)
        g = saturated.graph
        print(
            f"{entry.name:24} {size_text(size):>14} {saturated.rows:6} {g.size:6} {len(g.classes):7} "
            f"{len(g.symbols):7} {1e3 * seconds:6.0f}  {saturated.stopped}"
        )
        if options.laws:
            print(saturated)


if __name__ == "__main__":
    main()
