"""Scans from the notation to the device: NumPy's results for all types and lengths, and what their kernels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.ir.types import SCALARS, Scalar
from tests.ir.test_scanning import ACCUMULATIONS, some

pytestmark = pytest.mark.short

#: around what a vector, a cache line, a chunk has; primes
LENGTHS = (0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 509, 511, 512, 513, 1024, 1031, 2048, 4099)
#: PoCL's device computes in these
TYPES = [t for t in SCALARS.values() if t.name != "f16"]
ACCUMULATED = [(name, t) for name in ACCUMULATIONS for t in TYPES if name != "product"]


def chosen(program: Any) -> el.Kernel:
    """The model's choice, unmeasured."""
    return el.optimize(program, "pocl", measure="none", cache=False)


def agree(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


def agrees(name: str, t: Scalar, n: int) -> None:
    ours, numpys = ACCUMULATIONS[name]
    a = some(t, n)
    agree(chosen(ours(el.array("a", t, n), 0))(a), numpys(a, 0))


@pytest.mark.parametrize(
    ("case", "n"), [(("sum", el.f32), 4099), (("sum", el.i8), 1031), (("maximum", el.bool_), 513)], ids=str
)
def test_vectors_of_some_types_and_lengths(case: tuple[str, Scalar], n: int) -> None:
    agrees(*case, n)


@pytest.mark.deep
@settings(max_examples=20)
@given(st.sampled_from(ACCUMULATED), st.sampled_from(LENGTHS))
def test_vectors_of_every_type_and_length(case: tuple[str, Scalar], n: int) -> None:
    agrees(*case, n)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_axis_of_an_array(axis: int) -> None:
    a = some(el.f32, 5, 33, 18)
    agree(chosen(el.cumsum(el.array("a", el.f32, a.shape), axis))(a), np.cumsum(a, axis))


N = 3000
X, Y = el.array("x", el.f32, N), el.array("y", el.f32, N)
FLAGS = el.array("flags", el.bool_, N)
WITH_MORE: dict[str, tuple[Callable[[], Any], Callable[[Any, Any, Any], Any]]] = {
    "before and behind": (lambda: el.cumsum(X * X) / (Y + 9), lambda x, y, f: np.cumsum(x * x) / (y + 9)),
    "a scan of a scan": (lambda: el.cumsum(el.cummax(X)), lambda x, y, f: np.cumsum(np.maximum.accumulate(x))),
    "two scans": (lambda: el.cumsum(X) - el.cumsum(Y), lambda x, y, f: np.cumsum(x) - np.cumsum(y)),
    "backwards": (
        lambda: el.scan(el.maximum, None, X, reverse=True),
        lambda x, y, f: np.maximum.accumulate(x[::-1])[::-1],
    ),
    "its sum as well": (lambda: el.cumsum(X) / el.sum(X * X), lambda x, y, f: np.cumsum(x) / np.sum(x * x)),
    "a part of it": (lambda: el.cumsum(X)[10:200:3], lambda x, y, f: np.cumsum(x)[10:200:3]),
    "two results": (lambda: el.cumsum(X).sum(), lambda x, y, f: np.cumsum(x).sum()),
    "segments": (lambda: el.segmented_scan(el.add, 0, FLAGS, X), lambda x, y, f: segments(x, f)),
}


def segments(x: Any, flags: Any) -> Any:
    """Sums that begin anew where there is a flag."""
    found, total = np.empty_like(x), np.float32(0)
    for i, (v, flag) in enumerate(zip(x, flags, strict=True)):
        total = v if flag else total + v
        found[i] = total
    return found


@pytest.mark.parametrize("name", WITH_MORE)
def test_scans_within_programs(name: str) -> None:
    program, numpys = WITH_MORE[name]
    rng = np.random.default_rng(1)
    given = {"x": some(el.f32, N), "y": some(el.f32, N)[::-1].copy(), "flags": rng.random(N) < 0.01}
    kernel = chosen(program())
    found = kernel(**{k: given[k] for k in kernel.inputs})
    agree(np.asarray(found), np.asarray(numpys(given["x"], given["y"], given["flags"])))


def test_a_chosen_scan_is_checked_and_measured() -> None:
    kernel = el.optimize(el.cumsum(el.array("x", el.f32, 1 << 14)), "pocl", measurements=3, cache=False)
    assert kernel.candidates[0].status == "ok"
    assert "scanSeq" in kernel.source


def test_an_explanation_says_how_a_scan_is_computed() -> None:
    text = str(chosen(el.cumsum(el.array("x", el.f32, 1 << 15))).explain())
    assert "carries[0 < " in text and "(add up to 0 from 0.0 of " in text


def test_the_laws_alone_find_a_scan_in_chunks() -> None:
    from egglift.costmodel.profiles.profile import presets
    from egglift.options import Laws
    from egglift.search import equal_programs

    cpu = presets()["pocl_cpu"]
    best, *_ = equal_programs(el.cumsum(el.array("x", el.f32, 1 << 20)).expr, cpu, cpu.limits, Laws(True, ()))
    assert len(best.plan.kernels) > 2
    a = some(el.f32, 1 << 20)
    agree(el.interpret(best.term, x=a), np.cumsum(a, dtype="f8").astype("f4"))
