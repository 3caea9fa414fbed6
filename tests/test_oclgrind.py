"""The race detector detects: a kernel that is right runs clean, and each way of breaking it is reported."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.types import BOOL, F32, Scalar
from tests.oclgrind import Report, examine

GROUP, GROUPS = 16, 4
N = GROUP * GROUPS
X = np.arange(N, dtype=np.float32)
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
#: the sum of each group's 16 numbers, by halving
SUM = """kernel void sum(global const float *x, global float *y) {
  local float t[16];
  const int l = get_local_id(0);
  t[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 8; s > 0; s /= 2) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) y[get_group_id(0)] = t[0];
}
"""


def plan(source: str, out: int = GROUPS, scalar: Scalar = F32) -> Plan:
    x, y = Buffer("x", "global", F32, N), Buffer("y", "global", scalar, out)
    kernel = PlannedKernel("sum", source, (x, y), (N,), (GROUP,), ())
    return Plan((kernel,), {"x": (x,)}, (), (y,), ((0, (x, y)),))


def report(source: str) -> Report:
    (found,) = examine([(plan(source), {"x": [X]})])
    return found


def broken(old: str, new: str) -> Report:
    assert old in SUM
    return report(SUM.replace(old, new, 1))


def test_a_right_kernel_runs_clean_and_computes() -> None:
    found = report(SUM)
    assert found.clean, str(found)
    np.testing.assert_array_equal(found.outputs[0], X.reshape(GROUPS, GROUP).sum(1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (BARRIER, "", "data race at local memory"),
        (f"s];\n    {BARRIER}", "s];", "data race at local memory"),
        ("t[l + s]", "t[l + 2 * s]", "Invalid read"),
        ("y[get_group_id(0)]", "y[get_group_id(0) + 1]", "Invalid write"),
        ("if (l == 0) y[get_group_id(0)]", "y[get_group_id(0)]", "race at global memory"),
        ("if (l == 0) y[get_group_id(0)] = t[0]", "y[get_group_id(0)] = l", "race at global memory"),
        (
            f"if (l < s) t[l] += t[l + s];\n    {BARRIER}",
            f"if (l < s) {{ t[l] += t[l + s]; {BARRIER} }}",
            "divergence",
        ),
    ],
    ids=[
        "no barrier",
        "no barrier in the loop",
        "out of local",
        "out of global",
        "all write the same",
        "all write",
        "divergent barrier",
    ],
)
def test_a_kernel_broken_on_purpose_is_reported(old: str, new: str, message: str) -> None:
    found = broken(old, new)
    assert not found.clean
    assert any(message in m for m in found.messages), str(found)


def test_what_does_not_compile_is_a_crash_and_the_rest_runs() -> None:
    bad, good = plan("kernel void sum(global const float *x, global float *y) { nonsense; }"), plan(SUM)
    first, second = examine([(bad, {"x": [X]}), (good, {"x": [X]})])
    assert first.crash
    assert second.clean, str(second)


def test_what_is_not_written_stays_poisoned() -> None:
    half = SUM.replace("l == 0", "l == 0 && get_group_id(0) > 1")
    assert np.isnan(report(half).outputs[0]).tolist() == [True, True, False, False]
    source = "kernel void sum(global const float *x, global uchar *y) { if (get_global_id(0) == 1) y[1] = 1; }"
    (found,) = examine([(plan(source, 2, BOOL), {"x": [X]})])
    assert found.outputs[0].tolist() == [0xAA, 1]


def test_many_reports_of_one_plan_do_not_silence_the_next_ones() -> None:
    wild = SUM.replace(BARRIER, "for (int i = 0; i < 100; ++i) y[1000 + i] = i;", 1)
    reports = examine([(plan(wild), {"x": [X]}), (plan(SUM), {"x": [X]}), (plan(SUM.replace(BARRIER, "")), {"x": [X]})])
    assert len(reports[0].messages) > 1000
    assert reports[1].clean, str(reports[1])
    assert not reports[2].clean
