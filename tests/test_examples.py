"""The notebooks of examples/: run from top to bottom, and stored without what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import notebooks
from tests.documents import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LONG, DEEP = ("a_product_by_hand",), pytest.mark.deep  # its parts are blocks of docs/control.md
MOST_SHOWN = 60_000  # characters that a cell shows


def test_there_are_notebooks_for_three_readers() -> None:
    assert [n.stem for n in NOTEBOOKS] == ["a_product_by_hand", "equal_programs", "heat_in_a_rod"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    cells = [cell for cell in notebooks.read(path).cells if cell.cell_type == "code"]
    assert len(cells) < 10
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=DEEP if p.stem in LONG else ()) for p in NOTEBOOKS], ids=lambda p: p.stem
)
def test_notebooks_run_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EGGLIFT_DEVICE", "pocl")
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    shown = notebooks.run(notebooks.read(path))
    assert all(len(text) < MOST_SHOWN for text in shown)
    assert any("<svg" in text or "el-derivation" in text for text in shown)
    assert [f.suffix for f in tmp_path.iterdir() if f.is_file()] == [".html"]
