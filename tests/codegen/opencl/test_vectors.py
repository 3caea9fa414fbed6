"""The text of vector statements."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.ir import patterns as p
from tests.codegen.low import fmap, op
from tests.fuzz.guarded import outputs_of


def doubled(count: int, start: int) -> p.Expr:
    """`x[start::2] + x[start::2]` of an array of so many numbers, 8 of them in a vector."""
    rows = p.Split(8, el.array("x", el.f32, count)[start::2].expr)
    return p.Join(fmap(lambda row: fmap(lambda v: op("add", v, v), row, "vec"), rows, "global"))


@pytest.mark.parametrize(
    ("count", "start", "halves"), [(64, 0, True), (64, 1, True), (63, 0, False), (65, 1, True), (64, 48, True)]
)
def test_every_other_number_is_half_of_two_vectors(count: int, start: int, halves: bool) -> None:
    plan, x = compile_term(doubled(count, start), limits=DeviceLimits()), np.arange(count, dtype="f4")
    assert ((".odd" if start % 2 else ".even") in plan.source) == halves  # none reaches beyond the array
    ((found,),) = outputs_of([(plan, {"x": [x]})])
    np.testing.assert_array_equal(found, 2 * x[start::2])
