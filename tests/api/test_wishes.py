"""The user in control: laws that are required, sizes of tiles, shapes of groups, other candidates, constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.cli import check, main

pytestmark = pytest.mark.short

A, B = el.array("A", el.f32, (64, 80)), el.array("B", el.f32, (80, 48))
X = el.array("x", el.f32, 4096)


def optimized(e: Any, **wishes: Any) -> Any:
    return el.optimize(e, "pocl", measure="none", cache=False, **wishes)


def test_a_required_law_is_needed_by_all_candidates() -> None:
    kernel = optimized(A @ B, require=["to-local"])
    assert all("local float" in c.plan.source for c in kernel.candidates)
    assert "local float" not in optimized(A @ B).source
    assert check(kernel) is None


def test_a_law_that_does_not_apply_is_named() -> None:
    with pytest.raises(el.ArgumentError, match="no candidate needs the law slide-tiling"):
        optimized(X.reduce(el.add, 0.0), require=["slide-tiling"])
    with pytest.raises(el.RuleError, match="no law 'nonsense'"):
        optimized(X.reduce(el.add, 0.0), require=["nonsense"])


def test_sizes_of_tiles_are_as_given() -> None:
    kernel = optimized(A @ B, sizes={"m0": 8})
    assert {c.parameters["m0"] for c in kernel.candidates} == {8}
    assert check(kernel) is None
    with pytest.raises(el.ArgumentError, match=r"no candidate has tiles of=\{'z9': 4\}; there are "):
        optimized(A @ B, sizes={"z9": 4})


def test_a_group_has_the_shape_that_is_given() -> None:
    kernel = optimized(X.map(lambda v: v * 2), group_size=32, without=["schedules"])
    assert {n for k in kernel.kernels for n in [int(np.prod(k.local_size))]} == {32}
    assert check(kernel) is None
    with pytest.raises(el.ArgumentError, match=r"no candidate has group_size=\(7, 3\); there are \("):
        optimized(A @ B, group_size=(7, 3))


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_grid_has_as_many_dimensions_as_wished(parallel: int) -> None:
    kernel = optimized(A @ B, parallel=parallel)
    assert max(sum(n > 1 for n in k.global_size) for k in kernel.kernels) == parallel
    assert check(kernel) is None


def test_no_more_candidates_than_wished_are_looked_at() -> None:
    assert len(optimized(A @ B, candidates=2).candidates) == 2


WRONG: list[dict[str, Any]] = [{"require": "deal"}, {"sizes": {"m0": 1.5}}, {"parallel": 4}, {"candidates": 0}]


@pytest.mark.parametrize("wish", [*WRONG, {"group_size": 0}], ids=str)
def test_wishes_without_a_meaning_are_refused(wish: Any) -> None:
    with pytest.raises(el.ArgumentError, match=f"{next(iter(wish))} "):
        optimized(X, **wish)


def test_wishes_are_for_programs_whose_lengths_are_numbers() -> None:
    with pytest.raises(el.ArgumentError, match="are for programs whose lengths are numbers"):
        optimized(el.array("x", el.f32, el.size("n")).reduce(el.add, 0.0), candidates=2)


def test_another_candidate_is_used() -> None:
    kernel = optimized(A @ B, candidates=8)
    for i in (1, len(kernel.candidates) - 1):
        other = kernel.use(i)
        assert other.chosen.term == kernel.candidates[i].term
        assert other.source != kernel.source
        assert check(other) is None
    with pytest.raises(el.ArgumentError, match="there is no candidate 99"):
        kernel.use(99)


def test_a_number_becomes_a_constant_of_the_source(tmp_path: Path) -> None:
    alpha, n = el.scalar("alpha", el.f32), el.scalar("n", el.i32)
    kernel = optimized(X.map(lambda v: alpha * v + n))
    fixed = kernel.with_constants(alpha=2.5)
    x = np.arange(4096, dtype=np.float32)
    assert fixed.inputs == ("n", "x")
    assert "alpha" not in fixed.source and "2.5f" in fixed.source
    np.testing.assert_array_equal(fixed(n=3, x=x), 2.5 * x + 3)
    np.testing.assert_array_equal(kernel(alpha=2.5, n=3, x=x), fixed(n=3, x=x))
    fixed.save(tmp_path / "fixed.kernel")
    np.testing.assert_array_equal(el.load(tmp_path / "fixed.kernel", "pocl")(3, x), fixed(3, x))
    for wrong, why in (({"beta": 1}, "beta is no input"), ({"x": 1}, "only numbers become constants")):
        with pytest.raises(el.ArgumentError, match=why):
            kernel.with_constants(**wrong)


def test_the_command_line_takes_wishes(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "p.egglift").write_text(el.dumps(A @ B))
    command = ["optimize", str(tmp_path / "p.egglift"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*command, "--tile", "m0=8", "--parallel", "2", "--candidates", "1"]) == 0
    assert "m0=8" in capsys.readouterr().out
    assert main([*command, "--group-size", "7,3"]) == 2
    assert "no candidate has group_size=(7, 3)" in capsys.readouterr().err
