"""Numbers for people: of few digits, and without exponents."""

from __future__ import annotations

from math import isfinite


def plain(value: float, digits: int = 3) -> str:
    """`value` rounded to so many digits, or to a whole number where it has more before the point: `0.123`, `4290`."""
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    return f"{float(text):.0f}" if abs(value) >= 1 else f"{float(text):.{digits + 12}f}".rstrip("0").rstrip(".")


def duration(seconds: float | None) -> str:
    """A time for people: `12.3 us`; `-` for none."""
    if seconds is None or not isfinite(seconds):
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if float(f"{seconds / scale:.3g}") >= 1:
            return f"{plain(seconds / scale)} {unit}"
    return f"{plain(seconds / 1e-9)} ns"
