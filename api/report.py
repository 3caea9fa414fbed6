"""What the command line says: tables for people, objects for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from egglift.candidate import Candidate
from egglift.codegen.device.device import Device, DeviceInfo
from egglift.ir.plain_numbers import duration as duration
from egglift.ir.text import dumps

SHOWN = 10  # candidates in a table, and behind them the chosen one and those that failed
USUAL = ("ok", "model", "skipped")


def device_lines(devices: Sequence[DeviceInfo]) -> str:
    """One line for each device."""
    if not devices:
        return "no OpenCL device; install a driver, or PoCL: pip install 'egglift[pocl]'"
    return "\n".join(
        f"{d.name}  [{d.kind}, {d.compute_units} units, {d.memory / 2**30:.1f} GiB; {d.platform}, driver {d.driver}]"
        for d in devices
    )


def device_json(info: DeviceInfo) -> dict[str, Any]:
    """A device as plain data."""
    return asdict(info)


def candidate_table(candidates: Sequence[Candidate], chosen: Candidate) -> str:
    """The first candidates, and those that failed: times, structure, sizes or reason; the chosen one is marked."""
    shown = list(candidates[:SHOWN])
    shown += [c for c in candidates[SHOWN:] if c is chosen or c.status not in USUAL]
    rows = [("", "measured", "estimate", "structure", "parameters")]
    for c in shown:
        sizes = " ".join(f"{name}={value}" for name, value in c.parameters.items())
        note = sizes if c.status in ("ok", "model") else f"{c.status}: {c.reason}"
        mark = "*" if c is chosen else ""
        rows.append((mark, duration(c.measured), duration(c.estimate), c.structure, note))
    return table(rows, right=(1, 2))


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows in columns; the first row is the head.  Columns in `right` are aligned to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def candidate_json(c: Candidate) -> dict[str, Any]:
    """A candidate as plain data; times in seconds."""
    return {
        "structure": c.structure,
        "parameters": dict(c.parameters),
        "estimate": c.estimate if isfinite(c.estimate) else None,
        "measured": c.measured,
        "status": c.status,
        "reason": c.reason,
        "term": dumps(c.term),
    }


def result_json(
    program: str, device: Device, chosen: Candidate, candidates: Sequence[Candidate], check: str | None
) -> dict[str, Any]:
    """The result of optimising one program, as plain data.  check: None, or how the result disagrees."""
    return {
        "program": program,
        "device": device.name,
        "driver": device.driver,
        "source": chosen.plan.source,
        "chosen": candidate_json(chosen),
        "candidates": [candidate_json(c) for c in candidates],
        "check": check,
    }
