"""The numbers that an index is, for many values of its variables at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from egglift.codegen.kernel.index import Choice, Clamp, Data, Index, Quotient, Remainder, Var

Lanes = npt.NDArray[np.int64]


class Unknown(Exception):
    """An index that depends on data."""


def evaluate(at: Index, local: tuple[Lanes, ...], loops: Mapping[Var, Lanes] | None = None) -> Lanes:
    """The index for every lane; Unknown if it depends on loaded numbers.  loops: their variables' values (else 0)."""
    total = np.full(len(local[0]), at.constant, dtype=np.int64)
    for atom, k in at.terms:
        total = total + k * _atom(atom, local, loops or {})
    return total


def _atom(atom: object, local: tuple[Lanes, ...], loops: Mapping[Var, Lanes]) -> Lanes | int:
    match atom:
        case Var(_, _, "local" | "global", dim):
            return local[dim] if dim < len(local) else 0
        case Var():
            return loops.get(atom, 0)
        case Quotient(x, d):
            return evaluate(x, local, loops) // d
        case Remainder(x, d):
            return evaluate(x, local, loops) % d
        case Clamp(x, high):
            return np.clip(evaluate(x, local, loops), 0, high)
        case Choice(test, n, inside, outside):
            t = evaluate(test, local, loops)
            return np.where((t >= 0) & (t < n), evaluate(inside, local, loops), evaluate(outside, local, loops))
        case Data():
            raise Unknown
    raise AssertionError(atom)
