"""Docstrings as Markdown: what they say of a parameter, `name: sentence`, becomes an item of a list.

A program.                        A program.
device: where it runs.  budget:   - **device**: where it runs.
seconds.                    ->    - **budget**: seconds.
"""

from __future__ import annotations

import re

#: "name: ", or "name, other: ", where a sentence begins
_NAMED = re.compile(r"(?:\A|(?<=\n)|(?<=[.?)!;])\s)\s*(?P<names>\*{0,2}\w+(?:, \w+)*): (?=\S)")
#: the second brackets of `x[i][j]` outside of code, which else would be a link
_INDICES = re.compile(r"(?<=\])\[(?=[^`\n]*(?:`[^`\n]*`[^`\n]*)*$)", re.MULTILINE)


def as_list(text: str, names: set[str]) -> str:
    """A docstring in which sentences on these names are items of lists; blocks that are indented stay as they are."""

    def item(found: re.Match[str]) -> str:
        if not set(found["names"].split(", ")) <= names:
            return found[0]
        return "\n\n- " + ", ".join(f"**{name}**" for name in found["names"].split(", ")) + ": "

    listed = (
        re.sub(r"\n(?!\n|- )\s*", "\n  ", _NAMED.sub(item, part)) if _is_prose(part) and _NAMED.search(part) else part
        for part in text.split("\n\n")
    )
    return _INDICES.sub(r"\\[", "\n\n".join(listed))


def _is_prose(paragraph: str) -> bool:
    return not paragraph.startswith("    ")
