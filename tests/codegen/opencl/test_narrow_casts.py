"""f16, bf16 and tf32 to and from f32, in kernels and in the interpreter: their numbers, and ties between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.ir import patterns as p
from egglift.ir.conversions import rounded
from egglift.ir.types import BF16, F16, F32, F64, I32, I64, TF32, Array, Scalar
from tests.codegen.low import NdArray, fmap
from tests.deep import every
from tests.harness import run

NARROW = [F16, BF16]
#: of integers, or by OpenCL's functions, which PoCL has right where there are no barriers
DEVICES = {"cpu": DeviceLimits(), "gpu": DeviceLimits(warp=32, half_functions=True)}
everywhere = pytest.mark.parametrize("limits", DEVICES.values(), ids=DEVICES.keys())
of_both = pytest.mark.parametrize("t", NARROW, ids=str)


def all_of(t: Scalar) -> NdArray:
    """All 65,536 numbers of a type."""
    return np.arange(1 << 16, dtype=np.uint16).view(t.dtype)


def finite(t: Scalar) -> NdArray:
    """Its finite numbers in f64, in their order."""
    with np.errstate(invalid="ignore"):
        numbers = all_of(t).astype(np.float64)
    return np.sort(numbers[np.isfinite(numbers)])


def same(x: NdArray, y: NdArray) -> NdArray:
    """The same numbers, with the same signs; NaN and NaN."""
    with np.errstate(invalid="ignore"):
        x, y = x.astype(np.float64), y.astype(np.float64)
    return np.asarray(((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y)))


def between(t: Scalar) -> NdArray:
    """Of neighbours of a type: the number in the middle, in f64, which holds it."""
    numbers = finite(t)
    beyond = 2 * numbers[-1] - numbers[-2]  # what would follow the largest
    edges = np.array([-beyond, *numbers, beyond])
    return (edges[1:] + edges[:-1]) / 2


def around(t: Scalar) -> NdArray:
    """f32s: ties, the f32s next to them, and any bits."""
    ties = between(t).astype(np.float32)
    bits = np.random.default_rng(7).integers(0, 1 << 32, 1 << 20, np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        near = [np.nextafter(ties, np.float32(to)) for to in (-np.inf, np.inf)]
    found = np.concatenate([ties, *near, bits, all_of(t).astype(np.float32)])
    return np.resize(found, -(-found.size // 16) * 16)


def cast(to: Scalar, x: NdArray, source: Scalar, width: int, limits: DeviceLimits) -> NdArray:
    """What a kernel casts `x` to, so many elements at a time."""
    rows = p.Split(width, p.Input("x", Array(x.size, source)))
    body: Callable[[Any], Any] = lambda row: fmap(lambda v: p.Cast(to, v), row, "vec" if width > 1 else None)  # noqa: E731
    (found,) = run(compile_term(p.Join(fmap(body, rows, "global")), limits=limits), {"x": x})
    return found


@pytest.mark.parametrize(("t", "width", "limits"), every(2, NARROW, (1, 2, 4, 8, 16), DEVICES.values()), ids=str)
def test_every_number_becomes_the_f32_that_it_is(t: Scalar, width: int, limits: DeviceLimits) -> None:
    assert same(cast(F32, all_of(t), t, width, limits), all_of(t)).all()


@pytest.mark.parametrize(("t", "width", "limits"), every(2, NARROW, (1, 2, 4, 8, 16), DEVICES.values()), ids=str)
def test_f32s_become_the_nearest_number_ties_to_even(t: Scalar, width: int, limits: DeviceLimits) -> None:
    x = around(t)
    with np.errstate(all="ignore"):
        want = x.astype(t.dtype)
    found = cast(t, x, F32, width, limits)
    wrong = np.flatnonzero(~same(found, want))[:3]
    assert not wrong.size, (x[wrong], found[wrong], want[wrong])


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("source", [F32, F64], ids=str)
def test_tf32s_are_those_of_the_interpreter(source: Scalar, width: int) -> None:
    bits = np.random.default_rng(5).integers(0, 1 << 32, 1 << 16, np.uint32)
    ties = bits & np.uint32(0xFFFFE000) | np.uint32(0x1000)
    x = np.concatenate([part.view(np.float32) for part in (bits, ties, ties - np.uint32(1))])
    with np.errstate(invalid="ignore"):
        x = x.astype(source.dtype)
    found, want = cast(TF32, x, source, width, DeviceLimits()), rounded(x, TF32)
    assert same(found, want).all() and not (found.view(np.uint32) & 0x1FFF).any()
    assert same(cast(F32, found, TF32, width, DeviceLimits()), want).all()


@everywhere
@pytest.mark.parametrize("width", [1, 4])
@of_both
def test_f64s_are_rounded_once(t: Scalar, width: int, limits: DeviceLimits) -> None:
    """The last f64 below a tie is an f32 that is one: rounded twice, it would go wrong."""
    ties, numbers = between(t)[1:-1], finite(t)
    x = np.concatenate([np.nextafter(ties, -np.inf), np.nextafter(ties, np.inf)])
    want = np.concatenate([numbers[:-1], numbers[1:]])
    size = x.size // 4 * 4
    assert (cast(t, x[:size], F64, width, limits).astype(np.float64) == want[:size]).all()
    assert (rounded(x, t).astype(np.float64) == want).all()


@of_both
def test_numbers_copied_keep_every_bit(t: Scalar) -> None:
    for width in (1, 16):
        rows = p.Split(width, p.Input("x", Array(1 << 16, t)))
        body: Callable[[Any], Any] = lambda row, w=width: fmap(lambda v: v, row, "vec" if w > 1 else None)  # type: ignore[misc]  # noqa: E731
        plan = compile_term(p.Join(fmap(body, rows, "global")))
        (found,) = run(plan, {"x": all_of(t)})
        assert "float" not in plan.source and found.tobytes() == all_of(t).tobytes()


@of_both
def test_the_interpreter_rounds_as_numpy_does(t: Scalar) -> None:
    x = around(t)
    with np.errstate(all="ignore"):
        assert same(rounded(x, t), x.astype(t.dtype)).all()
    assert rounded(x, t).dtype == np.float32
    assert same(rounded(all_of(t), t), all_of(t)).all()


@of_both
@pytest.mark.parametrize("source", [I32, I64], ids=str)
def test_integers_go_through_f32(t: Scalar, source: Scalar) -> None:
    rng = np.random.default_rng(3)
    x = (rng.integers(-(1 << 20), 1 << 20, 4096) << rng.integers(0, 12, 4096)).astype(source.dtype)
    with np.errstate(over="ignore"):
        want = x.astype(np.float32).astype(t.dtype)
    assert same(cast(t, x, source, 1, DeviceLimits()), want).all()
    assert same(cast(t, x, source, 8, DeviceLimits()), want).all()
    assert same(rounded(x, t), want).all()
