"""What was measured, for the reader: numbers with their units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from egglift.costmodel.profiles.curves import widths_that_pay
from egglift.costmodel.profiles.profile import Cache
from egglift.ir.plain_numbers import plain

#: the unit of a field of the profile, or of a curve's numbers
UNITS = {
    **dict.fromkeys(("launch", "gap", "latency", "op_latency", "barrier", "barriers"), "s"),
    **dict.fromkeys(("item_start", "group_start"), "s"),
    **dict.fromkeys(("bandwidth", "copy_bandwidth", "vector_rates", "strided", "random", "cache_curve"), "B/s"),
    **dict.fromkeys(("local_bandwidth", "local_strided", "transfer"), "B/s"),
    **dict.fromkeys(("issue_rate", "rates"), "op/s"),
    **dict.fromkeys(("local_bytes", "simd_bytes", "bytes_in_flight"), "B"),
}
BINARY = (("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10))
LARGE = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
SMALL = (("", 1.0), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9), ("p", 1e-12))
MOST = 12  # points of a curve that are shown


def line(changes: Mapping[str, Any]) -> str:
    """The fields that a stage has measured on one line; None: not measured."""
    parts = [f"{name} {shown(name, value)}" for name, value in changes.items() if value != {}]
    if rates := changes.get("vector_rates"):
        parts.append(f"widths that pay {', '.join(map(str, widths_that_pay(rates)))}")
    return "; ".join(parts)


def shown(name: str, value: Any) -> str:
    """One field's value."""
    unit = UNITS.get(name, "")
    match value:
        case None:
            return "not measured (the compiler has seen through the probe), kept as it was"
        case dict() if name == "cache_curve":
            points = list(value.items())[:: max(1, len(value) // MOST)]
            return ", ".join(f"{number(int(size), 'B')}: {number(rate, unit)}" for size, rate in points)
        case dict():
            return ", ".join(f"{key}: {shown(name, v)}" for key, v in value.items()).join(("(", ")"))
        case str():
            return value
        case tuple() | list():
            return ", ".join(shown(name, v) for v in value)
        case Cache(size, bandwidth):
            return f"{number(size, 'B')} at {number(bandwidth, 'B/s')}"
        case _:
            return number(value, unit)


def number(value: float, unit: str) -> str:
    """A number of three digits with a prefix to its unit: 41.3 GB/s, 5.2 us, 64 KiB."""
    if unit == "B":
        prefix, factor = next(((p, f) for p, f in BINARY if value >= f), ("", 1.0))
    elif unit == "" or value == 0:
        prefix, factor = "", 1.0
    elif unit == "s":
        prefix, factor = next(((p, f) for p, f in SMALL if value >= f), SMALL[-1])
    else:
        prefix, factor = next(((p, f) for p, f in LARGE if value >= f), ("", 1.0))
    return f"{plain(value / factor)} {prefix}{unit}".strip()
