"""What instances of laws are made of: arrays without elements, and numbers of every kind."""

from __future__ import annotations

from random import Random

import pytest

from egglift.egraph.rules.book import Law, book, parse, rules_of
from egglift.egraph.soundness import instances
from egglift.egraph.soundness.check_laws import check_law
from egglift.egraph.soundness.choices import Choices
from egglift.egraph.soundness.instances import instance_of
from egglift.ir.check import type_of
from egglift.ir.errors import RuleError
from egglift.ir.traverse import subterms
from egglift.ir.types import F16, F32, I64, Array, Scalar, Tuple, Type

#: wrong laws that only instances of one kind refute
FIRST_APART = """
    (rule ((= e (Concat x y))) ((union e (Concat (Take (Num 1) x) (Concat (Drop (Num 1) x) y)))))"""
THROUGH_DOUBLE = """
    (rule ((= e (Op2 "mul" a b)) (= t (type-of e))) ((union e (Cast t (Cast (Scalar "f64") e)))))"""
THROUGH_HALF = """
    (rule ((= e (Op2 "mul" a b)) (= (Scalar "f32") (type-of e)))
          ((union e (Cast (Scalar "f32") (Cast (Scalar "f16") e)))))"""


def law(text: str) -> Law:
    (made,) = parse(f";;; wrong\n;; a deliberately wrong law\n{text}")
    return made


def parts(t: Type) -> set[Scalar | int]:
    """The scalars and the lengths in a type."""
    match t:
        case Array(n, element):
            return parts(element) | ({n} if isinstance(n, int) else set())
        case Tuple(items):
            return {part for item in items for part in parts(item)}
    return {t}


def found(name: str, count: int) -> set[Scalar | int]:
    """The scalars and the lengths in instances of the first rule of a law of the book."""
    rule, seen = rules_of(book()[name])[0], set()
    for i in range(count):
        instance = instance_of(rule, 0, Choices(Random(i)))
        if instance is not None:
            seen |= {part for t in subterms(instance.program) for part in parts(type_of(t))}
    return seen


@pytest.mark.parametrize(
    "name", ["map-fusion", "split-join", "transpose-transpose", "take-all", "hoist-capture", "reduce-to-fold"]
)
def test_there_are_empty_arrays_and_long_and_half_numbers(name: str) -> None:
    assert {0, 1, 2, I64, F16} <= found(name, 150)


@pytest.mark.parametrize("name", ["pad-none", "split-of-join", "slide-map", "gather-map"])
def test_instances_have_a_type_where_length_0_has_none(name: str) -> None:
    """Of padding by an edge, of chunks, of windows, and of what is gathered from."""
    assert 1 in found(name, 150)


def test_a_law_that_is_wrong_of_empty_arrays_only_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = check_law(law(FIRST_APART), each=60, shrink=20)
    assert verdict.wrong is not None and "of 0" in verdict.wrong.reason
    monkeypatch.setattr(instances, "EMPTY", 1.0)
    assert check_law(law(FIRST_APART), each=60).sound


@pytest.mark.parametrize(("text", "number"), [(THROUGH_DOUBLE, I64), (THROUGH_HALF, F32)], ids=["i64", "f32"])
def test_a_law_that_is_wrong_of_some_numbers_only_is_found_out(text: str, number: Scalar) -> None:
    verdict = check_law(law(text), each=100, shrink=0)
    assert verdict.wrong is not None
    assert number in {part for t in subterms(verdict.wrong.program) for part in parts(type_of(t))}


def test_without_such_numbers_the_laws_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instances, "NUMBERS", tuple(n for n in instances.NUMBERS if n not in (I64, F32)))
    assert check_law(law(THROUGH_DOUBLE), each=60).sound
    with pytest.raises(RuleError, match="no instance"):
        check_law(law(THROUGH_HALF), each=20)
