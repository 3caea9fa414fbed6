"""Conversions out of range: one meaning, the interpreter's and the kernels', for numbers one by one and in vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.device.execute import build
from egglift.ir import patterns as p
from egglift.ir.promotion import cast as promoted
from egglift.ir.types import SCALARS
from tests.codegen.low import fmap, vector
from tests.deep import every

pytestmark = pytest.mark.short

FLOATS = [el.f16, el.bf16, el.f32, el.f64]
INTEGERS = [t for t in SCALARS.values() if t.is_integer]


def bounds(t: Any) -> tuple[int, int]:
    info = np.iinfo(t.dtype)
    return int(info.min), int(info.max)


def numbers(source: Any, target: Any) -> np.ndarray[Any, Any]:
    """Numbers on both sides of both bounds, and what is no number; as many as vectors want."""
    least, most = bounds(target)
    with np.errstate(all="ignore"):
        edges = np.array([*map(float, (least, most, least - 1, most + 1)), 1e10, -1e10, 3e38, -3e38], source.dtype)
        near = [np.nextafter(edges, source.dtype.type(to)) for to in (-np.inf, np.inf)]
    rest = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.9, -1.9, 100.5, -100.5], source.dtype)
    found = np.concatenate([edges, *near, rest])
    return np.resize(found, 48)


def right(x: Any, target: Any) -> int:
    """In whole numbers of any size."""
    least, most = bounds(target)
    if math.isnan(x):
        return 0
    return (most if x > 0 else least) if math.isinf(x) else min(max(int(x), least), most)


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_floats_saturate_and_nan_is_zero(source: Any, target: Any) -> None:
    x = numbers(source, target)
    want = [right(float(v), target) for v in x]
    assert el.interpret(el.array("x", source, len(x)).cast(target), x=x).tolist() == want
    assert [promoted(p.Literal(float(v), source), target).value for v in x] == want  # type: ignore[attr-defined]


@pytest.mark.parametrize(("source", "target"), every(3, FLOATS, INTEGERS), ids=str)
def test_floats_saturate_in_kernels_too(source: Any, target: Any) -> None:
    x = numbers(source, target)
    e = el.array("x", source, len(x)).cast(target)
    assert el.optimize(e, "pocl", measure="none", cache=False)(x).tolist() == [right(float(v), target) for v in x]


@pytest.mark.parametrize(("source", "target", "width"), every(3, (el.f32, el.f64), INTEGERS, (2, 8, 16)), ids=str)
def test_vectors_saturate_as_numbers_do(source: Any, target: Any, width: int) -> None:
    x = numbers(source, target)
    rows = p.Split(width, vector("x", 48, t=source))
    plan = compile_term(fmap(lambda row: fmap(lambda v: p.Cast(target, v), row, "vec"), rows, "global"))
    assert f"cast_{source}_{target}x{width}(" in plan.source
    (got,) = build(open_device("pocl"), plan).run({"x": [x]})
    assert got.tolist() == [right(float(v), target) for v in x]


@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_integers_wrap_around(target: Any) -> None:
    x = np.array([-1, 2**31 + 5, -(2**40) - 3, 300, 2**63 - 1], np.int64)
    e = el.array("x", el.i64, 5).cast(target)
    want = x.astype(target.dtype).tolist()
    assert el.interpret(e, x=x).tolist() == want
    assert el.optimize(e, "pocl", measure="none", cache=False)(x).tolist() == want
