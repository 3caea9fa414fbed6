"""Random low-level programs compile and compute what the interpreter says, or an error says why not."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.types import SCALARS, is_floating, scalar_of
from tests.codegen.low import NdArray, flat, meaning
from tests.harness import run
from tests.programs import programs, values_for

TYPES = tuple(SCALARS.values())
LAUNCHES = (Launch(16), Launch(1), Launch(32, 2), Launch(5, 3))
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def agree(term: Expr, launch: Launch) -> None:
    """Both meanings of `term` on the same inputs: the interpreter's and the device's."""
    inputs = values_for(term)
    actual = run(compile_term(term, launch), {name: tuple(flat(v)) for name, v in inputs.items()})
    for e, a in zip(meaning(term, **inputs), actual, strict=True):
        assert same(e, a), (e, a)


def same(e: NdArray, a: NdArray) -> bool:
    if not is_floating(e.dtype):
        return np.array_equal(e, a)
    x, y, tolerance = e.astype(np.float64), a.astype(np.float64), max(1e-4, 4 * scalar_of(e.dtype).epsilon)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= tolerance * np.maximum(np.abs(x), 1)
    return bool(np.all(near | (x == y) | (np.isnan(x) & np.isnan(y))))


@few
@given(programs(scalars=TYPES, levels=True), st.sampled_from(LAUNCHES))
def test_low_level_programs_compile_or_say_why_not(term: Expr, launch: Launch) -> None:
    try:
        compile_term(term, launch)
    except CodegenError as error:
        assert ":" in str(error) or "mapWarp" in str(error)
        return
    agree(term, launch)
