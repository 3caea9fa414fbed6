"""Prices of all classes, as extraction left them."""

from __future__ import annotations

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.extraction.class_prices import class_prices
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.saturation.saturate import saturate


def test_the_best_program_has_the_least_price_of_its_class() -> None:
    x = el.array("x", el.f32, 64)
    graph = saturate(el.as_program(x.map(lambda v: v + 1.0))).graph
    extractor = Extractor(graph, weights(presets()["pocl_cpu"]))
    best = extractor.run()[0]
    prices = class_prices(extractor)
    written = {node: p.written for (c, node), p in prices.items() if c == graph.root and p.written is not None}
    assert min(written.values()) == written[best.how.node] == best.total
    assert all(node in graph.classes[c] for c, node in prices)
