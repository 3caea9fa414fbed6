"""What measuring in rounds chooses, against timing as many of the first alike: replayed on recorded candidates.

    python benchmarks/rounds.py [--measurements 8,12,16,24] [FILE.json ...]

Nothing is measured: the files hold candidates with the model's estimate and the measured time.  For each number of
measurements: the chosen candidate's time over the best one's (geometric mean over programs, and the largest), how many
were built, and how many seconds of timing were allowed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import exp, log
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from egglift.costmodel.measurement.successive_halving import EFFORTS, Entrant, Round, next_round

RESULTS = Path(__file__).resolve().parent / "results"
#: programs with fewer measured candidates say little
LEAST = 12
#: an estimate, the measured seconds, the structure
Row = tuple[float, float, str]


def recorded(path: Path) -> Iterator[list[Row]]:
    """The measured candidates of each program in a file of results."""
    data = json.loads(path.read_text())
    for line in data["results"] if isinstance(data, dict) else data:
        rows = [(row[0], row[1], row[2]) for row in line.get("all", []) if row[0] and row[1]]
        if len(rows) >= LEAST:
            yield rows


def play(race: list[Entrant], times: list[float], measurements: int) -> tuple[list[Round], list[Entrant]]:
    """The rounds of a race whose times are looked up, and how it ends."""
    rounds: list[Round] = []
    for number in count():
        step = next_round(race, number, measurements)
        if step is None:
            break
        rounds.append(step)
        race = [replace(e, tried=True, seconds=times[i]) if i in step.timed else e for i, e in enumerate(race)]
    return rounds, race


def in_rounds(rows: list[Row], measurements: int) -> tuple[float, int, float]:
    """Of the chosen one: time over the best; candidates built; seconds of timing."""
    times = [seconds for _, seconds, _ in rows]
    rounds, race = play([Entrant(estimate, structure) for estimate, _, structure in rows], times, measurements)
    chosen = min(e.seconds for e in race if e.seconds)
    return chosen / min(times), sum(e.tried for e in race), sum(r.effort * len(r.timed) for r in rounds)


def alike(rows: list[Row], measurements: int) -> tuple[float, int, float]:
    """The same for the first by the model, each timed as long as the last round's."""
    first = sorted(rows)[:measurements]
    best = min(seconds for _, seconds, _ in rows)
    return min(seconds for _, seconds, _ in first) / best, len(first), EFFORTS[-1] * len(first)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all results that are kept")
    parser.add_argument("--measurements", default="8,12,16,24", help="numbers of candidates to look at")
    given = parser.parse_args()
    names = ("pocl_ranking", "nvidia_h200_stencils", "nvidia_h200_tiles", "nvidia_h200")
    print("| results | programs | measurements | how | chosen takes | at most | built | seconds of timing |")
    print("|" + "---|" * 8)
    for path in given.files or [RESULTS / f"{name}.json" for name in names]:
        programs = list(recorded(path))
        for measurements in map(int, given.measurements.split(",")):
            for how, choose in (("alike", alike), ("in rounds", in_rounds)):
                quality, built, seconds = zip(*(choose(rows, measurements) for rows in programs))
                mean = exp(fmean(map(log, quality)))
                numbers = f"{mean:.3f} | {max(quality):.2f} | {fmean(built):.1f} | {fmean(seconds):.2f}"
                print(f"| {path.stem} | {len(programs)} | {measurements} | {how} | {numbers} |")


if __name__ == "__main__":
    main()
