"""What a random program may use, and how much of it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from egglift.ir.sizes import evaluate as number
from egglift.ir.types import F32, F64, SCALARS, Scalar, Type, leaves
from tests.fuzz.functions import EXACT, SMOOTH, Functions

DEPTH = 4


@dataclass(frozen=True)
class Style:
    """What may occur in a program, such that results can be compared.

    exact: floats are small dyadic numbers and functions keep them so: every order of the operations gives the same.
    smooth: rounded functions of floats, none of which jumps.  extreme: inputs are also NaN, infinities, -0.0 and
    the least and greatest integers; functions are the exact ones that do not tell 0.0 from -0.0.
    """

    name: str
    functions: Functions
    scalars: tuple[Scalar, ...]


WHOLE = tuple(SCALARS.values())
STYLES = {
    "exact": Style("exact", EXACT, WHOLE),
    "smooth": Style("smooth", SMOOTH, (F32, F64)),
    "extreme": Style("extreme", EXACT, WHOLE),
}


@dataclass(frozen=True)
class Room:
    """How much may still grow: elements of a value, steps that run one after the other, levels of bodies."""

    elements: int = 3000
    serial: int = 600
    depth: int = DEPTH

    def inside(self, n: int, serial: bool = False) -> Room:
        """What is left for a body that is applied n times."""
        n = max(n, 1)
        return Room(max(self.elements // n, 1), self.serial // n if serial else self.serial, self.depth - 1)


def style_of(rng: random.Random) -> Style:
    """A random style, mostly "exact"."""
    return STYLES[rng.choices(("exact", "smooth", "extreme"), (14, 3, 3))[0]]


def elements(t: Type) -> int:
    """Scalars in a value of type `t`."""
    return sum(math.prod(number(n) for n in shape) for shape, _ in leaves(t))
