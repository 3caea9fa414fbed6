"""The headers of laws are held against their rules: what they ask for, what they equate, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from egglift.egraph.rules.analysis import analyses, meaning
from egglift.egraph.rules.book import GROUPS, Law, as_rule, book, parse
from egglift.egraph.rules.egglog_core import EGraph, Rule
from egglift.egraph.rules.headers import Variant, header_of, sections
from egglift.egraph.rules.phases import NAMES
from egglift.egraph.rules.references import cited, references
from egglift.ir.tile_kinds import SCHEDULE_TILES, TILE_KINDS
from tests.equations import Rewriting, abbreviations, asked, made, named, rewritings, sides, undoes
from tests.guards import guards


def text_of(name: str) -> str:
    """A law's section, as its file has it."""
    folder = files("egglift.egraph.rules")
    texts = (folder.joinpath(f"{group}.egg").read_text() for group in GROUPS)
    return next("\n".join(lines) for text in texts for n, _, lines in sections(text) if n == name)


def law_of(text: str) -> Law:
    (law,) = parse(text, "algorithmic")
    return law


def rules_of(variant: Variant) -> list[Rule]:
    found = [as_rule(command) for command in EGraph().parse_program(variant.text)]
    return [rule for rule in found if rule is not None]


def goes_back(rule: Rule) -> bool:
    return str(rule.ruleset).endswith("/back")


# ------------------------------------------------------------------------------------- complaints


def complaints(law: Law) -> list[str]:
    """Where a law's header and its rules disagree."""
    return [*_conditions(law), *_equations(law), *_reversals(law)]


def _conditions(law: Law) -> Iterator[str]:
    """Every guard is named and every name is a guard; what soundness needs is asked for by every rule."""
    for variant in law.variants:
        needed, pruning = ({_plain(n) for n in names} for names in (variant.needed, variant.pruning))
        found: set[str] = set()
        for rule in rules_of(variant):
            asks = set(guards(rule))
            found |= asks
            yield from (f"{law.name}: no header names {guard}" for guard in asks - needed - pruning)
            if next(rewritings(rule), None):
                facts = needed if not goes_back(rule) or variant.back else {n for n in needed if _is_fact(n)}
                yield from (f"{law.name}: a rule does not ask for {name}" for name in facts - asks)
        yield from (f"{law.name}: no rule asks for {name}" for name in (needed | pruning) - found)


def _equations(law: Law) -> Iterator[str]:
    """The patterns that the equation names on each side are those that the rules take and make."""
    for variant in law.variants:
        wanted: set[str] = set()
        for rule in rules_of(variant):
            wanted |= set(asked(rule))
            both = list(rewritings(rule))
            if not both or (goes_back(rule) and not variant.back):
                continue
            equation = variant.back or (variant.equation if " = " in variant.equation else law.equation)
            yield from (f"{law.name}: {what}" for what in _differences(equation, both))
        names = {name for condition in variant.asks for name in condition.names}
        yield from (f"{law.name}: {name} is asked for in the header or in a rule only" for name in names ^ wanted)


def _differences(equation: str, both: list[Rewriting]) -> Iterator[str]:
    says = sides(equation)
    taken, gives = (frozenset[str]().union(*(made(part) for part in parts)) for parts in zip(*map(_pair, both)))
    yield from (f"{name} is offered and not named" for name in gives - says.left - says.right - says.beside)
    yield from (f"{name} is named and not offered" for name in says.right - gives - taken)
    yield from (f"{name} is taken and not named" for name in taken - says.left - says.beside)
    yield from (f"{name} is named and not taken" for name in says.left - taken)


def _reversals(law: Law) -> Iterator[str]:
    """A rule from right to left is the equation reversed, unless an equation of its own says what it is."""
    rules = [(rule, variant) for variant in law.variants for rule in rules_of(variant)]
    forwards = [r for rule, _ in rules if not goes_back(rule) for r in rewritings(rule)]
    for rule, variant in rules:
        if goes_back(rule) and not variant.back:
            for back in rewritings(rule):
                if not any(undoes(back, forward) for forward in forwards):
                    yield f"{law.name}: its rule from right to left is not the equation reversed"


def _pair(r: Rewriting) -> tuple[object, object]:
    return r.left, r.right


def _plain(name: str) -> str:
    """A condition as a rule has it: `(+)` is its variable f."""
    return name.replace("(+)", "f")


def _is_fact(name: str) -> bool:
    return name.split()[0] in analyses()


# ------------------------------------------------------------------------------------------ tests


@pytest.mark.parametrize("law", book().laws, ids=lambda law: law.name)
def test_a_header_agrees_with_the_rules_below_it(law: Law) -> None:
    assert complaints(law) == []


@pytest.mark.parametrize("law", book().laws, ids=lambda law: law.name)
def test_a_header_is_complete(law: Law) -> None:
    assert " = " in law.equation
    assert len(re.findall(r"^;; phase: ", text_of(law.name), re.MULTILINE)) == 1
    assert set(law.phases) <= set(NAMES)
    assert set(cited(law.source)) <= set(references())
    assert cited(law.source.partition(" ")[0]) or law.source.startswith("egglift; ")
    for variant in law.variants:
        for condition in (*variant.when, *variant.only, *variant.asks):
            assert condition.names and all(_is_known(name) for name in condition.names)


