"""The classes of an e-graph, to be walked through: the terms of each, their prices, and the classes within them."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from xml.etree.ElementTree import Element

from egglift.egraph.explanation.abbreviate import outline
from egglift.egraph.extraction.class_prices import NodePrice
from egglift.egraph.graph.graph import ENode, Graph, build
from egglift.ir.markup import tag
from egglift.ir.patterns import Expr
from egglift.ir.syntax import head
from egglift.ir.text import brief

MOST = 500  # classes, those nearest to the program's own
Prices = Mapping[tuple[int, ENode], NodePrice]


def browser(graph: Graph, prices: Prices) -> Element:
    """The classes nearest to the root as data, and the frame in which script.js shows one of them."""
    kept, smallest = nearest(graph), cache(graph.term)
    data = {"root": graph.root, "classes": {str(c): described(graph, c, prices, smallest) for c in kept}}
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # a `</script>` in a name would end it
    left = len(graph.classes) - len(kept)
    more = f"The {len(kept)} classes nearest to the program are here; {left} more are not." if left else None
    return tag(
        "div",
        tag(
            "div",
            tag("p", "The classes are shown by a script; this browser runs none."),
            id="classes",
            aria_live="polite",
        ),
        tag("p", more, class_="note") if more else None,
        tag("script", text, type="application/json", id="egraph-data"),
    )


def nearest(graph: Graph, most: int = MOST) -> list[int]:
    """Classes by their distance from the root."""
    seen, queue = {graph.root: None}, deque([graph.root])
    while queue and len(seen) < most:
        for node in graph.classes[queue.popleft()]:
            for kid in node.children:
                if kid not in seen and len(seen) < most:
                    seen[kid] = None
                    queue.append(kid)
    return list(seen)


def described(graph: Graph, c: int, prices: Prices, smallest: Callable[[int], Expr]) -> dict[str, Any]:
    """A class as plain data: its type, its smallest program, and its terms, the cheapest first."""
    terms = [_term(node, prices.get((c, node), NodePrice()), smallest) for node in graph.classes[c]]
    terms.sort(key=lambda t: (t["written"] is None, t["written"] or 0.0, t["read"] is None, t["read"] or 0.0))
    kind = graph.types.get(c)
    return {"type": "" if kind is None else str(kind), "smallest": outline(smallest(c), 240), "terms": terms}


def _term(node: ENode, price: NodePrice, smallest: Callable[[int], Expr]) -> dict[str, Any]:
    data = [brief(x, 30) for x in node.data if not isinstance(x, bytes)]
    name = head(build(node, [smallest(k) for k in node.children]))
    words = [d for d in data if d and d.lower() not in name.lower()]
    return {"head": name, "data": words, "kids": list(node.children), "written": price.written, "read": price.read}
