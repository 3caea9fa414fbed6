"""The interpreter and the text form on random programs over all patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.text import brief, dumps, pretty
from egglift.ir.types import F64, SCALARS, is_floating
from tests.ir.reference import from_arrays, run
from tests.programs import programs, values_for

EXACT = tuple(s for s in SCALARS.values() if not s.is_float)
#: functions whose results move little when their arguments do
SMOOTH = ("add", "sub", "mul", "neg", "abs", "minimum", "maximum", "fma", "exp", "sin", "cos", "tanh", "erf")


def both(e: Expr) -> tuple[Any, Any]:
    values = values_for(e)
    with np.errstate(all="ignore"):
        lists = {name: from_arrays(t, values[name]) for name, t in inputs_of(e).items()}
        return from_arrays(type_of(e), evaluate(e, values)), run(e, lists)


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]


def shape(value: Any) -> Any:
    return [type(value).__name__, *map(shape, value)] if isinstance(value, list | tuple) else value.dtype.name


@settings(max_examples=300, deadline=None)
@given(programs(scalars=EXACT, levels=True))
def test_integer_programs_have_exactly_the_plain_meaning(e: Expr) -> None:
    got, want = both(e)
    assert shape(got) == shape(want)
    assert flat(got) == flat(want)


@settings(max_examples=100, deadline=None)
@given(programs(scalars=(F64,), functions=SMOOTH))
def test_float_programs_have_the_plain_meaning_up_to_rounding(e: Expr) -> None:
    got, want = both(e)
    assert shape(got) == shape(want)
    a, b = np.array(flat(got)), np.array(flat(want))
    finite = np.isfinite(a) & np.isfinite(b)
    scale = np.abs(b[finite]).max(initial=1.0)
    assert (np.abs(a[finite] - b[finite]) <= 1e-9 * scale).all() or scale > 1e6


@settings(max_examples=300, deadline=None)
@given(programs(levels=True))
def test_text_reads_back_as_the_very_same_program(e: Expr) -> None:
    assert loads(dumps(e)) is e
    assert loads(pretty(e, 60)) is e
    assert 0 < len(brief(e)) <= 100


@settings(max_examples=100, deadline=None)
@given(programs(levels=True))
def test_every_random_program_evaluates_in_its_own_dtypes(e: Expr) -> None:
    got = from_arrays(type_of(e), evaluate(e, values_for(e)))
    kinds = [v.dtype for v in flat(got)]
    wide = [v.dtype for v in flat(from_arrays(type_of(e), evaluate(e, values_for(e), wide=True)))]
    assert len(kinds) == len(wide)
    assert all(w == np.float64 if is_floating(k) else w == k for k, w in zip(kinds, wide, strict=True))
