"""What to do with many records: put files together, drop what is stale, hand results on, try another model on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egglift.costmodel.records.jsonl import Keyed
from egglift.costmodel.records.records import Record, Records
from egglift.costmodel.records.whole_file import write_whole
from egglift.ir.errors import RecordError

#: the version of the auto-tuning result format that `t4` writes
T4_VERSION = "1.0.0"
#: what the format calls the reason why a candidate cannot be chosen
INVALID = {
    "ok": "correct",
    "model": "constraints",
    "skipped": "timeout",
    "build": "compile",
    "launch": "runtime",
    "wrong": "correctness",
    "inaccurate": "correctness",
    "implausible": "runtime",
    "memory": "runtime",
    "hung": "timeout",
    "crashed": "runtime",
    "lost": "runtime",
}
#: a candidate this much slower than the best is as good as it
NEAR = 1.05


def merged(paths: Iterable[Path]) -> list[Record]:
    """The records of several files: of every key the one of the last file that has it.  RecordError: no such file."""
    found: dict[str, Record] = {}
    for path in paths:
        if not path.is_file():
            raise RecordError(f"there is no file of records at {path}")
        found.update((r.key, r) for r in Records(path))
    return list(found.values())


def rewrite(path: Path, records: Iterable[Keyed]) -> None:
    """Puts exactly these records or measurements at `path`, all or nothing; readers see that it is another file."""
    lines = "".join(json.dumps(asdict(r), separators=(",", ":")) + "\n" for r in records)  # type: ignore[call-overload]
    write_whole(path, lines)


def t4(records: Iterable[Record]) -> dict[str, Any]:
    """All candidates in the T4 auto-tuning result format: configurations, times in ms, and why some are invalid."""
    return {"schema_version": T4_VERSION, "results": [_result(r, c) for r in records for c in r.candidates]}


def _result(record: Record, candidate: dict[str, Any]) -> dict[str, Any]:
    seconds, status = candidate.get("measured"), str(candidate.get("status", "model"))
    configuration = {
        "program": record.program,
        "device": record.device,
        "driver": record.driver,
        "structure": candidate.get("structure", ""),
        **candidate.get("parameters", {}),
        **candidate.get("launch", {}),
    }
    measured = [] if seconds is None else [1e3 * seconds]
    estimate = {"name": "estimate", "value": 1e3 * (candidate.get("estimate") or 0.0), "unit": "ms"}
    return {
        "timestamp": record.when,
        "configuration": configuration,
        "objectives": ["time"],
        "times": {"runtimes": measured},
        "invalidity": INVALID.get(status, "runtime"),
        "correctness": float(status == "ok"),
        "measurements": [estimate, *({"name": "time", "value": t, "unit": "ms"} for t in measured)],
    }


# ---------------------------------------------------------------------------------------- models against records


@dataclass(frozen=True)
class Ranking:
    """How a model does on the measured candidates of one program.

    rank: Spearman's correlation of estimates and times.  first: how many times as long as the best the model's first
    choice takes.  until: candidates measured in the model's order until one is within 5% of the best.
    """

    program: str
    device: str
    count: int
    rank: float
    first: float
    until: int


def replay(records: Iterable[Record], price: Callable[[dict[str, Any]], float | None]) -> list[Ranking]:
    """The model `price` (seconds of a candidate, None: it has none) on all programs with two measured candidates."""
    found = []
    for r in records:
        pairs = [(s, c["measured"]) for c in r.candidates if c.get("measured") and (s := price(c)) is not None]
        if len(pairs) > 1:
            found.append(Ranking(r.program, r.device, len(pairs), *judged(pairs)))
    return found


def judged(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, int]:
    """Of estimates and times: their rank correlation, the first choice over the best, and how many until near it."""
    estimates, times = np.array(pairs, np.float64).T
    order = np.argsort(estimates, kind="stable")
    best = times.min()
    until = int(np.argmax(times[order] <= NEAR * best)) + 1
    return spearman(estimates, times), float(times[order[0]] / best), until


def spearman(a: Any, b: Any) -> float:
    """The correlation of ranks, equal numbers sharing theirs; 1 where one side does not vary."""
    x, y = _ranks(a), _ranks(b)
    if x.std() == 0 or y.std() == 0:
        return 1.0
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse].astype(np.float64)
