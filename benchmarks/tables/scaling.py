"""The table of programs on one device and on two."""

from __future__ import annotations

from benchmarks.tables.raw import lines, number, raw, source, table

FILE = "nvidia_h200_scaling"


def scaling() -> str:
    """Seconds on one device and on several, data in place, and how much of linear scaling that is."""
    count = raw(FILE)["devices"]
    rows = [
        (
            p["program"],
            f"{p['size']:,}",
            f"{1e3 * p['one, s']:.2f}",
            f"{1e3 * p['several, s']:.2f}",
            number(p["of linear"]),
        )
        for p in sorted(lines(FILE), key=lambda p: -p["of linear"])
    ]
    head = ("program", "size", "one device, ms", f"{count} devices, ms", "of linear")
    return f"{source(FILE)}\n\n{table(head, rows)}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f}"
