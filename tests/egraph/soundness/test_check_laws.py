"""Every law holds on random instances made from its own text; wrong laws are found out."""

import pytest

from egglift.egraph.rules.book import Law, book, parse
from egglift.egraph.soundness.check_laws import TOGETHER, check_law, share
from egglift.ir.errors import EggliftError, RuleError
from tests.deep import sampled

DEAL = book()["deal"].text.replace(":ruleset deal", ":ruleset wrong")

WRONG = {
    "a reduction that forgets an element": """
        (rule ((= r (Reduce f z x)) (= (Arr n t) (type-of x))) ((union r (Reduce f z (Drop (Num 1) x)))))""",
    "a reordering without commutativity": """
        (rule ((= r (Reduce f z (Stride s x)))) ((union r (Reduce f z x))))""",
    "dealing without commutativity": DEAL.replace("(commutative f)", ""),
    "a seed used twice": """
        (rule ((= r (Reduce f z (Join x))) (associative f) (= (Arr n (Arr m t)) (type-of x)))
              ((union r (Reduce f z (Map (Reduce f z (Arg (Arr m t))) x)))))""",
    "fusion in the wrong order": "(rewrite (Map f (Map g x)) (Map (Subst g f) x))",
    "an argument of the wrong type": """
        (rule ((= e (Map f x)) (= (Arr n a) (type-of x)) (bottom x) (work f) (< (depth n) 1))
              ((let v (Tile "v" x)) (let m (NMul (NDiv n v) v))
               (union e (Concat (Join (Map (Map f (Arg (Arr n a))) (Split v (Take m x))))
                                (Map f (Drop m x))))))""",
    "a capture taken out of its scope": """
        (rule ((= e (Map (Map f (Distl (Arg s) y)) x)) (= (Arr m t) (type-of y)))
              ((union e (Map (Map f (Arg (Arr m (Pair s t)))) (Cross x y)))))""",
    "two types made one": "(rule ((= e (Join x))) ((union e x)))",
    "an off-by-one": "(rule ((= e (At (Num i) (Map f x)))) ((union e (Subst f (At (Num 0) x)))))",
    "the wrong neighbour": "(rule ((= e (Concat x y))) ((union e (Concat y x))))",
}


def wrong(text: str) -> Law:
    (law,) = parse(f";;; wrong\n;; a deliberately wrong law\n{text}")
    return law


#: instances of a law on every run
SOME = TOGETHER // 2


@pytest.mark.parametrize("instances", sampled((SOME, 1000), lambda n: n == SOME))
@pytest.mark.parametrize("law", book().names)
def test_a_law_of_the_book_holds(law: str, instances: int) -> None:
    verdict = check_law(law, each=share(book()[law], instances), draws=1 if instances == SOME else 6)
    assert verdict.wrong is None, str(verdict.wrong)
    assert all(verdict.fired.values()), f"rules that never fired: {verdict.fired}"
    assert verdict.compared > 0 and verdict.void == 0
    assert verdict.sound


#: characters of the printed counter-example that shrinking gets below, in `SHRINK` trials
SHRINK = 30
SMALL = {
    "fusion in the wrong order": 500,
    "two types made one": 450,
    "an off-by-one": 600,
    "a seed used twice": 1700,
    "an argument of the wrong type": 1000,
}


#: shown on every run
OFTEN = ("fusion in the wrong order", "two types made one", "an off-by-one")


@pytest.mark.parametrize("name", sampled(WRONG, OFTEN.__contains__))
def test_a_wrong_law_is_shown_by_a_program_that_can_be_pasted(name: str) -> None:
    verdict = check_law(wrong(WRONG[name]), each=40, shrink=SHRINK)
    assert verdict.wrong is not None
    text = str(verdict.wrong)
    assert len(text) < SMALL.get(name, 2000), text
    one, other = outcome(text)
    assert one != other, text


def outcome(text: str) -> tuple[str, ...]:
    """What the two programs of a counter-example print; an error counts as what the second gives."""
    shown: list[tuple[str, ...]] = []
    values = {"print": lambda *both, sep: shown.append(tuple(map(repr, both)))}
    try:
        exec(text, values)
    except EggliftError as error:
        return "a value", str(error)
    return shown[0]