def _is_known(name: str) -> bool:
    """A fact that an analysis explains, a comparison, a type, or a pattern that is there."""
    return bool(meaning(name)) or bool(re.search(r" (:|<|<=|>|>=|=|!=) ", name)) or name.startswith("exists ")


@pytest.mark.parametrize("name", [n for n, a in analyses().items() if a.group == "grid_tiles" and "ask" in a.text])
def test_how_grids_are_made_of_tiles_says_what_it_asks_for(name: str) -> None:
    for variant in analyses()[name].variants:
        named_here = {*variant.needed, *variant.pruning}
        for rule in rules_of(variant):
            assert set(guards(rule)) == named_here


def test_every_fact_that_rules_derive_is_explained() -> None:
    folder = files("egglift.egraph.rules")
    for group in ("lengths", "typing", "analyses", "grid_tiles"):
        for name in re.findall(r"^\(relation (\S+)", folder.joinpath(f"{group}.egg").read_text(), re.MULTILINE):
            assert analyses()[name].meaning.startswith(f"{name} ")


def test_tile_lengths_of_laws_are_of_kinds_in_the_table() -> None:
    letters = {k for law in book().laws for k in re.findall(r'\(Tile "(\w+)"', law.text)}
    assert letters == set(TILE_KINDS) - {kind.letter for kind in SCHEDULE_TILES}


def test_every_reference_is_cited_somewhere() -> None:
    sources = " ".join([*(law.source for law in book().laws), *(a.source for a in analyses().values())])
    assert set(cited(sources)) == set(references())


def test_abbreviations_stand_for_patterns() -> None:
    assert abbreviations()["undeal2"] == {"map", "transpose", "take", "join", "split"}
    assert named("take2 n m (untile x)") == {"take", "map", "join", "transpose"}


# ------------------------------------------------------------------- faults that were there, put back

#: law, what its text has, what it had instead, and what must be said of that
PLANTED = {
    "a level that the equation does not name": (
        "map-workgroup-2d",
        ", and = mapGlobal1 (\\r. mapGlobal0 f y) x",
        "",
        "mapGlobal1 is offered and not named",
    ),
    "a rule from right to left that reverses something else": (
        "reduce-stride",
        ";; back: reduce (+) z (stride s x) = reduce (+) z x\n;; when: associative (+), commutative (+)\n",
        "",
        "not the equation reversed",
    ),
    "a condition that the header leaves out": ("hoist-capture", ";; when: closed y; y does", ";; y does", "closed y"),
    "a condition that no rule asks for": (
        "map-promotion",
        ";; phase",
        ";; when: closed x\n;; phase",
        "no rule asks for closed x",
    ),
    "a rule that does not ask for what soundness needs": (
        "split-row",
        "(closed b)",
        "",
        "a rule does not ask for closed b",
    ),
    "one rule of two that does not ask for it": (
        "zip-map",
        ";; only: work f; what",
        ";; when: closed e; what",
        "a rule does not ask for closed e",
    ),
    "a length that is fixed without a word": ("map-lane", ", x : [32]t", "", "no header names x : [32]t"),
    "a pattern that must be there without a word": ("split-join", "exists split k x", "work f", "exists split k x"),
    "an equation with the sides of another law": ("take-map", "map f (take m x)", "map f (drop m x)", "drop is named"),
    "a law that takes more than it says": ("slide-map", ";; slide n s (map f x)", ";; slide n s x", "map is taken"),
    "a wish that the header leaves out": ("block-row", ";; asks: wanted f s; its", ";; its", "wanted f s is asked for"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found(kind: str) -> None:
    name, right, wrong, said = PLANTED[kind]
    text = text_of(name)
    assert right in text and complaints(law_of(text)) == []
    assert any(said in complaint for complaint in complaints(law_of(text.replace(right, wrong))))


def test_a_rule_from_right_to_left_may_not_do_something_else() -> None:
    text = text_of("concat-map")
    assert complaints(law_of(text)) == []
    swapped = text.replace("((union e (Map f (Concat x y))))", "((union e (Map f (Concat y x))))")
    assert any("not the equation reversed" in complaint for complaint in complaints(law_of(swapped)))


# ----------------------------------------------------------------------------------------- parsing


def test_a_header_may_say_different_things_of_different_rules() -> None:
    lines = [
        ";;; both",
        ";; map f x",
        ";;   = take n x",
        ";; when: closed y, x : [n](a, b); a sentence, with commas",
        ";; phase: fuse, tile",
        "(rule one)",
        ";; in another case:",
        ";; only: depth n < 1",
        "(rule two)",
        ";; back: take n x = map f x",
        "(rule three)",
    ]
    header = header_of(lines)
    first, second, third = header.variants
    assert (header.equation, header.phases, header.source) == ("map f x = take n x", ("fuse", "tile"), "")
    assert first.needed == ("closed y", "x : [n](a, b)") and first.when[0].sentence == "a sentence, with commas"
    assert (second.equation, second.pruning, second.text) == ("in another case:", ("depth n < 1",), "(rule two)")
    assert third.back == "take n x = map f x" and third.text == "(rule three)"


def test_a_law_of_no_phase_says_so() -> None:
    assert header_of([";;; one", ";; a = b", ";; phase: none (proofs only)", "(rule)"]).phases == ()
