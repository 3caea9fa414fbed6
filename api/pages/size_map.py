"""The space of two tile sizes as a heat map: the darker, the faster by the model."""

from __future__ import annotations

from math import log
from xml.etree.ElementTree import Element

from egglift.costmodel.search.around import SizeMap
from egglift.ir.markup import Child, tag
from egglift.ir.plain_numbers import duration, plain
from egglift.pages.axes import svg

CELL, ROW, LEFT, TOP = 84.0, 40.0, 74.0, 40.0


def heat_map(found: SizeMap) -> Element:
    """A cell for each pair of sizes with its estimate; an empty one where a pair has none."""
    rows, columns = found.names
    best, worst = min(found.seconds.values()), max(found.seconds.values())
    drawn: list[Child] = [tag("text", columns, x=LEFT + CELL * len(found.columns) / 2, y=14, text_anchor="middle")]
    for j, column in enumerate(found.columns):
        drawn.append(_label(str(column), LEFT + (j + 0.5) * CELL, TOP - 8, "middle"))
    for i, row in enumerate(found.rows):
        if rows:
            drawn.append(_label(str(row), LEFT - 8, TOP + (i + 0.5) * ROW + 4, "end"))
        for j, column in enumerate(found.columns):
            price = found.seconds.get((row, column))
            names = f"{f'{rows} = {row}, ' if rows else ''}{columns} = {column}"
            drawn.append(_cell(price, names, best, worst, (row, column) == found.chosen, i, j))
    height = TOP + ROW * len(found.rows)
    if rows:
        middle = (TOP + height) / 2
        turned = f"rotate(-90 14 {middle:.0f})"
        drawn.append(tag("text", rows, x=14, y=middle, text_anchor="middle", transform=turned))
    says = f"estimates over {' and '.join(n for n in found.names if n)}: from {duration(best)} to {duration(worst)}"
    return svg(says, LEFT + CELL * len(found.columns) + 4, height + 4, *drawn)


def _cell(price: float | None, names: str, best: float, worst: float, chosen: bool, i: int, j: int) -> Element:
    x, y = LEFT + j * CELL, TOP + i * ROW
    tip = f"{names}\n{'does not fit, or has no kernels' if price is None else duration(price)}"
    if price is not None and price > best:
        tip += f", {plain(price / best)} times the best"
    speed = 0.0 if price is None else 1.0 if worst <= best else 1 - log(price / best) / log(worst / best)
    kind = "cell" + (" none" if price is None else "") + (" chosen" if chosen else "")
    shape = tag("rect", x=x + 1, y=y + 1, width=CELL - 2, height=ROW - 2, rx=3, style=f"--heat: {8 + 84 * speed:.0f}%")
    on = "strong" if speed > 0.8 else "middling" if speed > 0.55 else None
    text = tag("text", duration(price), x=x + CELL / 2, y=y + ROW / 2 + 4, text_anchor="middle", class_=on)
    said = {"role": "img", "tabindex": "0", "aria_label": tip, "data_tip": tip}
    return tag("g", shape, text, class_=kind, **said)


def _label(text: str, x: float, y: float, anchor: str) -> Element:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_="tick")
