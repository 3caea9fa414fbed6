"""The rule book as pages: one for each family of laws, made from the headers of the .egg files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from egglift.egraph.rules.analysis import Analysis, analyses
from egglift.egraph.rules.book import GROUPS, Law, book
from egglift.egraph.rules.headers import Condition, Variant
from egglift.egraph.rules.phases import NAMES
from egglift.egraph.rules.references import cited

#: what a family is called
TITLES = {
    "algorithmic": "Algorithmic laws",
    "reduction": "Reductions",
    "scan": "Scans",
    "layout": "Layout",
    "tiling": "Tiling",
    "stencil": "Stencils",
    "vector": "Vectors",
    "lowering": "Lowering",
    "memory": "Memory",
    "devices": "Devices",
}
PROOFS = "in proofs of equality only"
#: an equation is broken before it is wider than a page
WIDTH = 88
FENCE = "```"
BACK = "*From right to left:*"


@cache
def law_pages() -> dict[str, str]:
    """The pages of the rule book, by place in the site."""
    families = {f"laws/{group}.md": "\n".join(_family(group)) for group in GROUPS}
    return {"laws/index.md": "\n".join(_index()), "laws/conditions.md": "\n".join(_conditions()), **families}


def anchored(references: str) -> str:
    """The bibliography with a place to link to at each key."""
    return re.sub(r"\*\*\[(\w+)\]\*\*", lambda key: f'<a id="{key[1].lower()}"></a>{key[0]}', references)


# ------------------------------------------------------------------------------------- the first page


def _index() -> Iterator[str]:
    laws = book().laws
    yield f"# The rule book\n\n{len(laws)} laws, made from the headers of [the rules](../source/egraph/rules.md)."
    yield "[How to read them](../laws.md) explains notation and words; `egglift laws NAME` prints one.\n"
    yield "## By family\n\n| family | laws |\n|---|---|"
    for group in GROUPS:
        own = " ".join(_link(law) for law in laws if law.group == group)
        yield f"| [{TITLES[group]}]({group}.md) | {own} |"
    yield "\n## By phase\n\nIn a phase, laws apply in this order. Some run in several.\n\n| phase | laws |\n|---|---|"
    for phase, meaning in (*NAMES.items(), ("none", PROOFS)):
        own = " ".join(_link(law) for law in laws if phase in (law.phases or ("none",)))
        yield f"| **{phase}**: {meaning} | {own} |"


def _link(law: Law) -> str:
    return f"[{law.name}]({law.group}.md#{law.name})"


# ------------------------------------------------------------------------------------------- a family


def _family(group: str) -> Iterator[str]:
    yield f"# {TITLES[group]}\n\n{_preface(group)}\n"
    for law in book().laws:
        if law.group == group:
            yield from _law(law)


def _preface(group: str) -> str:
    """What a file of rules says before its first law."""
    text = files("egglift.egraph.rules").joinpath(f"{group}.egg").read_text().partition(";;; ")[0]
    return " ".join(line.lstrip("; ") for line in text.splitlines() if line.startswith(";"))


def _law(law: Law) -> Iterator[str]:
    yield f"## {law.name} {{#{law.name}}}\n"
    marks = [flag for flag, is_so in (("macro", law.macro), ("reassociating", law.reassociating)) if is_so]
    phases = ", ".join(law.phases) or PROOFS
    yield " · ".join([f"**phase** {phases}", *(f"**{mark}**" for mark in marks)]) + "\n"
    for number, variant in enumerate(law.variants):
        yield from _variant(variant, first=number == 0)
    yield f"**source** {_sourced(law.source)}\n"
    yield f'??? note "The rules"\n\n    {FENCE}scheme'
    yield textwrap.indent(re.sub(r"\n{2,}", "\n", law.text.strip()), "    ")
    yield f"    {FENCE}\n"


def _variant(variant: Variant, first: bool) -> Iterator[str]:
    if variant.back:
        yield f"{BACK}\n"
    if equation := variant.equation or variant.back:
        words, equation = _said_before(equation)
        yield words
        if equation:
            yield f"{FENCE}text\n{wrapped(equation)}\n{FENCE}\n"
    elif not first:
        yield "*The same equation:*\n"
    said = [(label, getattr(variant, label)) for label in ("when", "only", "asks")]
    lines = [f"- **{label}** {_condition(condition)}" for label, conditions in said for condition in conditions]
    if lines:
        yield "\n".join(lines) + "\n"


def _said_before(equation: str) -> tuple[str, str]:
    """The words before an equation, as in `with a third operand: f x = ...`, and the equation."""
    found = re.fullmatch(r"([A-Za-z][\w ,'-]* [\w ,'-]*):( .*|)", equation)
    return (f"{_sentence(found[1])}:\n", found[2].strip()) if found else ("", equation)


def _sentence(words: str) -> str:
    """Words that begin with a capital letter, if not with the name of a variable."""
    begun = words if len(words.split()[0]) == 1 else words[0].upper() + words[1:]
    return _text(begun)


def _condition(condition: Condition) -> str:
    known = [_meaning_link(name) for name in condition.names]
    return ", ".join(known) + (f"; {_text(condition.sentence)}" if condition.sentence else "")


def _meaning_link(name: str) -> str:
    """A condition, which leads to what it means where an analysis says so."""
    head = name.split()[0]
    return f"[`{name}`](conditions.md#{head})" if head in analyses() else f"`{name}`"


def _sourced(source: str) -> str:
    """A source whose keys lead to the bibliography."""
    linked = _text(source)
    for key in cited(source):
        linked = linked.replace(f"[{key}]", f"[[{key}]](../references.md#{key.lower()})")
    return linked


def wrapped(equation: str) -> str:
    """An equation in lines that fit a page: right sides and definitions begin a line, what goes on is indented."""
    if len(equation) <= WIDTH:
        return equation
    lines = []
    for number, piece in enumerate(_pieces(equation)):
        indent = "  " if number else ""
        wide = {"initial_indent": indent, "subsequent_indent": indent + "    "}
        lines += textwrap.wrap(piece, WIDTH, **wide, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def _pieces(equation: str) -> Iterator[str]:
    """`a = b = c, m = n/k` -> `a`, `= b`, `= c,`, `m = n/k`: what stands in brackets is one."""
    depth, start, defined = 0, 0, False
    for i, c in enumerate(equation):
        depth += (c in "([<") - (c in ")]>")
        rest = equation[i:]
        if depth == 0 and rest.startswith(" = ") and not defined:
            yield equation[start:i]
            start = i + 1
        elif depth == 0 and re.match(r", [\w']+ = ", rest):
            yield equation[start : i + 1]
            start, defined = i + 2, True
    yield equation[start:]


def _text(sentence: str) -> str:
    """A sentence in which Markdown finds nothing of its own."""
    return re.sub(r"([\\*_<>`|]|(?<=\])\[)", r"\\\1", sentence)


# ----------------------------------------------------------------------------------------- conditions


def _conditions() -> Iterator[str]:
    yield "# Conditions\n\nWhat laws need, and what keeps the search small: facts that rules derive for every term."
    yield "Each says what its fact means, or by which equation it is found, and which laws name it.\n"
    askers = _askers()
    for analysis in analyses().values():
        yield from _analysis(analysis, askers.get(analysis.name, ()))


def _analysis(analysis: Analysis, askers: tuple[Law, ...]) -> Iterator[str]:
    yield f"## {analysis.name} {{#{analysis.name}}}\n"
    if analysis.meaning:
        yield f"{FENCE}text\n{wrapped(analysis.meaning)}\n{FENCE}\n"
    if askers:
        yield f"Named by {', '.join(_link(law) for law in askers)}.\n"


def _askers() -> Mapping[str, tuple[Law, ...]]:
    found: dict[str, list[Law]] = {}
    for law in book().laws:
        names = {
            name.split()[0]
            for v in law.variants
            for condition in (*v.when, *v.only, *v.asks)
            for name in condition.names
        }
        for name in sorted(names):
            found.setdefault(name, []).append(law)
    return {name: tuple(laws) for name, laws in found.items()}
