"""Numbers written in a program reach the kernel with every bit (of a NaN: some NaN), wherever they stand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.opencl.scalar_functions import initializer, literal
from egglift.ir import patterns as p
from egglift.ir.conversions import loaded
from egglift.ir.patterns import Expr
from egglift.ir.types import BF16, BOOL, F16, F32, F64, I64, SCALARS, Array, Scalar
from tests.codegen.low import NdArray, fmap, meaning, op
from tests.deep import every
from tests.fuzz.guarded import outputs_of
from tests.harness import run

pytestmark = pytest.mark.short

TYPES = list(SCALARS.values())
FLOATS = [F16, BF16, F32, F64]


def extremes(t: Scalar) -> NdArray:
    """The values of a type at its edges, and 200 more of random bits."""
    if t == BOOL:
        return np.array([False, True, True, False])
    bits = np.random.default_rng(t.size).integers(0, 256, 200 * t.size, np.uint8).view(t.dtype)
    if not t.is_float:
        low, high = (int(n) for n in (np.iinfo(t.dtype).min, np.iinfo(t.dtype).max))
        return np.array([low, low + 1, high, high - 1, 0, 1, 7, *bits.tolist()], t.dtype)
    i: Any = ml_dtypes.finfo(t.dtype)
    tiny, normal = i.smallest_subnormal, i.smallest_normal
    edges = [tiny, normal, normal - tiny, i.max, i.eps, 1 - i.epsneg]
    values = [0.0, np.inf, 0.1, 1 / 3, 1e6, 1e-4, 123456.7, 2.0**24 + 2, *map(float, edges)]
    with np.errstate(over="ignore"):
        return np.array([np.nan, *values, *(-v for v in values), *bits.tolist()], t.dtype)


def exactly(expected: NdArray, actual: NdArray) -> bool:
    """The same bits, or NaN and NaN."""
    width = f"V{expected.dtype.itemsize}"
    same = expected.view(width) == actual.view(width)
    return expected.dtype == actual.dtype and bool(np.all(same | ((expected != expected) & (actual != actual))))


def known(values: NdArray) -> Expr:
    t = next(t for t in SCALARS.values() if t.dtype == values.dtype)
    return p.Constant(Array(values.size, t), values.tobytes())


def results(terms: Sequence[Expr], **inputs: NdArray) -> list[list[NdArray]]:
    """What the kernels of each term give; they are built together, which takes a fraction of the time."""
    return outputs_of([(compile_term(term), {name: [x] for name, x in inputs.items()}) for term in terms])


def check(*terms: Expr, **inputs: NdArray) -> None:
    """The kernels' results are the interpreter's, to the bit."""
    for term, found in zip(terms, results(terms, **inputs), strict=True):
        for expected, actual in zip(meaning(term, **inputs), found, strict=True):
            assert exactly(expected, actual), (expected, actual)


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_arrays_of_numbers_keep_every_bit(t: Scalar) -> None:
    whole = known(np.resize(extremes(t), 256))
    rows = fmap(lambda row: fmap(lambda v: v, row, "vec"), p.Split(16, whole), "global")
    check(*(fmap(lambda v: v, whole, kind) for kind in (None, "global")), p.Join(rows))


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_tables_that_are_gathered_from_keep_every_bit(t: Scalar) -> None:
    values = extremes(t)
    order = np.random.default_rng(0).permutation(values.size)
    check(p.Gather(p.Input("i", Array(values.size, I64)), known(values)), i=order)


@pytest.mark.parametrize("t", [t for t in TYPES if t.is_integer], ids=str)
def test_indices_of_any_type_and_size_are_clamped_alike(t: Scalar) -> None:
    check(p.Gather(known(extremes(t)), p.Input("x", Array(5, F32))), x=np.arange(5, dtype=np.float32))


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_single_numbers_keep_every_bit(t: Scalar) -> None:
    x = p.Input("x", Array(2, t))
    numbers = [p.Literal(v, t) for v in extremes(t)[:60].tolist()]
    check(p.Tup(tuple(fmap(lambda _, n=n: n, x, "global") for n in numbers)), x=np.zeros(2, t.dtype))


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_boundary_values_and_seeds_keep_every_bit(t: Scalar) -> None:
    x = el.array("x", t, 6)
    given = np.array([-0.0, 0.0, 1, -1, np.inf, -np.inf], t.dtype)
    operators = itertools.cycle((el.add, el.mul, el.maximum, el.minimum, el.add))
    for numbers in np.array_split(extremes(t)[:24:2], 2):
        programs = [el.pad(2, 1, ("constant", v), x) for v in numbers.tolist()]
        programs += [el.reduce(el.maximum, v, x) for v in numbers.tolist()]
        programs += [el.reduce(next(operators), v, x.take(0)) for v in numbers.tolist()]
        check(*(e.expr for e in programs), x=given)


def test_a_nan_among_weights_and_factors_builds_and_counts() -> None:
    weights, x = np.float32([np.nan, 1, -0.0]), np.arange(8, dtype=np.float32)
    for program in (
        el.array("x", el.f32, 8) * np.resize(weights, 8),
        el.convolution1d(weights, "clamp", el.array("x", el.f32, 8)),
        el.array("x", el.f32, 8) + np.float32(np.nan),
    ):
        kernel = el.optimize(program, "pocl", measure="none", cache=False)
        for candidate in kernel.candidates[:4]:
            (actual,) = run(candidate.plan, {"x": x})
            assert exactly(np.asarray(el.interpret(program, x=x)).reshape(-1), actual), candidate.structure


OF_NUMBERS: dict[str, Callable[[el.Value, float], el.Value]] = {
    "power": lambda a, v: el.power(a, v),
    "power of it": lambda a, v: el.power(v, a),
    "arctan2": lambda a, v: el.arctan2(a, v),
    "mod": lambda a, v: el.mod(a, v),
    "mod of it": lambda a, v: el.mod(v, a),
    "floor_divide": lambda a, v: el.floor_divide(a, v),
    "floor_divide of it": lambda a, v: el.floor_divide(v, a),
    "maximum": lambda a, v: el.maximum(a, v),
    "where": lambda a, v: el.where(a > v, v, a),
}


@pytest.mark.parametrize(("name", "t"), every(3, OF_NUMBERS, FLOATS), ids=str)
def test_functions_take_numbers_of_their_own_type(name: str, t: Scalar) -> None:
    given = np.array([0.5, -1, 2, np.inf, np.nan, 0], t.dtype)
    x = el.array("x", t, given.size)
    numbers = (np.inf, -np.inf, np.nan, -0.0, float(ml_dtypes.finfo(t.dtype).smallest_subnormal), 3.0)
    terms = [x.map(lambda a, v=v: OF_NUMBERS[name](a, v)).expr for v in numbers]
    tolerance = 2 * t.epsilon if t.is_narrow else 1e-5
    for number, term, (actual,) in zip(numbers, terms, results(terms, x=given), strict=True):
        want = meaning(term, x=given)[0].astype(np.float64)
        np.testing.assert_allclose(actual.astype(np.float64), want, tolerance, err_msg=str(number))


@pytest.mark.parametrize(
    "name", ["floor", "ceil", "trunc", "rint", "exp", "exp2", "log", "sqrt", "sin", "tanh", "erf", "rsqrt"]
)
def test_functions_of_numbers_alone_are_numpys(name: str) -> None:
    x = p.Input("x", Array(1, F32))
    numbers = (np.nan, np.inf, -np.inf, -0.0, 2.5)
    terms = [fmap(lambda a, v=v: op(name, p.Literal(v, F32)), x, "global") for v in numbers]
    check(*terms, x=np.zeros(1, np.float32))


def test_numbers_of_half_precision_are_written_with_every_bit() -> None:
    """Every exponent, either sign, and mantissas with bits at all places."""
    bits = np.unique(np.concatenate([np.arange(0, 1 << 16, 29), 1 << np.arange(16), ~(1 << np.arange(16))]) & 0xFFFF)
    bits = bits.astype(np.uint16)
    for text, t in itertools.product((literal, initializer), (F16, BF16)):
        texts = [text(v, t) for v in loaded(bits.view(t.dtype), t).tolist()]
        assert exactly(bits.view(t.dtype), np.array([int(s, 16) for s in texts], np.uint16).view(t.dtype))
