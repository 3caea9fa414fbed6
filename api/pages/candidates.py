"""Candidates as a chart, estimates against measurements, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from xml.etree.ElementTree import Element

from egglift.ir.markup import tag
from egglift.ir.plain_numbers import duration, plain
from egglift.pages.axes import Frame, axis


@dataclass(frozen=True)
class Row:
    """A candidate: seconds by the model, and as measured (None: it was not); note: its sizes, or why it cannot run."""

    structure: str
    estimate: float
    measured: float | None
    status: str
    note: str
    chosen: bool

    @property
    def tip(self) -> str:
        """All of it, for the pointer."""
        times = f"estimate {duration(self.estimate)}, measured {duration(self.measured)}"
        return f"{self.structure}\n{times}\n{self.note}"


def chart(rows: Sequence[Row]) -> Element | None:
    """Estimates against measurements, or, where nothing was measured, against ranks; None where there is no number."""
    known = [r for r in rows if isfinite(r.estimate) and r.estimate > 0]
    timed = [(r, r.measured) for r in known if r.measured]
    if timed:
        return _against(timed)
    return _ranked(known) if known else None


def _against(timed: Sequence[tuple[Row, float]]) -> Element:
    numbers = [x for r, m in timed for x in (r.estimate, m)]
    frame = Frame(axis("estimate", numbers, duration), axis("measured", numbers, duration))
    ends = (frame.x.low, frame.x.low), (frame.x.high, frame.x.high)
    spots = [frame.spot(r.estimate, m, _kind(r), r.tip) for r, m in timed]
    says = f"{len(timed)} candidates: what the model estimates against what was measured, both in seconds"
    return frame.chart(says, frame.line(*ends, "guide"), *reversed(spots))


def _ranked(known: Sequence[Row]) -> Element:
    by_price = sorted(known, key=lambda r: r.estimate)
    ranks = [1.0, max(2.0, float(len(by_price)))]
    frame = Frame(axis("rank by the model", ranks, plain, 1.1), axis("estimate", [r.estimate for r in known], duration))
    spots = [frame.spot(i, r.estimate, _kind(r), r.tip) for i, r in enumerate(by_price, 1)]
    return frame.chart(f"{len(known)} candidates by the model's estimate in seconds, the best first", *spots)


def _kind(r: Row) -> str:
    return "chosen" if r.chosen else "other"


def table(rows: Sequence[Row]) -> Element:
    """All candidates in their order; the chosen one is marked."""
    head = ("", "structure", "estimate", "measured", "state", "sizes, or why not")
    lines = [tag("tr", *(tag("th", text, scope="col") for text in head))]
    for i, r in enumerate(rows):
        mark = tag("td", f"▸ {i}" if r.chosen else str(i), class_="number")
        times = [tag("td", duration(x), class_="number") for x in (r.estimate, r.measured)]
        cells = [
            mark,
            tag("td", tag("code", r.structure)),
            *times,
            tag("td", r.status, class_="state"),
            tag("td", r.note),
        ]
        lines.append(tag("tr", *cells, class_="chosen" if r.chosen else None))
    return tag("div", tag("table", tag("thead", lines[0]), tag("tbody", *lines[1:])), class_="scroll", tabindex="0")
