"""How soon good sizes are found in one space: in the order of the model's estimates, and by Kernel Tuner's strategies.

    python benchmarks/tuner.py [--device NAME] [--most 200] [--seeds 20] [--table RESULT.json] [PROGRAM[:SIZE] ...]

The space of a program is every choice of sizes for the tiles and launches of its best structure (by the model) that
fits and makes a kernel of its own; of a large one, fewer options of each.  All is measured first, each kernel checked.
Then every strategy of Kernel Tuner searches the recorded times, as its simulation mode does: its own runner launches
one kernel, whose group size is a parameter; here a choice may be several kernels, whose group sizes follow from it.

The table has the best time found after so many measurements over the best there is; of strategies, which are random,
the median over seeds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.programs.catalogue import Entry, Size, chosen, size_text
from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.measure import measure
from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps

PROGRAMS = (
    "dot:1048576",
    "gemv:1024",
    "matmul-f32:512,512,512",
    "gemm-nt:512,512,512",
    "pair_distances-squared:1000,1003,17",
    "nbody:1000",
    "softmax_rows:1000",
    "jacobi_2d-5:1000,1003",
    "gaussian_blur-25:1000,1003",
)
STRATEGIES = ("random_sample", "basinhopping", "genetic_algorithm", "simulated_annealing", "greedy_mls")
MODEL = "the model's order"
#: after how many measurements
BUDGETS = (1, 5, 10, 20)
#: structures with fewer choices are no search
LEAST = 20
#: no symbol has more options
OPTIONS = 8
#: the parameter beside the tile symbols: which of `Search.launches`
LAUNCH = "launch"


@dataclass(frozen=True)
class Choice:
    """One point of a space: the value of every parameter, the model's estimate and the measured time, in seconds."""

    values: tuple[int, ...]
    estimate: float
    seconds: float


@dataclass(frozen=True)
class Space:
    """All choices of one structure that run; `failed`: how many do not."""

    structure: str
    parameters: tuple[str, ...]
    choices: tuple[Choice, ...]
    failed: int

    @property
    def best(self) -> float:
        """Seconds of the fastest choice."""
        return min(c.seconds for c in self.choices)


# ---------------------------------------------------------------------------------------- the space


def points(search: Search, most: int) -> dict[tuple[int, ...], Point]:
    """Choices from the options of every symbol, and a launch, with kernels of their own: by parameters' values.

    Where there are more than `most`, fewer options of each, the most plausible: what is left are still neighbours.
    """
    found: dict[tuple[int, ...], Point] = {}
    kernels, launches = set(), search.launches()
    for wish, i in _choices(search, most):
        point = search.point(wish, launches[i])
        if isinstance(point, Point) and dict(point.sizes) == wish:  # else another choice is the one that fits
            made = tuple((k.source, k.global_size, k.local_size) for k in point.plan.kernels)
            if made not in kernels:
                kernels.add(made)
                found[(*(wish[s] for s in search.order), i)] = point
    return found


def _choices(search: Search, most: int) -> list[tuple[dict[str, int], int]]:
    """Sizes, and the number of a launch: of all options, or of so many of each that there are at most `most`.

    Where two of each are too many, the outermost sizes stay at their most plausible.
    """
    found: list[tuple[dict[str, int], int]] = []
    for count in range(OPTIONS, 1, -1):
        found = list(islice(_every(search, count), most + 1))  # there may be millions
        if len(found) <= most:
            break
    return found[:most]


def _every(search: Search, count: int) -> Iterator[tuple[dict[str, int], int]]:
    launches = range(len(search.launches()[:count]))
    return ((wish, i) for wish in _wishes(search, {}, count) for i in launches)


def _wishes(search: Search, env: Mapping[str, int], count: int) -> Iterator[dict[str, int]]:
    if len(env) == len(search.order):
        yield dict(env)
        return
    name = search.order[len(env)]
    for value in search.options(name, env)[:count]:
        yield from _wishes(search, {**env, name: value}, count)


def best_structure(program: Expr, profile: Profile, device: Device) -> tuple[str, Search]:
    """The structure with the least estimate at its most plausible sizes, of those with something to choose."""
    graph = saturate(program).graph
    rows = []
    for structure in Extractor(graph, weights(profile)).run():
        search = Search(structure.term, graph.symbols, profile, device.limits)
        first = search.run(tries=1)
        if first and len(list(islice(_every(search, OPTIONS), LEAST))) == LEAST:
            rows.append((first[0].estimate.seconds, structure.sign, search))
    if not rows:
        raise ValueError(f"no structure of this program has {LEAST} choices of sizes")
    _, sign, search = min(rows, key=lambda row: row[0])
    return sign, search


