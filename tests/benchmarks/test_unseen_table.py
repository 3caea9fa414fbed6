"""The table of programs that were written unseen: the worst first, both runs counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tables import raw, unseen

FACTS = {"device": "a card, driver 1.0", "date": "2026-11-30", "versions": {"torch": "2.11"}, "how": "one by one"}


def line(ratio: float) -> dict[str, Any]:
    return {"us": 10.0, "torch us": 10 * ratio, "torch.compile us": 99.0, "of the best peer": ratio}


@pytest.fixture(autouse=True)
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Four programs: fast, slow, mended, and one that had no kernel."""
    monkeypatch.setattr(raw, "RESULTS", tmp_path)
    found = [
        {"program": "fast", **line(1.25)},
        {"program": "slow", **line(0.7)},
        {"program": "mended", **line(0.5), "after mending": line(2.0)},
        {"program": "none", "failed": "too large", "after mending": line(0.95)},
    ]
    (tmp_path / f"{unseen.FILE}.json").write_text(json.dumps(FACTS | {"results": found}))


def test_the_worst_comes_first_by_its_last_figure() -> None:
    rows = [row.split(" | ")[0].removeprefix("| ") for row in unseen.unseen().splitlines() if "99.0" in row]
    assert rows == ["slow", "none", "fast", "mended"]


def test_a_row_has_the_first_ratio_and_the_last() -> None:
    text = unseen.unseen()
    assert "| slow | 10.0 | 7.0 | 99.0 | 0.70 |  |" in text
    assert "| mended | 10.0 | 20.0 | 99.0 | 0.50 | 2.00 |" in text
    assert "| none | 10.0 | 9.5 | 99.0 | no kernel | 0.95 |" in text
    assert "device: a card · driver: 1.0" in text and "How: one by one." in text


def test_what_has_no_kernel_counts_as_0() -> None:
    text = unseen.unseen()
    assert "| first run | 4 | 1 | 1 | 1 | 2 | 1 | 0.60 |" in text
    assert "| after mending | 4 | 3 | 2 | 2 | 1 | 0 | 1.10 |" in text


def test_ratios_are_those_of_programs_with_a_kernel() -> None:
    assert unseen.first_ratios() == [("fast", 1.25), ("slow", 0.7), ("mended", 0.5)]
    assert dict(unseen.latest_ratios()) == {"fast": 1.25, "slow": 0.7, "mended": 2.0, "none": 0.95}
