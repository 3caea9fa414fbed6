"""`egglift laws`: the rule book to read, or one law with all that is known of it."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from egglift.egraph.rules.analysis import Analysis, analyses, meaning
from egglift.egraph.rules.book import Law, book
from egglift.egraph.rules.headers import Variant
from egglift.egraph.rules.phases import NAMES
from egglift.egraph.rules.references import cited, references
from egglift.ir.errors import RuleError
from egglift.ir.tile_kinds import TILE_KINDS

NONE = "none"  # the phase of laws that run in proofs of equality only
WIDTH = 118


def add(command: argparse.ArgumentParser) -> None:
    """The arguments of `egglift laws`."""
    command.add_argument("name", nargs="?", metavar="NAME", help="one law, or one analysis that laws ask for")
    command.add_argument("--phase", choices=(*NAMES, NONE), help="only laws of this phase; none: of proofs only")


def run(arguments: argparse.Namespace) -> int:
    """Runs `egglift laws`; RuleError lists what there is if there is no such law or analysis."""
    if arguments.name is None:
        laws = [law for law in book().laws if arguments.phase is None or arguments.phase in (law.phases or (NONE,))]
        if arguments.json:
            print(json.dumps([as_json(law) for law in laws], indent=2))
        else:
            print("\n\n".join("\n".join(entry(law)) for law in laws))
        return 0
    found = named(arguments.name)
    if arguments.json:
        print(json.dumps(as_json(found) if isinstance(found, Law) else analysis_json(found), indent=2))
    else:
        print("\n".join(whole(found) if isinstance(found, Law) else analysis_text(found)))
    return 0


def named(name: str) -> Law | Analysis:
    """The law or the analysis called `name`."""
    if name in book().names:
        return book()[name]
    if name in analyses():
        return analyses()[name]
    there = f"laws: {', '.join(book().names)}; analyses: {', '.join(analyses())}"
    raise RuleError(f"no law and no analysis {name!r}; there are {there}")


# ------------------------------------------------------------------------------------------- text


def entry(law: Law) -> Iterator[str]:
    """A law in a few lines: name, phases, source, equation and conditions."""
    flags = [flag for flag, is_so in (("macro", law.macro), ("reassociating", law.reassociating)) if is_so]
    yield "  ".join([law.name, f"({', '.join(law.phases or ['proofs only'])})", *flags, law.cited])
    yield from _variants(law.variants)


def whole(law: Law) -> Iterator[str]:
    """A law, what its conditions, phases and tile kinds mean, and its source in full."""
    yield from entry(law)
    yield f"from {law.group}.egg, line {law.line}" + ("; proofs use it in both directions" if law.has_back else "")
    yield "phase: " + (", ".join(f"{p}, {NAMES[p]}" for p in law.phases) or "none; it is used in proofs of equality")
    yield from _wrapped(f"source: {law.source}", "  ")
    for key in cited(law.source):
        yield from _wrapped(f"[{key}] {references()[key]}", "  ")
    yield from _listed("conditions", filter(None, map(meaning, _names(law))))
    yield from _listed("tile lengths", (f"{k}: {TILE_KINDS[k].meaning}" for k in _kinds(law.text)))


def analysis_text(analysis: Analysis) -> Iterator[str]:
    """What an analysis says, and which laws ask for it."""
    yield f"{analysis.name}  (analysis, {analysis.group}.egg)"
    yield from _variants(analysis.variants)
    yield from _wrapped(f"asked for by: {', '.join(_askers(analysis)) or 'no law'}", "  ")


def _variants(variants: Sequence[Variant]) -> Iterator[str]:
    for i, variant in enumerate(variants):
        back = f"from right to left: {variant.back}" if variant.back else ""
        yield from _wrapped(variant.equation or back or ("the same" if i else ""), "  ")
        yield from _conditions(variant)


def _conditions(variant: Variant) -> Iterator[str]:
    for label, conditions in (("when", variant.when), ("only", variant.only), ("asks", variant.asks)):
        for condition in conditions:
            yield from _wrapped(f"{label}: {condition}", "    ")


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    unique = list(dict.fromkeys(lines))
    if unique:
        yield f"{title}:"
        for line in unique:
            yield from _wrapped(line, "  ")


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _names(law: Law) -> list[str]:
    """Every condition of a law, and everything that it asks for."""
    asked = (name for v in law.variants for condition in v.asks for name in condition.names)
    return [*(name for v in law.variants for name in (*v.needed, *v.pruning)), *asked]


def _kinds(text: str) -> list[str]:
    """The kinds of tile lengths that rules name."""
    return [k for k in dict.fromkeys(re.findall(r'\(Tile "(\w+)"', text)) if k in TILE_KINDS]


def _askers(analysis: Analysis) -> list[str]:
    return [law.name for law in book().laws if any(name.split()[0] == analysis.name for name in _names(law))]


# ------------------------------------------------------------------------------------------- JSON


def as_json(law: Law) -> dict[str, Any]:
    """A law as plain data."""
    return {
        "name": law.name,
        "equation": law.equation,
        "phases": list(law.phases),
        "source": law.source,
        "references": {key: references()[key] for key in cited(law.source)},
        "group": law.group,
        "line": law.line,
        "macro": law.macro,
        "reassociating": law.reassociating,
        "variants": [_variant_json(variant) for variant in law.variants],
    }


def analysis_json(analysis: Analysis) -> dict[str, Any]:
    """An analysis as plain data."""
    return {
        "name": analysis.name,
        "meaning": analysis.meaning,
        "source": analysis.source,
        "group": analysis.group,
        "line": analysis.line,
        "laws": _askers(analysis),
        "variants": [_variant_json(variant) for variant in analysis.variants],
    }


def _variant_json(variant: Variant) -> dict[str, Any]:
    fields = {"when": variant.when, "only": variant.only, "asks": variant.asks}
    conditions = {
        key: [{"names": list(c.names), "sentence": c.sentence} for c in value] for key, value in fields.items()
    }
    return {"equation": variant.equation, "back": variant.back, **conditions}
