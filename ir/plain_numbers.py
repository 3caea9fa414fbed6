"""Numbers for people: of few digits, and without exponents."""

from __future__ import annotations


def plain(value: float, digits: int = 3) -> str:
    """`value` rounded to so many digits, or to a whole number where it has more before the point: `0.123`, `4290`."""
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    return f"{float(text):.0f}" if abs(value) >= 1 else f"{float(text):.{digits + 12}f}".rstrip("0").rstrip(".")
