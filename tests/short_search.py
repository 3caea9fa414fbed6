"""A search that looks at little: for tests of what becomes of a kernel, whichever it is.

Candidates come from schedules alone where there are any, a few of the most promising, at their first sizes: a search
takes a quarter of its time.  Tests of what is found, or why, search as users do.
"""

from __future__ import annotations

import pytest

import egglift.search  # noqa: F401  # all modules of the search
from egglift.egraph.schedules.choices import _Choosing
from egglift.egraph.schedules.known import KNOWN

#: how little is looked at, by where it is said
LEAST: dict[str, object] = {
    "egglift.search.AT_BEST": float("inf"),  # laws on patterns are searched where there are no schedules
    "egglift.search.REFINED": 1,
    "egglift.search.TRIES": 4,
    "egglift.egraph.extraction.extract.MOST": 3,
    "egglift.egraph.schedules.choice.KEPT": 2,
    "egglift.egraph.schedules.choices.KEPT": 2,
    "egglift.egraph.schedules.choices.GENERATED_ALONE": (1, 1),
    "egglift.egraph.schedules.choices.KEPT_ALONE": 2,
    "egglift.egraph.schedules.choices.CLOSE_ALONE": 1.1,
    "egglift.egraph.schedules.choices.NEAR": 1.05,
    "egglift.egraph.schedules.stage_choices.NEAR": 1.05,
    "egglift.egraph.schedules.scan_choices.TRIES": 4,
    "egglift.egraph.schedules.scan_choices.FEW": 1,
}


def shorten(patch: pytest.MonkeyPatch) -> None:
    """Searches of this process are short.  Call `KNOWN.clear()` when they no longer are."""
    KNOWN.clear()
    for name, value in LEAST.items():
        patch.setattr(name, value)
    patch.setattr(_Choosing._generated, "__defaults__", ((1, 1), 1.1))  # assignments, and how near the best
