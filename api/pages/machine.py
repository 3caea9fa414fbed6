"""What kernels do to a device: bytes at each level of its memory, and where they are below its roofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, degrees
from xml.etree.ElementTree import Element

from egglift.ir.markup import Child, tag
from egglift.ir.plain_numbers import duration, plain
from egglift.pages.axes import Frame, axis


@dataclass(frozen=True)
class Level:
    """A level of memory: bytes that move, bytes per second that it can move (0: not known), and seconds that the
    model reckons for these bytes (None: it reckons them at another level).
    """

    name: str
    bytes: float
    bandwidth: float
    seconds: float | None
    says: str


@dataclass(frozen=True)
class Launch:
    """A kernel of the roofline: operations, bytes of memory and seconds, measured or by the model."""

    name: str
    operations: float
    bytes: float
    seconds: float
    measured: bool


def hierarchy(levels: Sequence[Level]) -> Element:
    """A bar for each level, as long as its bytes, and what they take by the model."""
    most = max((level.bytes for level in levels), default=0.0) or 1.0
    head = ("level", "bytes", "", "bandwidth", "by the model")
    rows = [tag("tr", *(tag("th", text, scope="col") for text in head))]
    for level in levels:
        bar = tag("div", class_="bar", style=f"width: {100 * level.bytes / most:.1f}%")
        known = level.bandwidth > 0
        cells: list[Child] = [
            tag("td", tag("strong", level.name), tag("div", level.says, class_="says")),
            tag("td", amount(level.bytes, "B"), class_="number"),
            tag("td", bar, class_="bars"),
            tag("td", amount(level.bandwidth, "B/s") if known else "not measured", class_="number"),
            tag("td", duration(level.seconds), class_="number"),
        ]
        rows.append(tag("tr", *cells))
    table = tag("table", tag("thead", rows[0]), tag("tbody", *rows[1:]), class_="hierarchy")
    return tag("div", table, class_="scroll", tabindex="0")


def roofline(
    launches: Sequence[Launch], roofs: Sequence[tuple[str, float]], peaks: Sequence[tuple[str, float]]
) -> Element | None:
    """Operations per second over operations per byte of memory: roofs are bandwidths (bytes per second), peaks are
    operations per second.  None where no launch has operations and bytes.
    """
    points = [x for x in launches if x.operations > 0 and x.bytes > 0]
    if not points or not roofs or not peaks:
        return None
    ridge = [peak / band for _, band in roofs for _, peak in peaks]
    density = axis("operations per byte of memory", [*(x.operations / x.bytes for x in points), *ridge], plain, 3.0)
    rates = [*(x.operations / x.seconds for x in points), *(peak for _, peak in peaks)]
    frame = Frame(density, axis("operations per second", rates, lambda v: amount(v, ""), 3.0))
    top = max(peak for _, peak in peaks)
    drawn: list[Child] = []
    for name, peak in peaks:
        across, down = frame.at(density.high, peak)
        text = f"{name}: {amount(peak, '/s')}"
        drawn.append(frame.line((min(ridge), peak), (density.high, peak), "roof"))
        drawn.append(tag("text", text, x=across - 4, y=down - 7, text_anchor="end", class_="tick"))
    for i, (name, band) in enumerate(roofs):
        low = max(density.low, frame.y.low / band)
        drawn.append(frame.line((low, low * band), (top / band, top), "roof"))
        drawn.append(_along(f"{name}: {amount(band, 'B/s')}", frame, low, top / band, band, below=i == 0))
    drawn += [_spot(x, frame) for x in points]
    return frame.chart("roofline: the kernels below the device's bandwidth and peak rate", *drawn)


def _spot(x: Launch, frame: Frame) -> Element:
    density, rate = x.operations / x.bytes, x.operations / x.seconds
    how = "measured" if x.measured else "by the model"
    tip = f"{x.name}: {amount(rate, '/s')}, {plain(density)} operations per byte\n{duration(x.seconds)} {how}"
    return frame.spot(density, rate, "chosen", tip)


def _along(text: str, frame: Frame, low: float, high: float, band: float, below: bool) -> Element:
    """A text along a slanting roof, beside its end or, below it, its middle."""
    start = low * (high / low) ** (0.5 if below else 0.2)
    (x0, y0), (x1, y1) = frame.at(start, start * band), frame.at(high, high * band)
    turned = f"translate({x0:.1f} {y0:.1f}) rotate({degrees(atan2(y1 - y0, x1 - x0)):.1f})"
    return tag("text", text, y=15 if below else -6, transform=turned, class_="tick")


def amount(value: float, unit: str) -> str:
    """A number with a prefix: `amount(1.05e6, "B") == "1.05 MB"`."""
    for prefix, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{plain(value / scale)} {prefix}{unit}"
    return f"{plain(value)} {unit}".strip()
