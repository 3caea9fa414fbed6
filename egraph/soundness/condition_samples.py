"""What the conditions of laws stand for, as patterns: (over a y u), (part f r c), (pairwise f) of analyses.egg.

A random instance of a law needs bodies of which such a condition holds; the rules of that file then derive it.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from random import Random
from typing import Any

from egglift.egraph.rules.egglog_core import Call, Check, Eq
from egglift.egraph.rules.empty import empty

_names = count()


def variable() -> str:
    """A name that no rule uses."""
    return f"sample-{next(_names)}"


def pattern(text: str) -> Any:
    """A pattern from its text; strings are written with single quotes."""
    (command,) = empty().parse_program(f"(check (= sampled {text.replace(chr(39), chr(34))}))")
    assert isinstance(command, Check)
    (fact,) = command.facts
    assert isinstance(fact, Eq)
    return fact.right


def either(rng: Random, *choices: Any) -> Any:
    """One of some patterns, given or as text."""
    chosen = rng.choice(choices)
    return pattern(chosen) if isinstance(chosen, str) else chosen


def reduction() -> Any:
    """A fold of its own."""
    return pattern(f"(Fold {variable()} {variable()} {variable()})")


def pairwise() -> tuple[Any, Any]:
    """A fold over pairs of something with another array's elements; and the variable of that array."""
    made = pattern(f"(Fold {variable()} {variable()} (Distl {variable()} {variable()}))")
    return made, made.args[2].args[1]


def in_turn() -> Any:
    """A scan in sequence."""
    return pattern(f"(ScanSeq {variable()} {variable()} {variable()})")


def second() -> Any:
    """The second part of an argument."""
    return pattern(f"(Snd (Arg {variable()}))")


def outer_product(u: str, v: str) -> Any:
    """The matrix of all products of elements of two arrays."""
    product = f"(Op2 'mul' (Fst (Arg {variable()})) (Snd (Arg {variable()})))"
    return pattern(f"(Map (Map {product} (Arg {variable()})) (Cross {u} {v}))")


def windows() -> Any:
    """Windows of an array."""
    return pattern(_windows())


def grid(rng: Random, dims: int, zipped: bool = True) -> Any:
    """A grid whose elements are windows, in the shapes that grid_tiles.egg knows; `zipped`: or one zipped with such."""
    return pattern(_grid(rng, dims, zipped))


def _windows() -> str:
    return f"(Slide (Num {variable()}) (Num 1) {variable()})"


def _turn(x: str) -> str:
    return f"(Map (Transpose (Arg {variable()})) {x})"


def _rows(x: str) -> str:
    return f"(Map (Slide (Num {variable()}) (Num 1) (Arg {variable()})) {x})"


def _grid(rng: Random, dims: int, zipped: bool) -> str:
    if zipped and rng.random() < 0.4:
        pairs = pair = f"(Zip {_grid(rng, dims, False)} {rng.choice((_grid(rng, dims, False), variable()))})"
        for _ in range(dims - 1):
            pairs = _zip_of_parts() if pairs is pair else f"(Map {pairs} {_zip_of_parts()})"
        return pair if dims == 1 else f"(Map {pairs} {pair})"
    n, x = f"(Num {variable()}) (Num 1)", variable()
    match dims:
        case 1:
            return f"(Slide {n} {x})"
        case 2:
            return rng.choice((_turn(f"(Slide {n} {_rows(x)})"), _turn(f"(Slide {n} {x})"), _rows(x)))
    plane = _turn(f"(Slide {n} {_rows(f'(Arg {variable()})')})")
    turned = f"(Map (Transpose (Arg {variable()})) (Transpose (Arg {variable()})))"
    return f"(Map {turned} (Slide (Num {variable()}) (Num 1) (Map {plane} {x})))"


def _zip_of_parts() -> str:
    p = f"(Arg {variable()})"
    return f"(Zip (Fst {p}) (Snd {p}))"


def dropped(y: Any) -> Any:
    """`drop 1 y`."""
    return Call(y.span, "Drop", [_one(), y])


@cache
def _one() -> Any:
    return pattern("(Num 1)")
