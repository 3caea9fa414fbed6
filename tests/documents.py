"""Documents that are run: their Python blocks, one after the other, print what stands below them.

A block of Python may be followed by a block of text: what it prints.  Where the text is marked as `text numbers vary`,
as rows, seconds or prices do, numbers are not compared.  `python -m tests.documents` writes what is printed now into
the documents.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: those that are run here, next to the README (tests/test_readme.py)
DOCUMENTS = tuple(
    f"docs/{name}.md"
    for name in ("tutorial", "kernels", "opencl", "c", "lengths", "own-law", "own-device", "control", "tasks", "numpy")
    + ("architecture", "report")
)
_BLOCK = re.compile(r"```python\n(.*?)```(\n\n```text( numbers vary)?\n)?", re.DOTALL)
_NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")


@dataclass(frozen=True)
class Block:
    """A block of Python.  shown: what stands below it, or None; varies: its numbers are not compared."""

    code: str
    shown: str | None
    varies: bool

    def is_true(self, printed: str) -> bool:
        """Does it stand below the block, but for numbers that vary?"""
        if self.shown is None:
            return True
        return _without_numbers(self.shown) == _without_numbers(printed) if self.varies else self.shown == printed


def blocks(text: str) -> Iterator[Block]:
    """The Python blocks of a document, in order."""
    for m in _BLOCK.finditer(text):
        shown = text[m.end() : text.index("```", m.end())] if m[2] else None
        yield Block(m[1], shown, bool(m[3]))


def run(text: str) -> Iterator[tuple[Block, str]]:
    """Each block with what it prints, in one session."""
    session: dict[str, object] = {"__name__": "document"}
    for number, block in enumerate(blocks(text)):
        with redirect_stdout(StringIO()) as out:
            exec(compile(block.code, f"block {number}", "exec"), session)
        yield block, "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def renewed(text: str, execute: Callable[[str], Iterator[tuple[Block, str]]] = run) -> str:
    """A document with what its blocks print now."""
    printed = execute(text)
    found, at = [], 0
    for m in _BLOCK.finditer(text):
        _, out = next(printed)
        found.append(text[at : m.end()])
        at = m.end()
        if m[2]:
            found.append(out)
            at = text.index("```", at)
    return "".join([*found, text[at:]])


def _without_numbers(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).split())


if __name__ == "__main__":
    for name in sys.argv[1:] or DOCUMENTS:
        (ROOT / name).write_text(renewed((ROOT / name).read_text()))
