"""Measurements kept on disk as they come: what was measured before an interrupt is not measured again."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from egglift.codegen.device.execute import Timing
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.measurement.bench import Measurement, Subject
from egglift.costmodel.records.jsonl import Lines
from egglift.costmodel.records.signing import is_own, sealed

SCHEMA = 1
#: what may come out otherwise next time is not kept
PASSING = ("skipped", "memory", "lost", "implausible")


@dataclass(frozen=True)
class KeptMeasurement:
    """One measurement: Measurement's status, reason, median seconds (and of each kernel), and effort.

    key: hash of candidate, program, device and versions, and of the effort where it could be timed: a race that goes
    on where it stopped meets the times that it met before.  deadline: the seconds that were too few where it is "hung".
    rules: the versions of rule book and code; when: the time, in UTC (ISO 8601); seal: the code of records.signing.
    """

    key: str
    status: str
    reason: str
    seconds: float | None
    kernels: tuple[tuple[str, float], ...]
    effort: float
    build_seconds: float
    deadline: float
    device: str
    rules: str
    when: str
    seal: str = ""
    schema: int = SCHEMA


class Journal:
    """The measurements of one file that were made for one subject on one device.

    They are sealed with the key of the file's folder.  What has no such seal may be anybody's, or was changed: it is
    measured again, and a RuntimeWarning says so.
    """

    def __init__(
        self, path: Path, subject: Subject, device: str, driver: str, rules: str, budget: float | None = None
    ) -> None:
        """rules: the versions of rule book and code.  budget: the seconds for all, which may have cut timings short."""
        self._path, self._lines, self._device, self._rules = path, lines_of(path), device, rules
        self._warned = False
        parts = [
            subject.program,
            subject.seed,
            subject.options,
            subject.rounded,
            subject.tf32,
            device,
            driver,
            rules,
            budget,
            *([subject.sample.mark] if subject.sample.data else []),
        ]
        self._context = json.dumps(parts)

    def recall(self, plan: Plan, effort: float, deadline: float) -> Measurement | None:
        """What timing `plan` with `effort` gave, or why it cannot be chosen; None where it must be measured."""
        line = self._own(self._key(plan, effort)) or self._own(self._key(plan, None))
        if line is None or (line.status == "hung" and line.deadline < deadline):
            return None
        timing = None if line.seconds is None else Timing(line.seconds, (line.seconds,), line.kernels)
        return Measurement(plan, line.status, line.reason, timing, None, line.build_seconds, line.effort)

    def keep(self, m: Measurement, deadline: float) -> None:
        """Writes `m`, unless it may come out otherwise next time."""
        if m.status in PASSING:
            return
        kernels = m.timing.kernels if m.timing else ()
        key = self._key(m.plan, m.effort if m.timing else None)
        line = KeptMeasurement(
            key,
            m.status,
            m.reason,
            m.seconds,
            kernels,
            m.effort,
            m.build_seconds,
            deadline,
            self._device,
            self._rules,
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._lines.put(sealed(line, self._path.parent))

    def _own(self, key: str) -> KeptMeasurement | None:
        """The line of `key`, if this user's egglift wrote it as it is."""
        line = self._lines.get(key)
        if line is None or is_own(line, self._path.parent):
            return line
        if not self._warned:
            self._warned = True
            why = "holds measurements that this user's egglift did not write as they are; they are made again"
            warnings.warn(f"{self._path} {why}", RuntimeWarning, stacklevel=3)
        return None

    def _key(self, plan: Plan, effort: float | None) -> str:
        return hashlib.sha256(f"{self._context} {plan.digest} {effort}".encode()).hexdigest()


@cache
def lines_of(path: Path) -> Lines[KeptMeasurement]:
    """The measurements at `path`: read once, and then only what was added since."""
    return Lines(path, _kept, "measurement")


def _kept(raw: Any) -> KeptMeasurement | None:
    if raw["schema"] != SCHEMA:
        return None
    line = KeptMeasurement(**{**raw, "kernels": tuple((name, seconds) for name, seconds in raw["kernels"])})
    for name in ("key", "status", "reason", "device", "rules", "when", "seal"):
        if not isinstance(getattr(line, name), str):
            raise TypeError(f"its {name} is no text")
    return line
