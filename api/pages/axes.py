"""The frame of a chart: logarithmic axes with their ticks, and points that say what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

from egglift.ir.markup import Child, tag

WIDTH, HEIGHT = 560.0, 360.0
LEFT, BOTTOM, EDGE = 74.0, 48.0, 16.0
TICKS = 3  # at least; else multiples of powers of ten have some too
_MULTIPLES = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.1, 1.2, 1.4, 1.6, 1.8, *(k / 2 for k in range(4, 20))))


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis from `low` to `high`.  label: what it shows; text: how a number is written."""

    label: str
    low: float
    high: float
    text: Callable[[float], str]

    def part(self, value: float) -> float:
        """Where a value lies between the ends: 0 to 1."""
        return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))

    @property
    def ticks(self) -> list[float]:
        """Powers of ten, and multiples of these where there are few."""
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        found = list[float]()
        for times in _MULTIPLES:
            found = [x for k in powers for t in times if self.low <= (x := t * 10.0**k) <= self.high]
            if len(found) >= TICKS:
                break
        return found


def axis(label: str, values: Sequence[float], text: Callable[[float], str], room: float = 1.25) -> Axis:
    """An axis that holds all values, with some room at its ends."""
    return Axis(label, min(values) / room, max(values) * room, text)


@dataclass(frozen=True)
class Frame:
    """A chart's two axes; `at` places a pair of numbers."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a pair of numbers lies, in pixels."""
        across = LEFT + self.x.part(x) * (WIDTH - LEFT - EDGE)
        return across, EDGE + (1 - self.y.part(y)) * (HEIGHT - BOTTOM - EDGE)

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> Element:
        """A straight line between two pairs of numbers."""
        (x1, y1), (x2, y2) = self.at(*start), self.at(*end)
        return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)

    def spot(self, x: float, y: float, kind: str, tip: str) -> Element:
        """A point that says what it is where the pointer or the keyboard comes to it."""
        cx, cy = self.at(x, y)
        what = {"role": "img", "tabindex": "0", "aria_label": tip, "data_tip": tip}
        return tag("circle", cx=cx, cy=cy, r=7 if kind == "chosen" else 5, class_=f"spot {kind}", **what)

    def chart(self, says: str, *drawn: Child) -> Element:
        """The axes, and what is drawn over them.  says: what the chart shows, for those who do not see it."""
        return svg(says, WIDTH, HEIGHT, *self._ticks(), *drawn)

    def _ticks(self) -> list[Element]:
        right, bottom = WIDTH - EDGE, HEIGHT - BOTTOM
        rows = []
        for x in self.x.ticks:
            across, _ = self.at(x, self.y.low)
            rows.append(tag("line", x1=across, x2=across, y1=EDGE, y2=bottom, class_="grid"))
            rows.append(tag("text", self.x.text(x), x=across, y=bottom + 16, text_anchor="middle", class_="tick"))
        for y in self.y.ticks:
            _, down = self.at(self.x.low, y)
            rows.append(tag("line", x1=LEFT, x2=right, y1=down, y2=down, class_="grid"))
            rows.append(tag("text", self.y.text(y), x=LEFT - 7, y=down + 4, text_anchor="end", class_="tick"))
        rows.append(tag("text", self.x.label, x=(LEFT + right) / 2, y=HEIGHT - 10, text_anchor="middle"))
        turned = f"rotate(-90 14 {(EDGE + bottom) / 2:.0f})"
        rows.append(tag("text", self.y.label, x=14, y=(EDGE + bottom) / 2, text_anchor="middle", transform=turned))
        return rows


def svg(says: str, width: float, height: float, *drawn: Child) -> Element:
    """A picture with what it shows in words."""
    box = f"0 0 {width:.0f} {height:.0f}"
    return tag("svg", tag("title", says), *drawn, class_="chart", role="group", viewbox=box, width=width, height=height)
