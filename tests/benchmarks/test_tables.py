"""The tables of docs/results are those of the raw results, and no figure by which a peer is faster is left out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.tables.__main__ import PAGES, renewed
from benchmarks.tables.made import MADE

NAMES = sorted(page.name for page in PAGES.glob("*.md"))
#: what is in the header of a column of ratios to a peer
PEER = ("torch", "NumPy", "faster", "run", "mending")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_tables_of_the_raw_results(name: str) -> None:
    text = (PAGES / name).read_text()
    assert renewed(text) == text, "make results writes them anew"


def test_every_table_is_on_a_page() -> None:
    text = "".join((PAGES / name).read_text() for name in NAMES)
    assert set(re.findall(r"<!-- made: ([a-z0-9-]+) -->", text)) == set(MADE)


def test_every_page_of_results_says_how_to_make_it() -> None:
    for name in set(NAMES) - {"index.md"}:
        text = (PAGES / name).read_text()
        assert "```sh" in text or "no raw data" in text, name


def by_hand(page: Path) -> Iterator[tuple[str, float]]:
    """Programs with their last ratio to a peer, of the tables that are written by hand."""
    text = re.sub(r"<!-- made.*?<!-- end -->", "", page.read_text(), flags=re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines())
        for row in rows:
            yield from _ratios(head, row)


def _ratios(head: list[str], row: list[str]) -> Iterator[tuple[str, float]]:
    starts = [i for i, title in enumerate(head) if title in ("program", "product")]
    for start, end in zip(starts, [*starts[1:], len(head)]):
        columns = range(start + 1, end)
        said = [row[i] for i in columns if any(word in head[i] for word in PEER) and head[i][-2:] != "'s"]
        numbers = [re.findall(r"\d+\.\d+", cell) for cell in said]
        last = next((found[-1] for found in reversed(numbers) if found), None)
        if last:
            yield row[start], float(last)


def test_every_figure_behind_a_peer_is_on_the_page_of_those() -> None:
    behind = (PAGES / "behind.md").read_text()
    found = [pair for name in NAMES if name not in ("behind.md", "index.md") for pair in by_hand(PAGES / name)]
    assert len(found) > 60
    assert [pair for pair in found if pair[1] < 1 and pair[0] not in behind] == []
