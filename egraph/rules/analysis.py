"""Analyses: facts that rules derive for every term, which laws ask for by name (`closed y`, `depth n < 1`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from egglift.egraph.rules.headers import Variant, header_of, rules_alone, sections
from egglift.egraph.rules.language import CORE, core_text


@dataclass(frozen=True)
class Analysis:
    """A section of the files that are read before any law.

    meaning: what its fact says, as in `closed x: x depends on ...`, or the equation by which facts are found.
    group: its file.  text: declarations and rules, which run with the typing rules.
    """

    name: str
    meaning: str
    source: str
    text: str
    group: str
    line: int
    variants: tuple[Variant, ...]


@cache
def analyses() -> dict[str, Analysis]:
    """All analyses by name, in the order in which they are read."""
    found = {}
    for group in CORE:
        for name, line, lines in sections(core_text(group)):
            header = header_of(lines)
            source = header.source or "egglift"
            rules = rules_alone(lines)
            found[name] = Analysis(name, header.equation, source, rules, group, line, header.variants)
    return found


def meaning(condition: str) -> str:
    """What a condition of a law says; "" where its own words say it: `meaning("closed y") == "closed x: ..."`."""
    known = analyses().get(condition.split()[0])
    return known.meaning if known else ""
