"""The suite's results as a markdown table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.line import Line
from egglift.codegen.device.device import Device

#: what the columns mean
LEGEND = """us: of the chosen kernel, by the device's clock, its data in place.  of the floor: the physical floor over
that time, and what bounds the floor: bytes over the measured bandwidth of memory (a copy's) or of the smallest cache
that holds them, or operations over the measured rate of multiply-adds.  x PEER: how many times as long the peer takes;
numpy, numexpr and numba on the host's CPU, torch on the GPU with its data in place, clblast on the same device and
queue, by the host's clock, as many calls in a row as take 10 ms.  Lift: how many times as fast as its baselines, as
published."""


def markdown(lines: Sequence[Line], kinds: Sequence[str], missing: Mapping[str, str], device: Device) -> str:
    """The table: our time, how much of the floor, how many times faster than each peer, and what Lift reports.

    kinds: the peers with a column; missing: those that could not take part, and why.
    """
    head = ["program", "size", "us", "of the floor", *(f"x {k}" for k in kinds), "Lift over its baselines", "result"]
    rows = [f"{device.name}, driver {device.driver}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    rows += [row(line, kinds) for line in lines]
    rows += ["", LEGEND, *(f"\nNo column {kind}: {reason}." for kind, reason in missing.items())]
    return "\n".join(rows) + "\n"


def row(line: Line, kinds: Sequence[str]) -> str:
    """One program."""
    if line.seconds is None:
        cells = ["-", "-", *("" for _ in kinds), str(line.lift or ""), line.result]
    else:
        ratios = [f"{line.peers[k] / line.seconds:.2f}" if k in line.peers else "" for k in kinds]
        share = f"{line.floor / line.seconds:.2f} ({line.bound})"
        cells = [f"{1e6 * line.seconds:.1f}", share, *ratios, str(line.lift or ""), line.result]
    return f"| {' | '.join([line.program, line.size, *cells])} |"
