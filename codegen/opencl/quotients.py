"""Functions that a CPU's compiler calls for each lane of a vector, as quotients of polynomials, which fill vectors.

Within 7 units in the last place of f32, where OpenCL allows 16 for `erf`, and 5 for `tanh`.
source: the coefficients are those of Eigen's fast functions for vectors (Eigen/src/Core/MathFunctionsImpl.h), which XLA
has too
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egglift.codegen.opencl.scalar_functions import literal, memory_type
from egglift.ir.types import F32


@dataclass(frozen=True)
class Quotient:
    """`x * above(x^2) / below(x^2)`, of x within -most..most, beyond which it is -1 or 1.

    above, below: coefficients, of the lowest power first.
    """

    most: float
    above: tuple[float, ...]
    below: tuple[float, ...]


QUOTIENTS: Mapping[str, Quotient] = {
    "erf": Quotient(
        4.0,
        (
            *(-1.60960333262415e-02, -2.95459980854025e-03, -7.34990630326855e-04, -5.69250639462346e-05),
            *(-2.10102402082508e-06, 2.77068142495902e-08, -2.72614225801306e-10),
        ),
        (
            *(-1.42647390514189e-02, -7.37332916720468e-03, -1.68282697438203e-03, -2.13374055278905e-04),
            -1.45660718464996e-05,
        ),
    ),
    "tanh": Quotient(
        7.90531110763549805,
        (
            *(4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08),
            *(-8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16),
        ),
        (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06),
    ),
}


def quotient(op: str, args: Sequence[str], width: int, helpers: dict[str, str]) -> str:
    """A call for f32, or for vectors of `width`, of a function of our own.

    `erf` of a -> `erf_f32(a)`, of four -> `erf_f32x4(a)`.
    """
    c, q = memory_type(F32, width), QUOTIENTS[op]
    name = f"{op}_f32" + (f"x{width}" if width > 1 else "")
    helpers[name] = "\n".join(
        (
            f"{c} {name}({c} a) {{",
            f"  const {c} z = a * a;",
            f"  const {c} above = {_polynomial(q.above, c)};",
            f"  const {c} below = {_polynomial(q.below, c)};",
            f"  const {c} y = a * (above / below);",
            f"  return {_beyond('a', q.most, c)}{_beyond('y', 1.0, c)}y;",
            "}",
        )
    )
    return f"{name}({', '.join(args)})"


def _beyond(x: str, most: float, c: str) -> str:
    """-1 or 1 where `x` is beyond a bound, which NaN is not; what follows is the rest."""
    low, high, least, largest = (f"({c})({literal(n, F32)})" for n in (-most, most, -1.0, 1.0))
    return f"{x} < {low} ? {least} : {x} > {high} ? {largest} : "


def _polynomial(coefficients: Sequence[float], c: str) -> str:
    """In z, by Horner's rule."""
    *others, text = (f"({c})({literal(n, F32)})" for n in coefficients)
    for n in reversed(others):
        text = f"({text} * z + {n})"
    return text
