"""Every program compiles as it stands: random nestings of all patterns, in their naive form, on PoCL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import agree, flatten
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, F64, SCALARS, Scalar, leaves
from tests.harness import run
from tests.programs import programs, values_for

NO_HALF = tuple(s for s in SCALARS.values() if s.size > 2 or not s.is_float)
#: functions that give integers for integers: floats stay exact, and comparisons of them safe
STEADY = (
    "add",
    "sub",
    "mul",
    "floordiv",
    "mod",
    "neg",
    "abs",
    "sign",
    "minimum",
    "maximum",
    "fma",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
    "where",
)
#: functions whose results move little when their arguments do
SMOOTH = ("add", "sub", "mul", "neg", "abs", "minimum", "maximum", "exp", "sin", "cos", "tanh", "erf", "sqrt")


def check(program: Expr, launch: Launch = Launch(group_size=16), **given: Any) -> None:
    """The kernels of `program` as it stands compute what the interpreter says."""
    values = given or values_for(program)
    inputs = {name: tuple(a.reshape(-1) for a in flatten(v)) for name, v in values.items()}
    actual = run(compile_term(program, launch), inputs)
    scalars: list[Scalar] = [scalar for _, scalar in leaves(type_of(program))]
    for want, got, scalar in zip(flatten(evaluate(program, values)), actual, scalars, strict=True):
        assert agree(want, got.astype(want.dtype), scalar) is None


@settings(max_examples=30, deadline=None)
@given(programs(scalars=NO_HALF, functions=STEADY))
def test_every_pattern_compiles_in_any_nesting(program: Expr) -> None:
    check(program)


@settings(max_examples=20, deadline=None)
@given(programs(scalars=(F32, F64), functions=SMOOTH))
def test_float_functions_compile_in_any_nesting(program: Expr) -> None:
    check(program)


def grid(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 2, 3), (2, 2, 2, 2, 3), (2, 1, 2, 1, 2, 2)])
def test_maps_nest_in_any_number_of_dimensions(shape: tuple[int, ...]) -> None:
    x = el.array("x", el.f32, shape)
    check(as_program(2 * x + x * x), x=grid(*shape))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_reductions_nest_in_any_number_of_dimensions(depth: int) -> None:
    def total(v: Any, levels: int) -> Any:
        inner = v if levels == 1 else v.map(lambda row: total(row, levels - 1))
        return el.reduce(el.add, 0.0, inner)

    shape = (2, 3, 2, 3, 2)[:depth]
    check(as_program(total(el.array("x", el.f32, shape), depth)), x=grid(*shape))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_stencils_nest_in_any_number_of_dimensions(depth: int) -> None:
    """The sum of the elements of 3 x 3 x ... windows, clamped at the edges."""

    def padded(v: Any, levels: int) -> Any:
        inner = v if levels == 1 else v.map(lambda row: padded(row, levels - 1))
        return el.pad(1, 1, "clamp", inner)

    def windows(v: Any, levels: int, f: Any) -> Any:
        """`f` of every window; rows of windows are turned into windows of rows first."""
        if levels == 1:
            return el.slide(3, 1, v).map(f)
        return el.slide(3, 1, v).map(lambda rows: windows(_fronted(rows, levels - 1), levels - 1, f))

    def _fronted(rows: Any, levels: int) -> Any:
        """[3][n]...[element] as [n]...[3][element]: the window's axis goes behind `levels` others."""
        turned = el.transpose(rows)
        return turned if levels == 1 else turned.map(lambda r: _fronted(r, levels - 1))

    def total(v: Any, levels: int) -> Any:
        inner = v if levels == 1 else v.map(lambda row: total(row, levels - 1))
        return el.reduce(el.add, 0.0, inner)

    shape = (4, 3, 4, 3)[:depth]
    x = padded(el.array("x", el.f32, shape), depth)
    program = as_program(windows(x, depth, lambda w: total(w, depth)))
    check(program, x=grid(*shape))
    around = np.lib.stride_tricks.sliding_window_view(np.pad(grid(*shape), 1, mode="edge"), (3,) * depth)
    sums = around.sum(axis=tuple(range(depth, 2 * depth)))
    np.testing.assert_array_equal(evaluate(program, {"x": grid(*shape)}), sums)
