"""How saturation, extraction and the search for sizes grow with the program.

    python benchmarks/growth.py [--profile nvidia_h200] [--table RESULT.json] [--plot RESULT.png]

Chains of 1 to 200 maps, sums in nests of 1 to 6 maps, and a matrix product with 0 to 3 levels of tiles allowed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import egglift as el
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.costmodel.search.sizes import Search
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr

CHAINS = (1, 2, 5, 10, 20, 50, 100, 200)
DEPTHS = (1, 2, 3, 4, 5, 6)
#: laws that are switched off such that so many levels of tiles are left
WORK_ITEMS = ("tile-outer", "tile-row")
CHUNKS = ("fold-split", "split-k", "split-row")
BLOCKS = ("block", "block-row", "interchange-outer", "interchange-row")
LEVELS: dict[int, tuple[str, ...]] = {
    0: (*WORK_ITEMS, *CHUNKS, *BLOCKS),
    1: (*WORK_ITEMS, *CHUNKS),
    2: WORK_ITEMS,
    3: (),
}
TRIES = 16


@dataclass(frozen=True)
class Growth:
    """One program: its size, the e-graph, seconds of each stage, structures found, and why saturation stopped."""

    kind: str
    size: int
    rows: int
    nodes: int
    saturation: float
    extraction: float
    search: float
    structures: int
    stopped: str


def chain(n: int) -> Any:
    """`map f (map f ( ... x))`, n maps."""
    x = el.array("x", el.f32, 1 << 20)
    for i in range(n):
        x = x.map(lambda v, i=i: v * (1 + 1 / (i + 2)) + i)
    return x


def nest(depth: int) -> Any:
    """Sums of the rows of an array of depth + 1 dimensions."""
    x = el.array("x", el.f32, (*(32,) * depth, 64))

    def sums(v: Any, d: int) -> Any:
        return v.reduce(el.add) if d == 0 else v.map(lambda w: sums(w, d - 1))

    return sums(x, depth)


def product() -> Any:
    """A matrix product."""
    return el.array("A", el.f32, (1024, 1024)) @ el.array("B", el.f32, (1024, 1024))


def cases() -> Iterator[tuple[str, int, Expr, tuple[str, ...]]]:
    """What grows, how much of it, the program, and the laws that are switched off."""
    yield from (("maps in a chain", n, as_program(chain(n)), ()) for n in CHAINS)
    yield from (("maps in a nest", n, as_program(nest(n)), ()) for n in DEPTHS)
    yield from (("levels of tiles", n, as_program(product()), off) for n, off in LEVELS.items())


def grown(kind: str, size: int, program: Expr, off: tuple[str, ...], profile: Profile) -> Growth:
    """Every stage once, timed."""
    start = time.perf_counter()
    saturated = saturate(program, disabled=off)
    then = time.perf_counter()
    found = Extractor(saturated.graph, weights(profile)).run()
    extracted = time.perf_counter()
    for f in found[:1]:
        Search(f.term, saturated.graph.symbols, profile, profile.limits).run(TRIES)
    end = time.perf_counter()
    stages = then - start, extracted - then, end - extracted
    return Growth(kind, size, saturated.rows, saturated.graph.size, *stages, len(found), saturated.stopped)


def plot(rows: list[Growth], out: Path) -> None:
    """Seconds of the stages, and rows, over the size of each kind."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = list(dict.fromkeys(r.kind for r in rows))
    figure, axes = pyplot.subplots(1, len(kinds), figsize=(4 * len(kinds), 3.2), constrained_layout=True)
    for axis, kind in zip(axes, kinds, strict=True):
        own = [r for r in rows if r.kind == kind]
        sizes = [r.size for r in own]
        for stage in ("saturation", "extraction", "search"):
            axis.plot(sizes, [getattr(r, stage) for r in own], marker="o", label=stage)
        axis.set(xlabel=kind, ylabel="seconds", ylim=(0, None))
        right = axis.twinx()
        right.plot(sizes, [r.rows for r in own], color="grey", linestyle=":", label="rows")
        right.set(ylabel="rows of the e-graph", ylim=(0, None))
    axes[0].legend(fontsize="small")
    figure.savefig(out, dpi=120)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--profile", default="nvidia_h200", help="the device that prices")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    profile, rows = presets()[given.profile], []
    print("| | size | rows | nodes | saturation | extraction | 16 sizes | structures | stopped |\n|" + "---|" * 9)
    saturate(as_program(chain(1)))  # reads the rule book
    for kind, size, program, off in cases():
        r = grown(kind, size, program, off, profile)
        rows.append(r)
        stages = " | ".join(f"{s:.2f} s" for s in (r.saturation, r.extraction, r.search))
        print(f"| {kind} | {size} | {r.rows} | {r.nodes} | {stages} | {r.structures} | {r.stopped} |", flush=True)
    if given.table:
        given.table.write_text(json.dumps([asdict(r) for r in rows], indent=1))
    if given.plot:
        plot(rows, given.plot)


if __name__ == "__main__":
    main()
