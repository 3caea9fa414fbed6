"""The bibliography of the rule book: references.md, beside the laws that cite it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def references() -> Mapping[str, str]:
    """Key -> authors, title, venue and year: `references()["Jepsen2014"]`."""
    text = files("egglift.egraph.rules").joinpath("references.md").read_text()
    entries = re.findall(r"^- \*\*\[(\w+)\]\*\* (.*?)(?=^- |\Z)", text, re.MULTILINE | re.DOTALL)
    return {key: " ".join(entry.replace("*", "").split()) for key, entry in entries}


def cited(source: str) -> tuple[str, ...]:
    """The keys that the source of a law names: `cited("[Steuwer2015] figure 6f") == ("Steuwer2015",)`."""
    return tuple(dict.fromkeys(re.findall(r"\[([A-Z]\w+\d{4})\]", source)))
