"""Functions by NumPy's names beside NumPy's: by the interpreter in each test, by kernels at the end of its file.

PoCL takes 0.1 s for a build, however little it builds: kernels of all tests of a file are built together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Plan
from egglift.ir.check import type_of
from egglift.ir.complex_values import as_pairs
from egglift.ir.pairs import paired
from egglift.ir.types import dims, scalar_of
from tests.fuzz.guarded import outputs_of

NdArray = np.ndarray[Any, Any]
Call = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Expected:
    """A kernel, what it is given, and what it must compute.

    within: a relative error, or None: the same numbers.  near_zero: an absolute one.
    """

    plan: Plan
    given: dict[str, list[NdArray]]
    shape: tuple[int, ...]
    want: NdArray
    within: float | None
    near_zero: float
    test: str


_waiting: list[Expected] = []


def agree(f: Call, *arrays: Any, exact: bool = True) -> None:
    """`f(np, arrays)` is what `f(el, inputs)` computes, of the same type and shape."""
    given = {f"x{i}": a for i, a in enumerate(arrays)}
    with np.errstate(all="ignore"):
        want = np.asarray(f(np, *arrays))
    e = f(el, *(el.array(n, scalar_of(a.dtype), a.shape) for n, a in given.items()))
    equals(e, given, want, None if exact else 20 * float(np.finfo(want.dtype).eps))


def interpreted(e: Any, given: dict[str, Any], want: Any, within: float | None = None, near_zero: float = 0.0) -> None:
    """What the interpreter computes is `want`."""
    _compare(el.interpret(e, **given), want, within, near_zero)


def equals(e: Any, given: dict[str, Any], want: Any, within: float | None = None, near_zero: float = 0.0) -> None:
    """What the interpreter computes is `want`, and what a kernel will compute."""
    interpreted(e, given, want, within, near_zero)
    program = el.as_program(e)
    plan = compile_term(paired(program), limits=open_device("pocl").limits)
    shape, test = dims(type_of(program)), os.environ["PYTEST_CURRENT_TEST"]
    arrays = {n: [as_pairs(given[n], scalar_of(given[n].dtype))] for n in plan.inputs}
    _waiting.append(Expected(plan, arrays, shape, want, within, near_zero, test))


def _compare(got: Any, want: NdArray, within: float | None, near_zero: float, test: str = "") -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape), test
    if within is None:
        np.testing.assert_array_equal(got, want, err_msg=test)
    else:
        np.testing.assert_allclose(got, want, rtol=within, atol=near_zero, err_msg=test)


def kernels_agree() -> None:
    """The kernels of the tests of a file compute what they must."""
    expected = _waiting[:]
    _waiting.clear()
    found = outputs_of([(of.plan, of.given) for of in expected]) if expected else []
    for of, (flat,) in zip(expected, found, strict=True):
        _compare(
            (flat.view(of.want.dtype) if np.iscomplexobj(of.want) else flat).reshape(of.shape),
            of.want,
            of.within,
            of.near_zero,
            of.test,
        )
