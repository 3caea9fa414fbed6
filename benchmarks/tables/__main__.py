"""`python -m benchmarks.tables` (`make results`): the tables of docs/results anew, from the raw results.

A page has tables between `<!-- made: NAME -->` and `<!-- end -->`; what stands around them is written by hand.
Nothing is measured.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.tables.made import MADE
from benchmarks.tables.pictures import draw

PAGES = Path(__file__).resolve().parents[2] / "docs" / "results"
_MADE = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(\n<!-- end -->)", re.DOTALL)


def renewed(text: str) -> str:
    """A page with its tables as the raw results say."""
    return _MADE.sub(lambda found: f"{found[1]}\n{MADE[found[2]]()}\n{found[3]}", text)


def main() -> None:
    """The command line."""
    for page in sorted(PAGES.glob("*.md")):
        page.write_text(renewed(page.read_text()))
    draw()


if __name__ == "__main__":
    main()
