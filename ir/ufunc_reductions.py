"""Reductions and accumulations by NumPy's functions that are known to be associative: `np.logaddexp.reduce(x)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.axes import Axes, scalar_of_elements
from egglift.ir.check import type_of
from egglift.ir.joining import concatenate
from egglift.ir.keywords import bound
from egglift.ir.known_operators import KNOWN
from egglift.ir.numpy_adapted import own
from egglift.ir.operators import OPERATORS, named, number
from egglift.ir.patterns import Expr, Operator
from egglift.ir.rearranging import moveaxis
from egglift.ir.reducing import narrowed, recast, reduced
from egglift.ir.scanning import scanned
from egglift.ir.types import BOOL, Scalar
from egglift.ir.value import Value, as_value, typed


def combined(name: str, method: str, args: Sequence[Any], named: Mapping[str, Any]) -> Value | None:
    """What `np.NAME.reduce(...)` or `np.NAME.accumulate(...)` is; None where the function is not known for one."""
    known = name in OPERATORS or name in KNOWN
    methods: dict[str, Callable[..., Value]] = {"reduce": reduced_along, "accumulate": accumulated_along}
    if not known or method not in methods:
        return None
    bound(f"numpy.{name}.{method}", partial(methods[method], name), args, named)
    return methods[method](name, *args, **named)


def reduced_along(
    name: str, x: Any, axis: Axes = 0, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Value:
    """`np.NAME.reduce(x, axis)`: elements are combined in the type that the function gives of two of them."""
    e = _elements(name, as_value(x).expr)
    operator, start = _operator(name, scalar_of_elements(e))
    found = typed(narrowed(as_value(x).expr, reduced(operator, start, e, axis, keepdims, where)))
    return found if initial is None else typed(own(name)(found, initial).expr)


def accumulated_along(name: str, x: Any, axis: int = 0) -> Value:
    """`np.NAME.accumulate(x, axis)`: what all elements up to each come to."""
    e = _elements(name, as_value(x).expr)
    operator, start = _operator(name, scalar_of_elements(e))
    found = typed(narrowed(as_value(x).expr, scanned(operator, start, e, axis, False, False)))
    if operator.neutral is not None:
        return found
    first, rest = (moveaxis(v, axis, 0) for v in (typed(e), found))  # the first element is itself, without a start
    return moveaxis(concatenate([first[:1], rest[1:]]), 0, axis)


def _elements(name: str, e: Expr) -> Expr:
    """The elements in the type in which they are combined: that of a value of the function."""
    t = scalar_of_elements(e)
    given = Value(p.Arg(BOOL if name.startswith("logical") else t))
    combine: Callable[..., Value] = own(name)
    found = type_of(combine(given, given).expr)
    assert isinstance(found, Scalar)
    return recast(e, found.computed)


def _operator(name: str, t: Scalar) -> tuple[Operator, Expr]:
    """The operator on elements of a type, and what a reduction begins with."""
    if name in KNOWN:
        return KNOWN[name].of(t), number(KNOWN[name].start(t), t)
    operator = named(name, t)
    assert operator.neutral is not None  # all named operators have one
    return operator, operator.neutral
