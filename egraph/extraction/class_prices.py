"""What extraction found for every class of an e-graph: the least price of each of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from egglift.egraph.extraction.access_costs import price
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.solutions import Found
from egglift.egraph.graph.graph import ENode


@dataclass(frozen=True)
class NodePrice:
    """The least price of a node, by whoever executes it, in scalar operations of a full device; None: never so.

    written: of code that writes its value; read: of one access to an expression that reads it, and what is paid before.
    """

    written: float | None = None
    read: float | None = None


def class_prices(extractor: Extractor) -> dict[tuple[int, ENode], NodePrice]:
    """Prices by class and node, after `run`.  Nodes that extraction never asked for, or that lost, have none."""
    written, read = dict[tuple[int, ENode], float](), dict[tuple[int, ENode], float]()
    for (_, c, _, _), rows in extractor.table.final.items():
        for row in rows:
            key = c, row.how.node
            if isinstance(row, Found):
                written[key] = min(row.total, written.get(key, row.total))
            else:
                total = row.total + price(row.value)
                read[key] = min(total, read.get(key, total))
    return {key: NodePrice(written.get(key), read.get(key)) for key in {**written, **read}}