def test_shrinking_makes_a_counter_example_smaller() -> None:
    law = wrong(WRONG["the wrong neighbour"])
    first, small = (check_law(law, each=40, seed=1, shrink=n).wrong for n in (0, 100))
    assert len(str(small)) < 0.6 * len(str(first))


def test_the_same_seed_gives_the_same_verdict() -> None:
    law = wrong(WRONG["the wrong neighbour"])
    one, again, other = (str(check_law(law, each=5, seed=seed, shrink=0).wrong) for seed in (1, 1, 2))
    assert one == again != other


def test_a_law_that_never_fires_is_not_sound() -> None:
    verdict = check_law(wrong("(rule ((= e (Map f x)) (= f (Arg t)) (work f)) ((union e x)))"), each=3)
    assert verdict.wrong is None and verdict.fired == {0: 0}
    assert not verdict.sound


def test_a_law_without_instances_is_an_error() -> None:
    with pytest.raises(RuleError, match="no instance"):
        check_law(wrong("(rule ((= e (Fst (Map f x)))) ((union e (Fst x))))"), each=3)


@pytest.mark.parametrize("law", ["map-fusion", "join-split", "deal", "to-local", "map-vec"])
def test_what_the_book_makes_of_a_laws_instances_is_equal_too(law: str) -> None:
    verdict = check_law(law, each=share(book()[law], 10), whole=book())
    assert verdict.wrong is None, str(verdict.wrong)
    assert verdict.sound


def test_more_instances_begin_with_the_same_ones() -> None:
    law = wrong(WRONG["a capture taken out of its scope"])
    few = check_law(law, each=40, shrink=0)
    many = check_law(law, each=90, shrink=0)
    assert few.wrong is not None and (few.instances, str(few.wrong)) == (many.instances, str(many.wrong))


def test_a_law_that_fires_on_some_instances_says_on_how_many() -> None:
    law = wrong("(rule ((= e (Map f x)) (= x (Input i (Arr (Num 3) t)))) ((union e (Map f (Join (Split (Num 1) x))))))")
    verdict = check_law(law, each=60)
    assert verdict.wrong is None and 0 < verdict.fired[0] <= verdict.instances == 60


def test_types_that_clash_only_together_refute_a_law() -> None:
    law = wrong("(rule ((= a (Map f (Input i s))) (= b (Map g (Input j t))) (!= i j)) ((union a b)))")
    verdict = check_law(law, each=8, shrink=0)
    assert verdict.wrong is not None and "clash" in verdict.wrong.reason
    one, other = outcome(str(verdict.wrong))
    assert one != other


def test_a_reduction_by_what_is_no_operator_is_refuted() -> None:
    """A fold may have any body; one that is no operator of the program cannot be that of a reduction."""
    law = wrong("(rule ((= r (Fold f z x)) (= (Arr n t) (type-of x)) (= t (type-of z))) ((union r (Reduce f z x))))")
    verdict = check_law(law, each=20, shrink=2 * SHRINK)
    assert verdict.wrong is not None
    assert "no operator of the program" in verdict.wrong.reason and "(get 0 arg)" in verdict.wrong.reason
    value, error = outcome(str(verdict.wrong))
    assert value == "a value" and "no operator of the program" in error


def test_substitution_in_a_left_side_has_no_instance() -> None:
    with pytest.raises(RuleError, match="no instance"):
        check_law(wrong("(rule ((= r (Map f (Subst g x)))) ((union r (Subst g (Map f x)))))"), each=3)


def test_an_overflow_on_the_way_is_no_counter_example() -> None:
    """Products of many counted floats overflow in one order and not in another."""
    assert check_law("split-k", each=40).sound


def test_a_users_sound_law_passes() -> None:
    (law,) = parse(";;; twice\n;; map f . map g, written out\n(rewrite (Map f (Map g x)) (Map (Subst f g) x))")
    assert check_law(law, each=5).sound


NEGATED_TWICE = ';;; negated-twice\n;; neg (neg v) = v\n(rewrite (Op1 "neg" (Op1 "neg" v)) v)'


def test_a_users_law_on_functions_of_numbers_is_tested() -> None:
    (law,) = parse(NEGATED_TWICE)
    assert check_law(law, each=5).sound
    (wrong_law,) = parse(NEGATED_TWICE.replace("v)) v)", 'v)) (Op1 "neg" v))'))
    assert check_law(wrong_law, each=5, shrink=0).wrong is not None
