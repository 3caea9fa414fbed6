"""Complex numbers in programs mean what they mean in NumPy, by the interpreter and by kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.complex_functions import OF_PAIRS
from egglift.ir.errors import ArgumentError, OperatorError, TypeMismatch
from egglift.ir.pairs import paired
from egglift.ir.scalars import OF_COMPLEX, PARTS
from egglift.ir.types import C64, C128, F32
from tests.ir.agreement import Call, equals, interpreted, kernels_agree

RNG = np.random.default_rng(5)


def numbers(*shape: int, dtype: str = "c8") -> Any:
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(dtype)


LINE, OTHER, WIDE = numbers(6), numbers(6), numbers(6, dtype="c16")
GRID, SQUARE, CUBE = numbers(3, 4), numbers(4, 4), numbers(2, 3, 4)
REAL, WHOLE = RNG.normal(size=6).astype("f4"), np.arange(1, 7)
AXES = np.array([1, -1, 1j, -1j, 0, -4, 2 - 0j, complex(-3, -0.0)], "c16")

SCALAR: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "sum of two": (lambda m, x, y: x + y, (LINE, OTHER)),
    "difference": (lambda m, x, y: x - y, (LINE, OTHER)),
    "product": (lambda m, x, y: x * y, (LINE, OTHER)),
    "quotient": (lambda m, x, y: x / y, (LINE, OTHER)),
    "quotient along the axes": (lambda m, x, y: y / x, (AXES[:4], WIDE[:4])),
    "with 1j": (lambda m, x: 1j - x * 2j, (LINE,)),
    "of floats with 1j": (lambda m, x: x + 1j, (REAL,)),
    "of integers with 1j": (lambda m, x: x * 1j, (WHOLE,)),
    "with floats": (lambda m, x, y: x * y + y / x - y, (LINE, REAL)),
    "with integers": (lambda m, x, y: x * y, (LINE, WHOLE)),
    "of two widths": (lambda m, x, y: x * y, (LINE, WIDE)),
    "with numbers": (lambda m, x: (x * 2 + 1.5) / 3, (LINE,)),
    "negative": (lambda m, x: -x, (LINE,)),
    "conjugate": (lambda m, x: m.conj(x) + x.conj(), (LINE,)),
    "real": (lambda m, x: x.real + m.real(x), (LINE,)),
    "imag": (lambda m, x: x.imag * m.imag(x), (LINE,)),
    "parts of floats": (lambda m, x: x.real + x.imag, (REAL,)),
    "abs": (lambda m, x: abs(x), (LINE,)),
    "abs of large numbers": (lambda m, x: abs(x * 1e30), (LINE,)),
    "angle": (lambda m, x: m.angle(x), (AXES,)),
    "angle in degrees": (lambda m, x: m.angle(x, deg=True), (LINE,)),
    "angle of floats": (lambda m, x: m.angle(x), (REAL,)),
    "exp": (lambda m, x: m.exp(x), (WIDE,)),
    "exp of an angle": (lambda m, x: m.exp(1j * x), (REAL,)),
    "log": (lambda m, x: m.log(x), (WIDE,)),
    "log10": (lambda m, x: m.log10(x), (WIDE,)),
    "sqrt": (lambda m, x: m.sqrt(x), (WIDE,)),
    "sqrt along the axes": (lambda m, x: m.sqrt(x), (AXES,)),
    "sin": (lambda m, x: m.sin(x), (WIDE,)),
    "cos": (lambda m, x: m.cos(x), (WIDE,)),
    "square": (lambda m, x: m.square(x), (LINE,)),
    "reciprocal": (lambda m, x: m.reciprocal(x), (LINE,)),
    "whole powers": (lambda m, x: x**3 + x**-2 + x**0, (WIDE,)),
    "powers": (lambda m, x, y: x**y, (WIDE, numbers(6, dtype="c16"))),
    "powers of 0": (lambda m, x: x ** (2.5 + 0j), (AXES[3:5],)),
    "where": (lambda m, x, y: m.where(x.real > 0, x, y), (LINE, OTHER)),
    "where with floats": (lambda m, x, y: m.where(y > 0, x, y), (LINE, REAL)),
    "as c128": (lambda m, x: x.astype("c16"), (LINE,)),
    "as c64": (lambda m, x: x.astype(np.complex64), (WIDE,)),
    "floats as c64": (lambda m, x: x.astype("complex64"), (REAL,)),
    "constants": (lambda m, x: x * OTHER, (LINE,)),
    "a constant of no axes": (lambda m, x: x * np.complex64(2 - 1j), (LINE,)),
}
EXACT: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "equal": (lambda m, x, y: (x == y) | (x == 0), (AXES, AXES[::-1].copy())),
    "not equal": (lambda m, x, y: x != y, (AXES, AXES[::-1].copy())),
    "as bools": (lambda m, x: x.astype(bool), (AXES,)),
    "isnan": (lambda m, x: m.isnan(x * np.inf), (AXES,)),
    "isfinite": (lambda m, x: m.isfinite(x / m.abs(x)), (AXES,)),
    "isinf": (lambda m, x: m.isinf(m.where(x.real > 0, x, np.inf)), (AXES,)),
    "nan_to_num": (lambda m, x: m.nan_to_num(m.where(x.real > 0, x, complex(np.nan, -np.inf)), nan=2.0), (AXES,)),
    "broadcast_arrays": (lambda m, x, y: m.broadcast_arrays(x[0], y)[0] + y, (GRID, GRID)),
    "isclose": (lambda m, x: m.isclose(x, x + 1e-9), (WIDE,)),
    "any and all": (lambda m, x: m.any(x, axis=0) & m.all(x, axis=0), (GRID,)),
    "count_nonzero": (lambda m, x: m.count_nonzero(x), (AXES,)),
    "slices": (lambda m, x: x[::-1, 1:3], (GRID,)),
    "reshape": (lambda m, x: m.reshape(x, (2, 6)), (GRID,)),
    "transposed": (lambda m, x: x.T.conj(), (GRID,)),
    "stack": (lambda m, x: m.stack([x, x.conj()], axis=-1), (LINE,)),
    "concatenate": (lambda m, x: m.concatenate([x, x], axis=1), (GRID,)),
    "roll": (lambda m, x: np.roll(x, 2), (LINE,)),
    "an element": (lambda m, x: x[1, 2] + 0, (GRID,)),
    "padding": (lambda m, x: np.pad(x, 1), (LINE,)),
    "zeros": (lambda m, x: x + m.zeros(6, "c8") + m.ones_like(x) + m.eye(6, dtype="c8")[0], (LINE,)),
}
ARRAYS: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "sum": (lambda m, x: m.sum(x), (GRID,)),
    "sum along an axis": (lambda m, x: x.sum(axis=0, keepdims=True), (CUBE,)),
    "sum where": (lambda m, x: m.sum(x, axis=1, where=x.real > 0), (GRID,)),
    "sum of floats as c128": (lambda m, x: m.sum(x, dtype=np.complex128), (REAL,)),
    "prod": (lambda m, x: m.prod(x, axis=0), (GRID,)),
    "mean": (lambda m, x: m.mean(x, axis=1), (GRID,)),
    "var": (lambda m, x: m.var(x, axis=1, ddof=1), (GRID,)),
    "std": (lambda m, x: m.std(x), (GRID,)),
    "average": (lambda m, x, y: m.average(x, weights=y * y), (LINE, REAL)),
    "cumsum": (lambda m, x: m.cumsum(x), (LINE,)),
    "cumprod": (lambda m, x: m.cumprod(x), (LINE,)),
    "diff": (lambda m, x: m.diff(x), (LINE,)),
    "dot": (lambda m, x, y: m.dot(x, y), (LINE, OTHER)),
    "vdot": (lambda m, x, y: m.vdot(x, y), (LINE, OTHER)),
    "inner": (lambda m, x, y: m.inner(x, y), (LINE, OTHER)),
    "outer": (lambda m, x, y: m.outer(x, y), (LINE, REAL)),
    "matmul": (lambda m, x, y: x @ y, (GRID, SQUARE)),
    "matmul with floats": (lambda m, x, y: x @ y.real, (GRID, SQUARE)),
    "matmul of stacks": (lambda m, x, y: m.matmul(x, y), (CUBE, SQUARE)),
    "matrix and vector": (lambda m, x, y: y @ x, (SQUARE[0].copy(), SQUARE)),
    "einsum": (lambda m, x, y: m.einsum("ij,kj->ki", x, y), (GRID, SQUARE)),
    "einsum of three": (lambda m, x, y: m.einsum("ij,jk,k->i", x, y, y[0]), (GRID, SQUARE)),
    "tensordot": (lambda m, x, y: m.tensordot(x, y, axes=1), (CUBE, SQUARE)),
    "kron": (lambda m, x: m.kron(x, x), (SQUARE[:2, :2].copy(),)),
    "trace": (lambda m, x: m.trace(x), (SQUARE,)),
    "matrix_power": (lambda m, x: (m.linalg if m is np else m).matrix_power(x, 3), (SQUARE,)),
    "norm": (lambda m, x: (m.linalg if m is np else m).norm(x), (GRID,)),
    "norm along an axis": (lambda m, x: (m.linalg if m is np else m).norm(x, 1, axis=0), (GRID,)),
}


#: those that kernels compute too: each lies in memory, or combines numbers, in another way
BY_KERNELS = {
    "product", "quotient", "sqrt", "constants", "as c128", "equal", "slices", "transposed", "stack", "padding",
    "sum along an axis", "prod", "cumsum", "vdot", "matmul", "einsum",
}  # fmt: skip


def _checked(cases: dict[str, tuple[Call, tuple[Any, ...]]], name: str, within: float | None) -> None:
    f, arrays = cases[name]
    inputs = {f"x{i}": a for i, a in enumerate(arrays)}
    with np.errstate(all="ignore"):
        want = np.asarray(f(np, *arrays))
    e = f(el, *(el.array(n, a.dtype, a.shape) for n, a in inputs.items()))
    eps = 0.0 if within is None else within * float(np.finfo(want.dtype).eps)
    compare = equals if name in BY_KERNELS else interpreted
    compare(e, inputs, want, None if within is None else eps, eps * float(np.abs(want).max()))


@pytest.mark.parametrize("name", SCALAR)
def test_functions_of_complex_numbers_are_numpys(name: str) -> None:
    _checked(SCALAR, name, 16)


@pytest.mark.parametrize("name", EXACT)
def test_complex_numbers_are_moved_and_told_apart(name: str) -> None:
    _checked(EXACT, name, None)


@pytest.mark.parametrize("name", ARRAYS)
def test_complex_arrays_are_combined_as_by_numpy(name: str) -> None:
    _checked(ARRAYS, name, 32)


X, Y, R = el.array("x", el.c64, 6), el.array("y", el.c64, 6), el.array("r", el.f32, 6)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "less": (lambda: X < Y, "no order"),
    "minimum": (lambda: np.minimum(X, Y), "no order"),
    "max": (lambda: X.max(), "no order"),
    "argmax": (lambda: el.argmax(X), "no order"),
    "clip": (lambda: el.clip(X, 0, 1), "no order"),
    "floor division": (lambda: X // Y, "no order"),
    "sign": (lambda: el.sign(X), "no order"),
    "as floats": (lambda: X.astype("f4"), "take x.real, x.imag or abs"),
    "bits": (lambda: X & 1, "not c64"),
    "tan": (lambda: el.tan(X), "write it with exp"),
    "sinh": (lambda: el.sinh(X), "write it with exp"),
    "atan2": (lambda: el.arctan2(X, 1), "write it with exp"),
    "round": (lambda: el.around(X, 2), "round x.real and x.imag"),
    "H": (lambda: X.H, "x.conj"),
    "an f32 of 1j": (lambda: el.literal(1j, el.f32), "cast the other operand to a complex type, c64"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_complex_numbers_lack_is_refused(case: tuple[Callable[[], Any], str]) -> None:
    call, why = case
    with pytest.raises((TypeMismatch, AttributeError), match=why):
        call()


def test_types_of_complex_numbers_have_numpys_names() -> None:
    for t in (el.c64, "c64", np.complex64, np.dtype("c8"), "complex64"):
        assert el.as_type(t) == C64
    assert el.as_type(complex) == el.as_type("complex128") == C128
    assert (X * 2.0).type == (X + 1j).type == X.type and X.real.type == abs(X).type == R.type
    assert (R * 1j).type == X.type and (X * WHOLE).type == el.array("z", el.c128, 6).type


def test_what_complex_numbers_take_is_said_of_pairs() -> None:
    assert OF_PAIRS.keys() | {"where"} == OF_COMPLEX | PARTS.keys()


def test_programs_of_complex_numbers_are_read_again() -> None:
    for e in (el.exp(X * 2j) / Y, X.sum(), X.prod(), X.cumsum(), X * LINE, el.where(R > 0, X, 1j)):
        assert el.loads(el.dumps(e)) is e.expr


def test_no_pair_is_left_to_laws_as_a_complex_number() -> None:
    text = el.dumps(paired((el.exp(X) * Y).sum().expr))
    assert "c64" not in text and "complex" not in text and text.count("reduce add:f32") == 2
    assert paired((R + R).expr) is (R + R).expr


def test_operators_on_complex_numbers_are_checked() -> None:
    twice = el.operator(lambda a, b: a + b + a * b, neutral=0)
    want = np.prod(LINE.astype("c16") + 1) - 1
    np.testing.assert_allclose(el.interpret(X.reduce(twice), x=LINE), want, rtol=1e-4)
    with pytest.raises(OperatorError, match="associative"):
        X.reduce(el.operator(lambda a, b: a * b.conj()), 1)


def test_inputs_of_complex_numbers_are_numpys() -> None:
    z, n = el.scalar("z", el.c64), el.size("n", min=1)
    e = el.array("x", el.c64, n) * z
    np.testing.assert_allclose(el.interpret(e, x=LINE, z=2 - 1j), LINE * np.complex64(2 - 1j), rtol=1e-6)
    np.testing.assert_allclose(el.interpret(e, x=REAL, z=2), (REAL * 2).astype("c8"))
    assert el.interpret(e, wide=True, x=LINE, z=1j).dtype == np.complex128
    assert el.interpret(X.sum(), x=LINE).dtype == np.complex64
    with pytest.raises(ArgumentError, match="dtype complex128"):
        el.interpret(e, x=WIDE, z=1)
    pair = el.interpret(el.tuple(X.real, X), x=LINE)
    assert [a.dtype for a in pair] == [F32.dtype, C64.dtype]


def test_kernels_of_this_file() -> None:
    kernels_agree()
