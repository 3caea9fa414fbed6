"""What a header calls needed is needed, what it says only prunes is not: the law is tested without it.

Facts and comparisons are left out of a law's rules one by one; then its instances are drawn and both sides evaluated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from egglift.egraph.rules.book import Law, book, rules_of
from egglift.egraph.rules.egglog_core import Eq, Rule, RuleCommand
from egglift.egraph.rules.language import signatures
from egglift.egraph.soundness.check_laws import Verdict, check_law
from tests.guards import without

#: what instances do not refute, and why
UNREFUTED = {
    "associative f": "the operator of a reduction is associative anyway",
    ("split-row", "closed b"): "instances of an array so long are inputs",
    ("device-columns", "closed y"): "as x is closed, so is the left side, whose class keeps no right side that is open",
}
#: a fold's body may be any: here it shows
REFUTED = {("reduce-to-fold", "associative f")}
#: a few of each kind, which are quick; all of them are tested with -m deep
NEEDED = [
    ("map-one", "n > 0"),
    ("hoist-capture", "closed y"),
    ("reduce-to-fold", "associative f"),
    ("interchange", "closed z"),
    ("reduce-transposed", "commutative f"),
    ("reduce-promotion", "neutral f e"),
    ("iterate-unfold", "n > 1"),
    ("split-k", "depth l < 1"),
]
PRUNING = [
    ("map-fusion", "bottom x"),
    ("zip-map", "open y"),
    ("map-one", "work f"),
    ("reduce-seed", "z != e"),
    ("interchange-row", "kept n"),
    ("iterate-pairs", "n > 1"),
    ("map-seq-unroll", "n <= 16"),
]


def dropped(law: Law, condition: str) -> Verdict:
    """What instances show of a law that does not ask for a condition."""
    rules = [without(rule, condition) for rule in rules_of(law)]
    text = "\n".join(str(RuleCommand(rule)) for rule in rules)
    return check_law(replace(law, text=text), each=12, seed=1, shrink=0)


@cache
def facts(role: str) -> list[tuple[str, str]]:
    """Laws and the facts or comparisons that their headers name under "when" or "only", and that can be left out."""
    found = [
        (law.name, name.replace("(+)", "f"))
        for law in book().laws
        for variant in law.variants
        for name in (variant.needed if role == "when" else variant.pruning)
    ]
    return [(name, c) for name, c in dict.fromkeys(found) if any(_is_droppable(r, c) for r in rules_of(book()[name]))]


def _is_droppable(rule: Rule, condition: str) -> bool:
    """Is it a fact of its own, which says nothing of what variables are, beside a pattern?"""
    left = without(rule, condition)
    binds = condition.split()[0] in ("over", "part", "outer-product", "tile1", "tile2", "tile3")
    patterns = any(isinstance(f, Eq) and getattr(f.right, "name", "") in signatures() for f in left.body)
    return len(left.body) < len(rule.body) and patterns and not binds


@pytest.mark.parametrize(("name", "condition"), NEEDED)
def test_without_what_it_needs_a_law_is_refuted(name: str, condition: str) -> None:
    assert (name, condition) in facts("when")
    assert dropped(book()[name], condition).wrong


@pytest.mark.parametrize(("name", "condition"), PRUNING)
def test_without_what_only_prunes_a_law_still_holds(name: str, condition: str) -> None:
    assert (name, condition) in facts("only")
    verdict = dropped(book()[name], condition)
    assert verdict.wrong is None and verdict.compared


@pytest.mark.deep
@pytest.mark.parametrize(("name", "condition"), facts("when"))
def test_without_any_need_a_law_is_refuted(name: str, condition: str) -> None:
    known = (condition in UNREFUTED or (name, condition) in UNREFUTED) and (name, condition) not in REFUTED
    assert bool(dropped(book()[name], condition).wrong) != known


@pytest.mark.deep
@pytest.mark.parametrize(("name", "condition"), [fact for fact in facts("only") if fact not in facts("when")])
def test_without_any_pruning_a_law_still_holds(name: str, condition: str) -> None:
    assert dropped(book()[name], condition).wrong is None
