"""Functions of numbers that are written in the program: computed here, as NumPy does, and not by the device's compiler.

PoCL (3.0) folds `floor`, `exp` and others of its own of a NaN to whatever is in the register.
"""

from __future__ import annotations

import numpy as np

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import ScalarValue
from egglift.ir.conversions import rounded
from egglift.ir.lengths import Length
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.types import Scalar


def known(op: str, args: tuple[ScalarValue, ...], t: Scalar) -> bool | int | float | None:
    """The value of a scalar function of numbers; None where an argument is no number, or it is a cast.

    It is of the type that `t`, the function's, is computed in.
    """
    narrow = next((a.type for a in args if a.type.is_narrow), None)
    known_here = [a for a in args if isinstance(a, im.Const) and not isinstance(a.value, Length)]
    numbers = [rounded(np.asarray(a.value), narrow or a.type) for a in known_here]
    if op not in FUNCTIONS or len(numbers) < len(args):
        return None
    with np.errstate(all="ignore"):
        value: bool | int | float = np.asarray(FUNCTIONS[op].numpy(*numbers)).astype(t.computed.dtype).item()
    return value


def chosen(op: str, args: tuple[ScalarValue, ...], t: Scalar) -> ScalarValue | None:
    """What a choice by a number comes to: where true x y -> x.  None where it is left to the device."""
    match op, args:
        case "where", (im.Const(value=bool(condition)), yes, no):
            found = yes if condition else no
            return found if found.type == t else None
    return None
