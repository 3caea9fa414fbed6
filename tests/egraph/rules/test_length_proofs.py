"""What the rules of the book say about lengths is proved for all integers: chunks divide, windows fit, types agree.

The obligations are read off the rules themselves (tests/lengths.py), the laws of length arithmetic in lengths.egg
included, so that a new law has its own.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import z3

from egglift.egraph.rules.book import as_rule, book, commands_of, parse, preamble
from egglift.ir.sizes import SizeOp, evaluate
from tests.lengths import Lengths, cancelled
from tests.smt import STEPS

#: Tile lengths that stand for all where the solver cannot decide products of two unknown ones
TILES = (1, 2, 3, 4, 7, 16)
#: What no program needs: only the name of a tile's length is made of the first plane of the grid
UNREAD = {("slide-tiling-3d#0", "Not(n <= 0)")}
BOUNDED: set[str] = set()
#: How many obligations the rules of a group have, at least
LEAST = {
    "core": 360,
    "algorithmic": 55,
    "reduction": 150,
    "layout": 95,
    "tiling": 450,
    "stencil": 290,
    "vector": 80,
    "devices": 100,
}


class Undecided(Exception):
    """The solver has no answer in so many steps."""


def refuted(claims: list[z3.BoolRef], given: list[z3.BoolRef], steps: int = STEPS // 4) -> z3.ModelRef | None:
    """Lengths for which `claims` do not all follow from `given`; None if they do."""
    solver = z3.Solver()
    solver.set("rlimit", steps)
    solver.add(*given, z3.Not(z3.And(*claims)))
    answer = solver.check()
    if answer == z3.unknown:
        raise Undecided(claims)
    return solver.model() if answer == z3.sat else None


def proved(name: str, rule: Any) -> int:
    """How many obligations of the rule hold; AssertionError for one that does not."""
    lengths = Lengths(rule)
    due = [c for c in lengths.obligations if (name, str(z3.simplify(c))) not in UNREAD]
    for claims in [due] if _decided(due, lengths.assumed) else [[c] for c in due]:
        try:
            wrong = refuted(claims, lengths.assumed)
        except Undecided:
            BOUNDED.add(name)
            wrong = _with_tiles(claims, lengths)
        assert wrong is None, f"{name}: {claims} does not hold for {wrong}"
    return len(due)


def _decided(claims: list[z3.BoolRef], given: list[z3.BoolRef]) -> bool:
    try:
        return refuted(claims, given, STEPS // 16) is None
    except Undecided:
        return False


def _with_tiles(claims: list[z3.BoolRef], lengths: Lengths) -> z3.ModelRef | None:
    symbols = [s for name, s in lengths.divisors.items() if not name.startswith(("q", "r"))]
    for values in product(TILES, repeat=len(symbols)):
        tiles = [s == v for s, v in zip(symbols, values, strict=True)]
        at = list(zip(symbols, map(z3.IntVal, values), strict=True))
        given = [z3.simplify(z3.substitute(c, *at)) for c in lengths.assumed]
        if (wrong := refuted([z3.substitute(c, *at) for c in claims], [*given, *tiles], STEPS)) is not None:
            return wrong
    return None


@pytest.mark.parametrize("group", ["core", *dict.fromkeys(law.group for law in book().laws)])
def test_the_lengths_in_every_rule_agree(group: str) -> None:
    rules = [as_rule(c) for c in preamble()] if group == "core" else []
    named = [(f"core#{i}", r) for i, r in enumerate(rules) if r is not None and r.ruleset == "typing"]
    for law in book().laws:
        if law.group == group:
            named += [(f"{law.name}#{i}", c.rule) for i, c in enumerate(commands_of(law))]
    count = sum(proved(name, rule) for name, rule in named)
    assert count >= LEAST.get(group, 0), f"of {group}, only {count} obligations are left"
    assert {"slide-slide#0"} >= BOUNDED, "for these, tile lengths were tried one by one"


def test_a_multiple_has_its_factor_as_quotient_and_no_remainder() -> None:
    k, b, q, r = z3.Ints("k b q r")
    assert refuted([q == k, r == 0], [b >= 1, k * b == b * q + r, r >= 0, r < b]) is None
    assert z3.eq(z3.simplify(cancelled(k * b * 3, b * k)), z3.IntVal(3))  # type: ignore[arg-type]
    assert cancelled(k * b + 1, b) is None


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_tiles_of_windows_hold_the_windows_of_the_whole(step: int) -> None:
    """What slide-tiling/back and slide-slide/back ask for: k = s ((u - n) / s + 1), where s divides u - n."""
    assert book()["slide-tiling"].text.count("(= k (* s (+ (/ (- u n) s) 1))) (= (% (- u n) s) 0)") == 1
    assert book()["slide-slide"].text.count("(= k (* s (+ (/ (- u n) s) 1))) (= (% (- u n) s) 0)") == 1
    n, u, k, length, t, j = z3.Ints("n u k length t j")
    windows = (u - n) / step + 1  # of a tile
    given = [n >= 1, u >= n, (u - n) % step == 0, k == step * windows, length >= u, t >= 0, j >= 0, j < windows]
    for per_tile in (1, 2, 4, 7):  # tiles slide by k = step * per_tile
        count, all_ = (length - u) / (step * per_tile) + 1, (length - n) / step + 1
        here = [*given, windows == per_tile, t < count]
        starts = t * (step * per_tile) + j * step == (t * per_tile + j) * step
        assert refuted([starts, t * per_tile + j < all_], here) is None
        assert refuted([t * per_tile + j < all_ - 1], here) is not None
        wrong = t * (step * per_tile + 1) + j * step == (t * per_tile + j) * step
        assert refuted([wrong], here) is not None


def test_a_size_is_evaluated_with_the_division_of_the_rules() -> None:
    """egglog's division truncates, Python's floors: of lengths, which are not negative, both are the same."""
    assert [evaluate(SizeOp("/", a, b)) for a, b in ((7, 2), (0, 3), (9, 3))] == [3, 0, 3]
    a, b, q, r = z3.Ints("a b q r")
    truncates = [a == b * q + r, z3.If(a >= 0, z3.And(r >= 0, r < b), z3.And(r <= 0, r > -b)), b >= 1]
    assert refuted([r >= 0], [*truncates, a >= 0]) is None
    assert refuted([r >= 0], truncates) is not None


WRONG = {
    "all is taken, divided or not": ("deal", "(NMul (NMul q p) u)", "n"),
    "too few tiles": ("block", "(NDiv (NAdd m (NSub c (Num 1))) c)", "(NDiv m c)"),
    "too much is taken": ("chunk", "(NMul (NDiv n r) r)", "(NAdd n (Num 1))"),
    "no padding behind the last tile": ("slide-slide", "(NMul (NSub (NMul chunks m) k) (Num s))", "(Num 0)"),
    "a missing element of the tile": ("slide-slide", "(NAdd (NMul m (Num s)) (Num (- n s)))", "(NMul m (Num s))"),
    "an argument of another length": ("tile-map", "(Arg (Arr s a))", "(Arg (Arr n a))"),
    "pieces that do not divide": ("split-row", "(NMul (NDiv l (NMul z k)) k)", "(NDiv l z)"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_lengths_are_refuted_with_a_counterexample(kind: str) -> None:
    name, right, wrong = WRONG[kind]
    text = book()[name].text
    assert right in text
    (law,) = parse(f";;; wrong\n;; wrong\n{text.replace(right, wrong).replace(f':ruleset {name}', ':ruleset wrong')}")
    with pytest.raises(AssertionError, match="does not hold for"):
        for i, c in enumerate(commands_of(law)):
            proved(f"wrong#{i}", c.rule)


@pytest.mark.parametrize(
    "text",
    [
        "(rewrite (NDiv (NAdd a b) c) (NAdd (NDiv a c) (NDiv b c)))",
        "(rewrite (NMul (NDiv a b) b) a)",
        "(rewrite (NSub a b) (NSub b a))",
        "(rule ((= e (NDiv c b)) (= c (NAdd a b))) ((union e a)))",
    ],
)
def test_wrong_arithmetic_of_lengths_is_refuted(text: str) -> None:
    (law,) = parse(f";;; wrong\n;; wrong\n{text}")
    with pytest.raises(AssertionError, match="does not hold for"):
        proved("wrong", commands_of(law)[0].rule)
