"""Checks many random programs: `python -m tests.fuzz --programs 10000 --seed 0 --jobs 2`.

Program i is that of seed + i, so that ranges of seeds can be run on different machines and an interrupted run goes on
with `--seed`.  Failures are written as they come to FOLDER/SEED.txt: the program, what is wrong, the kernel.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.check import COMPILER
from tests.fuzz.workers import LATE, Outcome, Task, Worker


def main() -> int:
    """The command line; 1 where a program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no program is begun after these")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a program")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--out", type=Path, default=Path(".fuzz"), help="the folder for failures")
    parser.add_argument("--shrink", type=Path, metavar="FILE", help="make the program of a failure smaller")
    given = parser.parse_args()
    if given.shrink:
        from tests.fuzz.shrink import shrink_file

        return shrink_file(given.shrink, Worker(given.device, given.limit))
    run = Run(given.out, range(given.seed, given.seed + given.programs), given.seconds, given.device, given.limit)
    run.start(given.jobs)
    print(run)
    return 1 if run.failures else 0


class Run:
    """Programs of some seeds, checked by several workers at once."""

    def __init__(self, out: Path, seeds: range, seconds: float, device: str | None, limit: float) -> None:
        self.out, self.seeds, self.seconds, self.device, self.limit = out, seeds, seconds, device, limit
        self.next: Iterator[int] = iter(seeds)
        self.begun, self.end = time.monotonic(), 0.0
        self.counts: Counter[str] = Counter()
        self.styles: Counter[str] = Counter()
        self.failures: list[Outcome] = []
        self.compiler: list[Outcome] = []
        self.late: list[int] = []
        self.done: set[int] = set()
        self.lock = threading.Lock()

    def start(self, jobs: int) -> None:
        """Check them all, or as many as time allows."""
        threads = [threading.Thread(target=self._work, args=(Worker(self.device, self.limit),)) for _ in range(jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.end = time.monotonic()

    def _work(self, worker: Worker) -> None:
        while time.monotonic() - self.begun < self.seconds:
            with self.lock:
                seed = next(self.next, None)
            if seed is None:
                break
            self._note(worker.check(Task(seed)))
        worker.stop()

    def _note(self, outcome: Outcome) -> None:
        with self.lock:
            self.counts += outcome.counts
            self.styles[outcome.style] += 1
            self.done.add(outcome.seed)
            if outcome.stage == LATE:
                self.late.append(outcome.seed)
            elif outcome.stage:
                (self.compiler if outcome.stage == COMPILER else self.failures).append(outcome)
                self.out.mkdir(parents=True, exist_ok=True)
                (self.out / f"{outcome.seed}.txt").write_text(report(outcome))
                print(f"seed {outcome.seed}: {outcome.stage}: {outcome.reason.splitlines()[0][:150]}", flush=True)
            if len(self.done) % 100 == 0:
                print(f"{len(self.done)} programs, {time.monotonic() - self.begun:.0f} s", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        n, seconds = len(self.done), self.end - self.begun
        left = [s for s in self.seeds if s not in self.done]
        lines = [
            f"{n} programs, {len(self.failures)} failures, {len(self.compiler)} wrong only when the device's compiler "
            f"optimises, {len(self.late)} without an answer in {self.limit:.0f} s, "
            f"{seconds:.0f} s ({seconds / max(n, 1):.2f} s each)",
            f"styles: {', '.join(f'{count} {name}' for name, count in self.styles.most_common() if name)}",
            *(f"{count:8} {name}" for name, count in self.counts.most_common() if count),
        ]
        lines += [f"late: {' '.join(map(str, self.late))}"] if self.late else []
        lines += [f"to go on: --seed {left[0]} --programs {left[-1] - left[0] + 1}"] if left else []
        return "\n".join(lines)


def report(outcome: Outcome) -> str:
    """A failure as text: its first lines are what `--shrink` reads."""
    return f"{outcome.seed} {outcome.style}\n{outcome.text}\n\n{outcome.stage}: {outcome.reason}\n\n{outcome.detail}\n"


if __name__ == "__main__":
    sys.exit(main())
