"""Complex numbers beside the pairs of floats that programs compute with: the same memory, seen in two ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from egglift.ir.arguments import convert
from egglift.ir.check import type_of
from egglift.ir.interpret import each_leaf, evaluate, lengths_called
from egglift.ir.pairs import paired
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import at_lengths, lengths_of
from egglift.ir.signature import inputs_of
from egglift.ir.types import Scalar

NdArray = np.ndarray[Any, Any]


def meaning(e: Expr, inputs: Mapping[str, Any], wide: bool = False) -> Any:
    """`interpret.evaluate` of a program, with its complex numbers as NumPy has them in inputs and results."""
    if paired(e) is e:
        return evaluate(e, inputs, wide)
    if lengths_of(e):
        e = at_lengths(e, lengths_called(e, inputs))
    types = inputs_of(e)
    given = convert(types, inputs)
    found = evaluate(paired(e), {name: each_leaf(as_pairs, v, types[name]) for name, v in given.items()}, wide)
    return each_leaf(as_numbers, found, type_of(e))


def as_pairs(x: NdArray, t: Scalar) -> NdArray:
    """An array of complex numbers of type `t` as one of their parts, with an axis of 2 more; others as they are."""
    if not t.is_complex:
        return x
    return np.ascontiguousarray(x).view(t.part.dtype).reshape(*x.shape, 2)


def as_numbers(x: Any, t: Scalar) -> Any:
    """The inverse of `as_pairs`: of floats of any width."""
    if not t.is_complex:
        return x
    return np.ascontiguousarray(x).view(np.result_type(x.dtype, np.complex64))[..., 0]
