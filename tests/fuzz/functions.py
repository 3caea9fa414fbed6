"""Scalar functions that a random program may use: where results can be compared, whatever the order of operations."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import egglift as el
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.types import BOOL, Scalar
from egglift.ir.value import Value, elementwise

_TAKES = {
    "arithmetic": lambda t: t != BOOL,
    "float": lambda t: t.is_float,
    "logical": lambda t: t == BOOL,
    "bits": lambda t: not t.is_float,
    "compare": lambda t: True,
    "where": lambda t: True,
}
#: functions of floats by a second operand that is a power of two: the result is exact
POSITIVE = ("floordiv", "mod", "div")


@dataclass(frozen=True)
class Functions:
    """Names of scalar functions, and how numbers are made and converted.  jumps: may results be discontinuous?"""

    names: tuple[str, ...]
    jumps: bool

    def of(self, t: Scalar) -> list[str]:
        """Those that take a `t`."""
        shifts = ("left_shift", "right_shift")
        return [n for n in self.names if _TAKES[FUNCTIONS[n].kind](t) and not (t == BOOL and n in shifts)]

    def arity(self, name: str) -> int:
        """How many operands of one type it takes (of `where`: the branches)."""
        return 2 if name == "where" else FUNCTIONS[name].arity

    def applied(self, name: str, args: Sequence[Value], rng: random.Random) -> Value:
        """The function applied; of floats, divisors are positive numbers."""
        if not (t := _element(args[0])).is_float:
            return elementwise(name, args[0], abs(args[1])) if name == "pow" else elementwise(name, *args)
        if name in POSITIVE:
            return elementwise(name, args[0], el.literal(float(rng.choice((1, 2, 4))), t))
        if name in SAFE:
            args = [f(a) if f else a for f, a in zip(SAFE[name], args, strict=True)]
        return elementwise(name, *args)

    def cast(self, x: Value, t: Scalar) -> Value:
        """`x` as a `t`: of integers only what a float holds exactly, of floats only what an integer holds."""
        s = x.type
        assert isinstance(s, Scalar)
        if BOOL in (s, t) or s == t:
            return x.cast(t)
        if not self.jumps and not t.is_float:
            return self.literal(t, random.Random(0))
        if s.is_float and not t.is_float:  # NaN compares with nothing, so it is -8 or 0
            low = -8.0 if t.is_signed else 0.0
            return el.where(x > low, el.where(x < 15.0, x, el.literal(15.0, s)), el.literal(low, s)).cast(t)
        if t.is_float and s.is_integer:
            return (x % el.literal(16, s)).cast(t)
        return x.cast(t)

    def literal(self, t: Scalar, rng: random.Random) -> Value:
        """A small number."""
        if t == BOOL:
            return el.literal(rng.random() < 0.5, t)
        value = rng.randint(-3 if t.is_signed else 0, 4)
        return el.literal(value / rng.choice((1, 1, 2)) if t.is_float else value, t)


def _at_least_half(x: Value) -> Value:
    return abs(x) + 0.5


#: where operands of rounded functions are taken from, such that they have a value and move little
SAFE: dict[str, Sequence[Callable[[Value], Value] | None]] = {
    "sqrt": (_at_least_half,),
    "rsqrt": (_at_least_half,),
    "log": (_at_least_half,),
    "log2": (_at_least_half,),
    "tan": (el.tanh,),
    "exp": (el.tanh,),
    "exp2": (el.tanh,),
    "pow": (_at_least_half, el.tanh),
    "atan2": (None, _at_least_half),
}


def _element(x: Value) -> Scalar:
    t = x.type
    while not isinstance(t, Scalar):
        t = t.element  # type: ignore[union-attr]
    return t


EXACT = Functions(
    (
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "neg",
        "abs",
        "sign",
        "div",
        "minimum",
        "maximum",
        "fma",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "left_shift",
        "right_shift",
        "popcount",
        "where",
    ),
    jumps=True,
)
SMOOTH = Functions(
    (
        "add",
        "sub",
        "mul",
        "neg",
        "abs",
        "minimum",
        "maximum",
        "fma",
        "exp",
        "exp2",
        "sin",
        "cos",
        "tanh",
        "erf",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "tan",
        "pow",
        "atan2",
        "div",
    ),
    jumps=False,
)
