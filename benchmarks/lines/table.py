"""`python -m benchmarks.lines.table`: lines of programs for several devices, with egglift and by hand.

By hand means pyopencl, which takes fewer lines than C; neither has lines that only check arguments.  Lines of code are
counted, those in OpenCL too: not blank ones, comments or docstrings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """One program: its lines with egglift, and by hand."""

    name: str
    short: int
    by_hand: int

    @property
    def part(self) -> float:
        """The first in parts of the second."""
        return self.short / self.by_hand


def lines_of(text: str) -> int:
    """Lines of code of a Python file; those of a string that is no docstring count."""
    said = {n for first, last in _docstrings(ast.parse(text)) for n in range(first, last + 1)}
    code = (line.strip() for number, line in enumerate(text.splitlines(), 1) if number not in said)
    return sum(bool(line) and not line.startswith(("#", "//")) for line in code)


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef():
                match node.body[:1]:
                    case [ast.Expr(ast.Constant(str())) as said]:
                        yield said.lineno, said.end_lineno or said.lineno


def rows() -> list[Row]:
    """All programs that are there both ways, by name."""
    names = sorted(f.stem for f in (HERE / "short").glob("*.py") if f.stem != "__init__")

    def lines(way: str, name: str) -> int:
        return lines_of((HERE / way / f"{name}.py").read_text())

    return [Row(name, lines("short", name), lines("by_hand", name)) for name in names]


def main() -> None:
    """Prints the table, as Markdown."""
    print("| program | egglift | by hand | |\n|---|---|---|---|")
    for row in rows():
        print(f"| {row.name} | {row.short} | {row.by_hand} | {row.part:.0%} |")


if __name__ == "__main__":
    main()
