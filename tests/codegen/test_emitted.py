"""What one group does with the results of all groups, the last of these does in the same launch."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.device.execute import build
from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import host_program
from egglift.codegen.kernel.donation import donations
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.model.estimate import estimate, in_turn, joins
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr, Level
from egglift.ir.signature import inputs_of
from egglift.ir.types import F32, Type, leaves
from tests.codegen.export.c_compiler import results
from tests.codegen.low import add_of, flat, fmap, lit, meaning, op, total, vector
from tests.codegen.test_samples import agree
from tests.harness import run

ABLE = DeviceLimits(branch_barriers=True, device_fence=True)
UNABLE = replace(ABLE, device_fence=False)


def sums(x: Expr, lanes: bool = True) -> Expr:
    """Of each row, by a group: its squares in local memory, which its first item adds up."""
    square = (lambda v: op("mul", v, v)) if lanes else (lambda v: v)

    def of_row(row: Expr) -> Expr:
        return total(p.To("local", fmap(square, row, "local"))) if lanes else total(row)

    return p.To("global", fmap(of_row, x, "workgroup"))


def tree(x: Expr) -> Expr:
    """The sum of an array by one group together."""
    return p.Tree(add_of(), lit(0.0), p.To("local", fmap(lambda v: v, x, "local")))


X = vector("x", 12, 40)
PROGRAMS: dict[str, Expr] = {
    "a sum by one item": total(sums(X)),
    "a sum by a group": tree(sums(X)),
    "more items than those of the kernel": tree(sums(vector("x", 150, 16))),
    "a sum of sums": total(p.To("global", fmap(lambda v: op("mul", v, v), sums(X), "local"))),
    "two results": p.Tup((total(sums(X)), total(sums(vector("y", 5, 16))))),
    "two readers of one result": p.Tup((p.To("global", tree(sums(X))), p.To("global", total(sums(X))))),
}


def given_of(term: Expr) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {n: rng.integers(-3, 4, [int(d) for d in shape_of(t)]).astype("f4") for n, t in inputs_of(term).items()}


def shape_of(t: Type) -> list[int]:
    ((shape, _),) = leaves(t)
    return list(map(int, shape))


def planned(term: Expr, limits: DeviceLimits = ABLE, launch: Launch = Launch(64)) -> Plan:
    return compile_term(term, launch, limits)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_group_computes_what_a_kernel_would(name: str) -> None:
    term = PROGRAMS[name]
    given, plan = given_of(term), planned(term)
    assert len(plan.steps) < len(planned(term, UNABLE).steps), plan.source
    for _ in range(3):
        for e, a in zip(meaning(term, **given), run(plan, given), strict=True):
            np.testing.assert_array_equal(a, np.ravel(e), plan.source)


@pytest.mark.parametrize("name", ["a sum by a group", "two results"])
def test_groups_are_counted_anew_in_each_call(name: str) -> None:
    term = PROGRAMS[name]
    given, device = given_of(term), open_device("pocl")
    executable = build(device, planned(term))
    for call in range(3):
        found = executable.run({n: [a] for n, a in given.items()}, poison=call != 1)
        for e, a in zip(meaning(term, **given), found, strict=True):
            np.testing.assert_array_equal(a, np.ravel(e))


def test_a_group_that_learns_of_others_results_reads_them_anew() -> None:
    source = planned(PROGRAMS["a sum by a group"]).source
    assert "global float* tmp0" in source and "const global float* restrict x" in source
    assert source.index("tmp0[w0] =") < source.index("atomic_inc(&done0[0]) == 11") < source.index("done0[0] = 0;")


def test_all_kernels_of_a_plan_count_in_one_place() -> None:
    plan = planned(PROGRAMS["two results"])
    assert [b.name for b in plan.temporaries if b.zeroed] == ["done0"] and len(plan.kernels) == 2


@pytest.mark.parametrize(
    ("term", "limits", "launch"),
    [
        (tree(sums(X)), UNABLE, Launch(64)),
        (total(sums(X, lanes=False)), ABLE, Launch(64)),
        (fmap(lambda v: v, sums(vector("x", 300, 40)), "global"), ABLE, Launch(64)),
        (tree(sums(vector("x", 4096, 40))), ABLE, Launch(1024)),
    ],
    ids=["no fence", "groups of one item", "more than one group", "much local memory"],
)
def test_other_kernels_are_launched_alone(term: Expr, limits: DeviceLimits, launch: Launch) -> None:
    plan = planned(term, limits, launch)
    assert len(plan.steps) == 2 and not any(b.zeroed for b in plan.temporaries), plan.source


def test_a_step_of_an_iteration_goes_on_within_itself() -> None:
    state = p.Input("step_state_0_0", type_of(vector("x", 300)))
    whole = p.To("global", tree(sums(p.Split(20, state))))
    step = fmap(lambda v: op("sub", v, op("mul", lit(0.25), whole)), state, "global")
    term = p.Iterate(3, step, vector("x", 300))
    given, plan = {"x": np.ones(300, "f4")}, planned(term)
    assert len(plan.steps) == 6 and len(plan.kernels) == 2, plan.source
    for e, a in zip(meaning(term, **given), run(plan, given), strict=True):
        np.testing.assert_array_equal(a, np.ravel(e), plan.source)


def test_no_step_is_gone_on_with_by_what_is_before_it() -> None:
    state = p.Input("step_state_0_0", type_of(vector("x", 9)))
    step = p.Map(op("add", p.Arg(F32), lit(1.0)), p.To("global", fmap(lambda v: v, state, "local")), Level("global", 0))
    term = p.Iterate(3, step, sums(vector("x", 9, 16)))
    given, plan = given_of(term), planned(term)
    assert plan.kernels[0].last is None and len({k for k, _ in plan.steps[1:]}) == len(plan.kernels) - 1, plan.source
    for e, a in zip(meaning(term, **given), run(plan, given), strict=True):
        np.testing.assert_array_equal(a, np.ravel(e), plan.source)


def test_an_input_that_all_groups_read_is_not_given_up() -> None:
    term = fmap(lambda v: op("add", v, total(sums(p.Split(16, vector("x", 64))))), vector("x", 64), "local")
    plan = planned(term)
    assert len(plan.steps) == 1 and donations(plan) == {}


def test_exported_programs_count_anew_in_each_call(tmp_path: Path) -> None:
    term = PROGRAMS["a sum by a group"]
    made = host_program("sample", planned(term), inputs_of(term), type_of(term))
    given = given_of(term)
    wanted = meaning(term, **given)
    write_folder(tmp_path / "c", texts(made, "c99"))
    agree(wanted, results(tmp_path / "c", "sample", flat(given["x"]), [(w.size, w.dtype) for w in wanted]))
    write_folder(tmp_path / "python", texts(made, "python"))
    np.save(tmp_path / "x.npy", given["x"])
    script = "import numpy as np; from sample import Program; p = Program(); x = np.load('../x.npy'); print(p(x), p(x))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path / "python", capture_output=True, text=True)
    assert done.stdout.split() == [str(float(wanted[0].item()))] * 2, done.stderr


def test_one_launch_less_is_priced_so() -> None:
    profile = presets()["nvidia_h200"]
    one, two = (estimate(planned(tree(sums(X)), limits), profile) for limits in (ABLE, UNABLE))
    assert joins(profile) > 0 and len(one.kernels) == 1 and len(two.kernels) == 2
    assert one.seconds == pytest.approx(two.seconds - joins(profile), rel=0.05)
    assert in_turn([two]).seconds == pytest.approx(one.seconds, rel=0.05) and len(in_turn([two]).kernels) == 1


def test_where_groups_cannot_tell_each_other_nothing_is_saved() -> None:
    assert joins(presets()["pocl_cpu"]) == 0.0
