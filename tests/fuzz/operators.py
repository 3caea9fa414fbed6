"""Operators that a random program reduces with: named ones, and users' own on numbers, tuples and functions."""

from __future__ import annotations

import random
from typing import Any

import egglift as el
from egglift.ir.operators import OPERATORS
from egglift.ir.reduction import Defined, Named
from egglift.ir.types import Scalar, Tuple, Type
from egglift.ir.value import elementwise
from tests.fuzz.functions import Functions

#: of more floats than this no product is taken: it is not exact
FACTORS = 5

first = el.operator(lambda a, b: a, commutative=False, name="first")
last = el.operator(lambda a, b: b, commutative=False, name="last")
#: x -> a x + b composed with x -> c x + d
composed = el.operator(
    lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), commutative=False, neutral=(1, 0), name="composed"
)


def random_operator(t: Type, n: int, functions: Functions, rng: random.Random, own: bool = True) -> tuple[Any, bool]:
    """An operator on elements of type `t` of an array of n, and whether it has a neutral one; None: there is none."""
    if own and rng.random() < 0.15:
        if isinstance(t, Tuple) and len(t.items) == 2 and t.items[0] == t.items[1] and _is_integer(t.items[0]):
            return composed, True
        return rng.choice((first, last)), False
    if isinstance(t, Scalar):
        names = _names(t, n, functions)
        return (Named(rng.choice(names)), True) if names else (None, False)
    if isinstance(t, Tuple) and all(isinstance(item, Scalar) for item in t.items):
        names = [rng.choice(_names(item, n, functions)) for item in t.items]  # type: ignore[arg-type]
        return _each_component(names, t), True
    return (rng.choice((first, last)), False) if own else (None, False)


def _is_integer(t: Type) -> bool:
    return isinstance(t, Scalar) and t.is_integer


def _names(t: Scalar, n: int, functions: Functions) -> list[str]:
    names = [name for name, law in OPERATORS.items() if law.takes(t)]
    common = [name for name in names if name in ("add", "maximum", "minimum")]
    return [name for name in [*names, *common] if not (name == "mul" and t.is_float and n > FACTORS)]


def _each_component(names: list[str], t: Tuple) -> Defined:
    """One named operator for each component."""

    def both(p: Any, q: Any) -> Any:
        return tuple(elementwise(name, p[i], q[i]) for i, name in enumerate(names))

    neutral = tuple(OPERATORS[name].neutral(item) for name, item in zip(names, t.items))  # type: ignore[arg-type]
    return el.operator(both, neutral=neutral, name=" ".join(names), check=False)
