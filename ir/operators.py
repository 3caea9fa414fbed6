"""The named reduction operators: what is known of them for each scalar type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from egglift.ir.errors import TypeMismatch
from egglift.ir.patterns import Apply, Arg, Expr, Get, Literal, Operator
from egglift.ir.scalars import NO_ORDER
from egglift.ir.types import Scalar, Tuple, Type

Number = bool | int | float


@dataclass(frozen=True)
class Law:
    """A named operator for every type it takes: all of them are associative and commutative."""

    takes: Callable[[Scalar], bool]
    neutral: Callable[[Scalar], Number]
    remedy: str


def lowest(t: Scalar) -> Number:
    """The least value of a scalar type: minus infinity for floats."""
    return float("-inf") if t.is_float else -(1 << 8 * t.size - 1) if t.is_signed else 0


def highest(t: Scalar) -> Number:
    """The greatest value of a scalar type: infinity for floats."""
    return float("inf") if t.is_float else (1 << 8 * t.size - t.is_signed) - 1


def _zero(t: Scalar) -> Number:
    return 0.0 if t.is_inexact else 0


def _one(t: Scalar) -> Number:
    return 1.0 if t.is_inexact else 1


def _ones(t: Scalar) -> Number:
    return True if t.name == "bool" else -1 if t.is_signed else highest(t)


def _no_bits(t: Scalar) -> Number:
    return False if t.name == "bool" else 0


def _number(t: Scalar) -> bool:
    return t.is_float or t.is_integer


def _summed(t: Scalar) -> bool:
    return _number(t) or t.is_complex


def _bool(t: Scalar) -> bool:
    return t.name == "bool"


def _bits(t: Scalar) -> bool:
    return not t.is_inexact


_NUMBERS = "cast the elements to a number type first"
_TRUTH = "compare them first, e.g. xs != 0"
_INTEGERS = "cast the elements to an integer type first"
OPERATORS = {
    "add": Law(_summed, _zero, _NUMBERS),
    "mul": Law(_summed, _one, _NUMBERS),
    "maximum": Law(_number, lowest, _NUMBERS),
    "minimum": Law(_number, highest, _NUMBERS),
    "logical_and": Law(_bool, lambda t: True, _TRUTH),
    "logical_or": Law(_bool, lambda t: False, _TRUTH),
    "bitwise_and": Law(_bits, _ones, _INTEGERS),
    "bitwise_or": Law(_bits, _no_bits, _INTEGERS),
    "bitwise_xor": Law(_bits, _no_bits, _INTEGERS),
}


@cache
def named(name: str, t: Type) -> Operator:
    """The operator `name` on values of scalar type `t`; TypeMismatch where it takes no such values."""
    law = OPERATORS[name]
    if not (isinstance(t, Scalar) and law.takes(t)):
        unordered = isinstance(t, Scalar) and t.is_complex and name in ("maximum", "minimum")
        raise TypeMismatch(f"operator {name} does not take {t}; {NO_ORDER if unordered else law.remedy}")
    return Operator(name, binary(name, t), True, True, number(law.neutral(t), t))


def number(value: bool | int | float | complex, t: Scalar) -> Expr:
    """A number that a `t` can hold, written in the program: a complex one as what makes it of its parts."""
    if t.is_complex:
        z = complex(value)
        return Apply("complex", (Literal(z.real, t.part), Literal(z.imag, t.part)))
    assert not isinstance(value, complex)
    return Literal(value, t)


def binary(name: str, t: Type) -> Expr:
    """The body `name(<a, b>)` over pairs of `t`."""
    pair = Arg(Tuple((t, t)))
    return Apply(name, (Get(0, pair), Get(1, pair)))


def recognise(body: Expr) -> str | None:
    """The named operator whose body this is (either order of the operands), or None."""
    match body:
        case Apply(name, (Get(i, Arg(Tuple((a, b)))), Get(j, Arg()))) if (
            name in OPERATORS and {i, j} == {0, 1} and a == b and body.args[0].x is body.args[1].x  # type: ignore[union-attr]
        ):
            return name if isinstance(a, Scalar) and OPERATORS[name].takes(a) else None
    return None
