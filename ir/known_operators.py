"""Functions of NumPy's names that are known to be associative and commutative, up to rounding.

`el.reduce(el.logaddexp, init, x)`, `el.scan(el.logaddexp, init, x)`, `np.logaddexp.reduce(x)` and `.accumulate(x)` take
them, also within a lambda; `el.operator` says so of functions of one's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from egglift.ir.composed import hypot, logical_xor
from egglift.ir.errors import EggliftError, OperatorError
from egglift.ir.lifting import scalars_in
from egglift.ir.nan_and_infinities import fmax, fmin, logaddexp, logaddexp2
from egglift.ir.operators import OPERATORS, Number, highest, lowest
from egglift.ir.patterns import Expr, Operator
from egglift.ir.reduction import Named, operator
from egglift.ir.types import Scalar, Type


@dataclass(frozen=True)
class Known:
    """of: the operator on elements of a type; start: its neutral element, or what is one for all that it gives."""

    of: Callable[[Type], Operator]
    start: Callable[[Scalar], Number]


def _known(f: Callable[..., Any], neutral: Callable[[Scalar], Number]) -> Known:
    return Known(operator(f, neutral=lambda t: neutral(scalars_in(t))).of, neutral)


def _nan_or(of_integers: Callable[[Scalar], Number]) -> Callable[[Scalar], Number]:
    return lambda t: math.nan if t.is_float else of_integers(t)


KNOWN: Mapping[str, Known] = {
    "logaddexp": _known(logaddexp, lambda t: -math.inf),
    "logaddexp2": _known(logaddexp2, lambda t: -math.inf),
    "hypot": Known(operator(hypot).of, lambda t: 0.0),  # hypot(x, 0) is |x|, which no negative x is
    "fmax": _known(fmax, _nan_or(lowest)),
    "fmin": _known(fmin, _nan_or(highest)),
    "logical_xor": _known(logical_xor, lambda t: False),
}


def of_numpy(name: str) -> Named | Known:
    """The operator of a function of NumPy's that egglift calls `name`; OperatorError where it is not known for one."""
    if name in KNOWN:
        return KNOWN[name]
    if name in OPERATORS:
        return Named(name)
    raise OperatorError(f"numpy.{name} is no reduction operator; there are {', '.join((*OPERATORS, *KNOWN))}")


def known_operator(body: Expr, t: Type) -> Operator | None:
    """The operator with this body on elements of a type; None where it is not known."""
    for known in KNOWN.values():
        try:
            found = known.of(t)
        except EggliftError:  # it takes other elements
            continue
        if found.body is body:
            return found
    return None
