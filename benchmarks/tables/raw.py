"""Raw results as lines: what was measured, on what, and where it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "results"
UNKNOWN = "not recorded"


def raw(name: str) -> Any:
    """The data of a file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def lines(name: str) -> list[dict[str, Any]]:
    """Its programs."""
    data = raw(name)
    found = data.get("results") or data["programs"] if isinstance(data, dict) else data
    return list(found)


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """The rows of a file of results that is a table in Markdown, by the names of its columns."""
    table = [line for line in (RESULTS / f"{name}.md").read_text().splitlines() if line.startswith("|")]
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    yield from (dict(zip(head, cells, strict=True)) for cells in body)


def source(name: str, **known: str) -> str:
    """One line: the file, and what it says of device, driver, versions and date; `known` is said besides."""
    suffix = "json" if (RESULTS / f"{name}.json").exists() else "md"
    said = {**_said(name), **known} if suffix == "json" else known
    facts = [f"{what}: {said.get(what) or UNKNOWN}" for what in ("device", "driver", "versions", "date")]
    return f"Raw data: [{name}.{suffix}](../../benchmarks/results/{name}.{suffix}) · {' · '.join(facts)}"


def _said(name: str) -> dict[str, str]:
    data = raw(name)
    first = data if isinstance(data, Mapping) else data[0]
    device, _, driver = str(first.get("device", "")).partition(", driver ")
    said = {"device": device, "driver": str(first.get("driver") or driver), "date": str(first.get("date", ""))}
    if versions := first.get("versions"):
        said["versions"] = ", ".join(f"{package} {version}" for package, version in versions.items())
    elif peers := first.get("peers"):
        said["versions"] = str(peers)
    return said


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    made = [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(made)


def number(x: float | None, digits: int = 2) -> str:
    """A ratio or a rate: two digits behind the point, none from 100 on; "" where there is none."""
    if x is None:
        return ""
    return f"{x:.{digits}f}" if x < 100 else f"{x:,.0f}"