def space(program: Expr, profile: Profile, device: Device, most: int) -> Space:
    """The best structure's choices, about `most` of them, measured."""
    sign, search = best_structure(program, profile, device)
    found = points(search, most)
    results = measure([p.plan for p in found.values()], Subject(dumps(program)), device, Measuring(isolate=False))
    pairs = zip(found.items(), results, strict=True)
    rows = [Choice(values, p.estimate.seconds, m.seconds) for (values, p), m in pairs if m.seconds]
    return Space(sign, (*search.order, LAUNCH), tuple(rows), len(found) - len(rows))


# ---------------------------------------------------------------------------------------- searching it


def in_order(s: Space) -> list[float]:
    """The times of all choices in the order of the model's estimates."""
    return [c.seconds for c in sorted(s.choices, key=lambda c: (c.estimate, c.values))]


def cache(s: Space, path: Path) -> Path:
    """The space as a file of Kernel Tuner's, times in milliseconds."""
    columns = [sorted({c.values[i] for c in s.choices}) for i in range(len(s.parameters))]
    entries = {
        ",".join(map(str, c.values)): {**dict(zip(s.parameters, c.values, strict=True)), "time": 1e3 * c.seconds}
        for c in s.choices
    }
    head = {
        "device_name": "recorded",
        "kernel_name": "egglift",
        "problem_size": [1],
        "tune_params_keys": s.parameters,
        "tune_params": dict(zip(s.parameters, columns, strict=True)),
        "objective": "time",
        "cache": entries,
    }
    path.write_text(json.dumps(head))
    return path


def tuned(path: Path, strategy: str, most: int, seed: int) -> list[float]:
    """The times that a strategy of Kernel Tuner sees until it has measured `most` choices, each counted once."""
    import numpy as np
    from kernel_tuner.interface import tune_cache

    random.seed(seed)
    np.random.seed(seed)
    with warnings.catch_warnings():  # that no parameter is a group size
        warnings.simplefilter("ignore")
        results, _ = tune_cache(str(path), strategy=strategy, strategy_options={"max_fevals": most}, quiet=True)
    keys = list(json.loads(path.read_text())["tune_params"])
    seen = {tuple(r[k] for k in keys): 1e-3 * r["time"] for r in results}  # in the order of first visits
    return list(seen.values())


def after(times: Sequence[float], count: int) -> float:
    """The best of the first so many."""
    return min(times[:count])


def compared(e: Entry, size: Size, device: Device, profile: Profile, most: int, seeds: int) -> dict[str, Any]:
    """One program: its space, and how near the best each way comes after each number of measurements."""
    s = space(as_program(e.program(*size)), profile, device, most)
    found = {MODEL: [after(in_order(s), n) / s.best for n in BUDGETS]}
    with tempfile.TemporaryDirectory() as folder:
        path = cache(s, Path(folder) / "times.json")
        for strategy in STRATEGIES:
            runs = [tuned(path, strategy, max(BUDGETS), seed) for seed in range(seeds)]
            found[strategy] = [median(after(times, n) for times in runs) / s.best for n in BUDGETS]
    return {
        "program": e.name,
        "size": size_text(size),
        "device": device.name,
        "driver": device.driver,
        "structure": s.structure,
        "parameters": s.parameters,
        "failed": s.failed,
        "best": s.best,
        "found": found,
        "choices": [(c.values, c.estimate, c.seconds) for c in s.choices],
    }


def table(lines: Sequence[dict[str, Any]]) -> str:
    """All programs: a row for each way to search."""
    counts = [f"after {n}" for n in BUDGETS]
    head = ["program", "size", "choices", "best (us)", "searched by", *counts]
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for line in lines:
        cells = [line["program"], line["size"], str(len(line["choices"])), f"{1e6 * line['best']:.1f}"]
        for way, ratios in line["found"].items():
            rows.append(f"| {' | '.join([*cells, way, *(f'{r:.2f}' for r in ratios)])} |")
            cells = [""] * 4
    return "\n".join(rows)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM[:SIZE]")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--most", type=int, default=200, help="choices of a space that are measured")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each strategy")
    parser.add_argument("--table", type=Path, help="where to write all figures as JSON, and beside it the table (.md)")
    given = parser.parse_args()
    device = open_device(given.device)
    profile, lines = load_profile(device), []
    for e, size in chosen(given.programs or PROGRAMS, lambda e: e.sizes[-1]):
        lines.append(compared(e, size, device, profile, given.most, given.seeds))
        print(table(lines[-1:]), end="\n\n", flush=True)
        if given.table:
            given.table.write_text(json.dumps(lines, indent=1))
            text = f"{device.name}, driver {device.driver}\n\n{table(lines)}\n"
            given.table.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
