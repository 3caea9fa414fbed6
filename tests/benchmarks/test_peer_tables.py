"""The tables of programs beside their strongest peers hold what the raw results hold, and say what these do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tables import peers, raw

FACTS = {"device": "a card", "driver": "1.0", "date": "2026-11-30", "versions": {"torch": "2.11"}}


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of results with none in it."""
    for module in (peers, raw):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path


def keep(folder: Path, name: str, *lines: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps(FACTS | {"results": lines}))


def fair(program: str, ratio: float, **more: Any) -> dict[str, Any]:
    said = {"torch": {"us": 8.0, "right": True}, "jax": {"failed": "no"}, "cupy": {"us": 1.0, "right": False}}
    head = {"program": program, "of": "catalogue", "size": "9", "us": 10.0, "peers": said}
    head |= {"absent": {"triton": "not written for this program", "numba": "cannot be imported"}}
    return head | {"best peer": "torch", "of the best peer": ratio, "right": True, **more}


def by_hand(kernel: str, ratio: float, **more: Any) -> dict[str, Any]:
    head = {"kernel": kernel, "program": "vec_sum", "size": "9", "us": 20.0, "egglift us": 10.0, "right": True}
    return head | {"egglift right": True, "of the kernel by hand": ratio, "GB/s": 1.0, "egglift GB/s": 2.0, **more}


def test_without_raw_data_a_page_says_so(results: Path) -> None:
    assert peers.fair("pocl") == peers.handwritten("nvidia_h200") == peers.NONE
    assert list(peers.behind_peers()) == []


def test_a_peer_is_a_time_or_a_reason(results: Path) -> None:
    keep(results, "pocl_fair", fair("axpy", 0.8), {"program": "dot", "of": "catalogue", "size": "9", "failed": "alas"})
    text = peers.fair("pocl")
    assert "| axpy | catalogue | 9 | 10.0 | 8.0 | failed | 1.0, wrong | not written | absent | torch | 0.80 |" in text
    assert "device: a card" in text and text.endswith("No figure: dot (alas).")
    assert list(peers.behind_peers()) == [("PoCL", "axpy", "9", "torch", 0.8, "fair.md")]


def test_parts_of_a_run_are_one_table(results: Path) -> None:
    late = {"program": "dot", "of": "catalogue", "size": "9", "left out": "not begun within 9 s"}
    keep(results, "pocl_fair_1", fair("axpy", 0.8), fair("dot", 1.1))
    keep(results, "pocl_fair_2", late, fair("axpy", 0.9))
    text = peers.fair("pocl")
    assert text.count("| axpy |") == 1 and "| 0.90 |" in text and "| 1.10 |" in text and "No figure" not in text
    assert "pocl_fair_1.json" in text and "pocl_fair_2.json" in text


def test_kernels_by_hand_have_rates_of_both(results: Path) -> None:
    keep(results, "pocl_handwritten", by_hand("reduce0", 2.0), by_hand("llp1", 0.5, derived=True))
    text = peers.handwritten("pocl")
    assert "| reduce0 | 9 | 20.0 |  | 10.0 | 2.00 | 1 GB/s | 2 GB/s | yes |" in text and "llp1 (derived)" in text


def test_shares_are_of_programs_with_a_figure(results: Path) -> None:
    keep(
        results,
        "pocl_fair",
        fair("axpy", 0.95),
        fair("dot", 1.3),
        fair("scal", 0.5),
        {"program": "gemv", "of": "cases"},
    )
    (group,) = [group for group in peers.groups_of("pocl") if group[1] == "catalogue"]
    row = peers.share(*group)
    assert row == ("PoCL", "catalogue", "torch, jax, cupy", "3", "67%", "33%", "33%", "0.95", "scal 0.50")
