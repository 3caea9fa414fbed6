"""What a kernel must not do is found out: each way of breaking a right one is reported."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.errors import WrongResult
from egglift.ir.types import BOOL, F32, Scalar
from tests.fuzz.guarded import NdArray, run_all

COPY = """constant float c0[1] = {0.0f};
float own(float a) { return a + c0[0]; }
kernel void k0(global float *x, global float *y) { const int i = get_global_id(0); y[i] = own(x[i]); }
"""
X = np.arange(7, dtype=np.float32)


def plan(source: str, scalar: Scalar = F32) -> Plan:
    x, y = Buffer("x", "global", F32, 7), Buffer("y", "global", scalar, 7)
    kernel = PlannedKernel("k0", source, (x, y), (7,), (7,), ())
    return Plan((kernel,), {"x": (x,)}, (), (y,), ((0, (x, y)),))


def ran(source: str, scalar: Scalar = F32) -> NdArray | Exception:
    (found,) = run_all(open_device(None), [plan(source, scalar)], {"x": [X]})
    return found[0] if isinstance(found, list) else found


def test_a_right_kernel_is_right_beside_others_of_its_names() -> None:
    doubled = plan(COPY.replace("a + c0[0]", "2 * a + c0[0]"))
    first, second = run_all(open_device(None), [plan(COPY), doubled], {"x": [X]})
    assert isinstance(first, list) and isinstance(second, list)
    np.testing.assert_array_equal(first[0], X)
    np.testing.assert_array_equal(second[0], 2 * X)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("y[i + 1] =", "behind the buffer y"),
        ("y[i - 1] =", "before the buffer y"),
        ("x[i] = 1; y[i] =", "the input x was written"),
        ("x[7 + 10 * i] = 1; y[i] =", "behind the buffer x"),
    ],
)
def test_a_kernel_that_writes_where_it_must_not_is_reported(new: str, message: str) -> None:
    found = ran(COPY.replace("y[i] =", new))
    assert isinstance(found, WrongResult) and message in str(found)


def test_what_is_not_written_shows() -> None:
    found = ran(COPY.replace("y[i] =", "if (i != 3) y[i] ="))
    assert isinstance(found, np.ndarray) and np.isnan(found).tolist() == [i == 3 for i in range(7)]
    unset = ran(COPY.replace("y[i] = own(x[i])", "if (i != 3) ((global uchar*)y)[i] = 1"), BOOL)
    assert isinstance(unset, WrongResult) and "element 3 of the bools y" in str(unset)
