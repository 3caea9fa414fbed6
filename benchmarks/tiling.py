"""Did staging tiles in local memory pay, and did the model say so?  A table of measured candidates, program by program.

    python benchmarks/tiling.py RESULT.json ...

RESULT.json: what `benchmarks/carried.py run --table` wrote.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

#: how a structure says that it stages in local memory
LOCAL = "[l"


def row(line: dict[str, Any]) -> str:
    """A program's fastest candidate with local memory, and without, and which of the two the model puts first."""
    timed = [(seconds, LOCAL in sign) for _, seconds, sign, *_ in line["all"] if seconds]
    with_, without = (min((s for s, local in timed if local is kind), default=None) for kind in (True, False))
    cells = [line["program"], line["size"], *(f"{1e6 * s:.1f}" if s else "-" for s in (with_, without))]
    if with_ is None or without is None:
        return f"| {' | '.join([*cells, 'none to compare', ''])} |"
    pays, said = with_ < without, LOCAL in min(line["all"])[2]
    best = min(with_, without)
    chosen = with_ if said else without
    return f"| {' | '.join([*cells, 'yes' if pays else 'no', f'{_word(said)} ({chosen / best:.2f}x)'])} |"


def _word(said: bool) -> str:
    return "yes" if said else "no"


def table(lines: list[dict[str, Any]]) -> str:
    """All programs of one device."""
    first = lines[0]
    head = "| program | size | with local memory (us) | without (us) | pays | the model says (then the best takes) |"
    rows = [row(line) for line in lines if "seconds" in line]
    return "\n".join([f"{first['device']}, driver {first['driver']}", "", head, "|" + "---|" * 6, *rows])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    for path in parser.parse_args().results:
        found = json.loads(path.read_text())
        print(table(found["results"] if isinstance(found, dict) else found), end="\n\n")


if __name__ == "__main__":
    main()
