"""Operators as users name and define them: `add`, `maximum`, ..., and `operator(f, ...)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from egglift.ir import claims, trace
from egglift.ir.check import type_of
from egglift.ir.errors import OperatorError
from egglift.ir.keywords import bound
from egglift.ir.lifting import adapt, scalars_in
from egglift.ir.operators import highest, lowest, named
from egglift.ir.patterns import Operator
from egglift.ir.types import Scalar, Tuple, Type
from egglift.ir.value import Like, Value, call_pair, elementwise


@dataclass(frozen=True)
class Named:
    """A named operator: of `reduce`, and, called, an element-wise function."""

    name: str

    def __call__(self, *operands: Like, **words: Any) -> Value:
        """The operator applied to two scalars, or element by element to arrays of one shape."""
        if words or len(operands) != 2:
            bound(f"el.{self.name}", _of_two, operands, words)
        return elementwise(self.name, *operands)

    def of(self, t: Type) -> Operator:
        """The operator on elements of type `t`, with its neutral element."""
        return named(self.name, t)


def _of_two(a: Like, b: Like, /) -> None:
    """The parameters of a named operator."""


class Defined:
    """A user's operator and what it claims; made by `operator`."""

    def __init__(
        self,
        f: Callable[..., Like],
        associative: bool,
        commutative: bool,
        neutral: Like,
        name: str,
        check: bool,
    ) -> None:
        self.f, self.associative, self.commutative = f, associative, commutative
        self.neutral, self.name, self.check = neutral, name, check
        self._found: dict[Type, Operator] = {}

    def __call__(self, a: Like, b: Like, /) -> Any:
        """The function itself."""
        return self.f(a, b)

    def of(self, t: Type) -> Operator:
        """The operator on elements of type `t`; OperatorError where a sample shows that a claim is wrong."""
        if t not in self._found:
            self._found[t] = self._define(t)
        return self._found[t]

    def _define(self, t: Type) -> Operator:
        if not self.associative:
            why = "reduce and scan need that it is; use fold, accumulate"
            raise OperatorError(f"operator {self.name} is not associative: {why}")
        what = f"operator {self.name}"
        body = trace.closed_body(lambda v: call_pair(self.f, v), Tuple((t, t)), what)
        given = self.neutral(t) if callable(self.neutral) else self.neutral
        neutral = None if given is None else adapt(given, t)
        if neutral is not None:
            trace.require_closed(neutral, f"{what}'s neutral element")
        op = Operator(self.name, body, self.associative, self.commutative, neutral)
        if self.check:
            claims.check(op, t, type_of(body))
        return op


def operator(
    f: Callable[..., Like],
    *,
    associative: bool = True,
    commutative: bool = True,
    neutral: Like = None,
    name: str | None = None,
    check: bool = True,
) -> Defined:
    """A reduction operator from a binary function on elements, which may be tuples.

        larger = el.operator(lambda a, b: el.where(a[0] >= b[0], a, b), commutative=False,
                             neutral=(-np.inf, 0))

    `neutral`: e with f(e, x) = x = f(x, e), a value or a function of the element type; None: there is none.
    The first `reduce` over elements of a type checks the claims on samples of that type; OperatorError shows a
    counter-example.  `check=False` takes them on trust: for claims that hold on the program's values only.
    """
    label = name or str(getattr(f, "__name__", "operator")).strip("<>")
    return Defined(f, associative, commutative, neutral, label, check)


def _smaller(a: Any, b: Any) -> Any:
    """Of two pairs (value, place) the one with the smaller value, of equal values the first."""
    return _chosen((a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1])), a, b)


def _larger(a: Any, b: Any) -> Any:
    """Of two pairs (value, place) the one with the larger value, of equal values the first."""
    return _chosen((a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1])), a, b)


def _chosen(first: Value, a: Value, b: Value) -> Any:
    return elementwise("where", first, a[0], b[0]), elementwise("where", first, a[1], b[1])


def _last_place(value: Callable[[Scalar], Any]) -> Callable[[Type], Any]:
    """The neutral pair: the value that all others beat, at a place behind all others."""

    def neutral(t: Type) -> Any:
        assert isinstance(t, Tuple)
        return value(scalars_in(t.items[0])), highest(scalars_in(t.items[1]))

    return neutral


#: what argmin and argmax reduce with: pairs of a value and its place
smaller = operator(_smaller, neutral=_last_place(highest), name="argmin")
larger = operator(_larger, neutral=_last_place(lowest), name="argmax")

add = Named("add")
mul = multiply = Named("mul")
maximum = Named("maximum")
minimum = Named("minimum")
logical_and = Named("logical_and")
logical_or = Named("logical_or")
bitwise_and = Named("bitwise_and")
bitwise_or = Named("bitwise_or")
bitwise_xor = Named("bitwise_xor")
