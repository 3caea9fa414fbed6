"""The rule book: every law is documented, parses, and errors say where."""

import pytest

from egglift.egraph.rules.book import GROUPS, Law, book, commands_of, parse
from egglift.egraph.rules.phases import EXPLORE, NAMES, SIMPLIFY, laws_in, proof, rulesets
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.errors import RuleError
from tests.egraph.programs import dot

COMMUTE = '(rule ((= e (Op2 "add" a b))) ((union e (Op2 "add" b a))))'


@pytest.mark.parametrize("law", book().laws, ids=lambda law: law.name)
def test_every_law_states_its_equation_and_its_source(law: Law) -> None:
    assert "=" in law.equation
    assert law.source and law.source != "user"
    assert law.group in GROUPS
    assert commands_of(law)


def test_the_book_holds_the_rules_of_the_first_paper() -> None:
    cited = " ".join(law.source for law in book().laws if "[Hagedorn2018]" in law.source)
    numbers = (6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 23, 24, 25)
    assert all(f"({n})" in cited for n in numbers)


def test_phases_name_only_laws_of_the_book() -> None:
    phases = (*EXPLORE, *proof(book()))
    named = {name for phase in phases for name in (*phase.laws, *phase.back)} | {*SIMPLIFY}
    assert named - {"user"} <= set(book().names)


def test_a_law_runs_in_the_phases_that_its_header_names() -> None:
    assert {phase for law in book().laws for phase in law.phases} == set(NAMES)
    for phase in EXPLORE:
        assert {law.name for law in book().laws if phase.name in law.phases} == {*phase.laws} - {"user"}
    assert laws_in("simplify") == SIMPLIFY
    assert len([law for law in book().laws if not law.phases]) == 21


def test_a_phase_applies_laws_in_the_order_of_the_book() -> None:
    for phase in EXPLORE:
        order = [name for name in rulesets(phase, book(), frozenset(book().names)) if name in book().names]
        assert order == [name for name in book().names if name in phase.laws]


def test_a_rule_that_does_not_parse_names_its_line() -> None:
    first, second = "(rule ((= e (Join x))) ((union e e)))", "(rule ((= e (Join x)) ((union e x)))"
    text = f";;; first\n{first}\n;;; second\n\n{second}\n"
    with pytest.raises(RuleError, match=r"law second, line \d+"):
        book().extended([text])


def test_an_unknown_pattern_in_a_rule_is_an_error_that_names_it() -> None:
    with pytest.raises(RuleError, match="Frob"):
        saturate(dot(40), rules=["(rule ((= e (Frob x))) ((union e x)))"])


def test_a_users_law_without_a_header_is_its_own_equation() -> None:
    (law,) = parse(COMMUTE)
    assert (law.name, law.group, law.equation) == ("user", "user", COMMUTE)


def test_two_laws_of_one_name_are_refused() -> None:
    with pytest.raises(RuleError, match="map-fusion"):
        book().extended([f";;; map-fusion\n{COMMUTE}"])


def test_only_rules_belong_into_a_users_law() -> None:
    with pytest.raises(RuleError, match="only"):
        book().extended(["(relation surprise (Expr))"])


def test_a_users_law_runs_and_is_reported() -> None:
    found = saturate(dot(40), rules=[COMMUTE])
    assert "user" in {report.name for report in found.laws}


def test_the_version_changes_with_the_laws() -> None:
    assert book().extended([COMMUTE]).version != book().version


def test_an_unknown_law_is_an_error_that_lists_the_laws() -> None:
    with pytest.raises(RuleError, match="map-fusion"):
        saturate(dot(40), disabled=["no-such-law"])


def test_the_version_is_the_same_with_other_comments() -> None:
    plain, told = (f";;; one\n;; {words}\n{COMMUTE} ; {words}\n" for words in ("a", "a + b = b + a"))
    assert book().extended([plain]).version == book().extended([told]).version
    longer = COMMUTE.replace("(union e", "(union e e) (union e")
    assert book().extended([f";;; one\n;; a\n{longer}\n"]).version != book().extended([plain]).version
