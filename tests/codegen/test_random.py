"""Random low-level programs compile and compute what the interpreter says, or an error says why not."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.types import F16, SCALARS
from tests.codegen.low import NdArray, flat, meaning
from tests.harness import run
from tests.programs import programs, values_for

TYPES = tuple(t for t in SCALARS.values() if t != F16)
LAUNCHES = (Launch(16), Launch(1), Launch(32, 2), Launch(5, 3))
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def agree(term: Expr, launch: Launch) -> None:
    """Both meanings of `term` on the same inputs: the interpreter's and the device's."""
    inputs = values_for(term)
    actual = run(compile_term(term, launch), {name: tuple(flat(v)) for name, v in inputs.items()})
    for e, a in zip(meaning(term, **inputs), actual, strict=True):
        assert same(e, a), (e, a)


def same(e: NdArray, a: NdArray) -> bool:
    if e.dtype.kind != "f":
        return np.array_equal(e, a)
    with np.errstate(all="ignore"):
        near = np.abs(e - a) <= 1e-4 * np.maximum(np.abs(e), 1)
    return bool(np.all(near | (e == a) | (np.isnan(e) & np.isnan(a))))


@few
@given(programs(scalars=TYPES, levels=True), st.sampled_from(LAUNCHES))
def test_low_level_programs_compile_or_say_why_not(term: Expr, launch: Launch) -> None:
    try:
        compile_term(term, launch)
    except CodegenError as error:
        assert ":" in str(error) or "mapWarp" in str(error)
        return
    agree(term, launch)
