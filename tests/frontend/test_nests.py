"""Loop nests of C compute what gcc makes of them, and are as good as programs written by hand."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.cli import check
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.stage_text import text_of
from tests.deep import sampled
from tests.frontend.against_gcc import differ
from tests.frontend.random_nests import N, random_function

pytestmark = pytest.mark.short

NESTS = Path(__file__).parent / "nests"
SIZES: dict[str, dict[str, int]] = {
    # Jepsen's programs
    "product": {"hA": 6, "wA": 5, "wB": 7},
    "jacobi": {"n": 9},
    "nbody": {"N": 9},
    "laplace": {"storagesize": 7, "dim": 3},
    "squared_distances": {"NTEST": 5, "NTRAIN": 7, "dim": 3},
    "gaussian_kernel": {"n": 6, "m": 5},
    # linear algebra and stencils, as PolyBench has them
    "gemm": {"ni": 6, "nj": 5, "nk": 7},
    "two_products": {"ni": 6, "nj": 5, "nk": 7, "nl": 4},
    "atax": {"m": 6, "n": 5},
    "bicg": {"m": 6, "n": 5},
    "mvt": {"n": 6},
    "gesummv": {"n": 6},
    "syrk": {"n": 6, "m": 5},
    "syr2k": {"n": 6, "m": 5},
    "jacobi_1d": {"tsteps": 4, "n": 12},
    "jacobi_2d": {"tsteps": 3, "n": 8},
    "doitgen": {"nr": 3, "nq": 4, "np": 5},
    "covariance": {"m": 6, "n": 5},
    "correlation": {"m": 5, "n": 6},
    "fdtd_2d": {"tmax": 3, "nx": 5, "ny": 6},
    "heat_3d": {"tsteps": 2, "n": 5},
    "three_products": {"ni": 3, "nj": 4, "nk": 5, "nl": 6, "nm": 7},
    "trmm": {"m": 4, "n": 5},
    "symm": {"m": 4, "n": 5},
    "gemver": {"n": 5},
}


def program(name: str, **sizes: Any) -> Any:
    return el.as_program(el.from_c(NESTS / f"{name}.c", sizes=sizes))


@pytest.mark.parametrize("name", SIZES)
def test_a_nest_computes_what_gcc_makes_of_it(name: str) -> None:
    differ((NESTS / f"{name}.c").read_text(), name, SIZES[name])


REFUSED = {
    "seidel_2d": (
        r"seidel_2d.c:8:\d+: A\[i - 1\]\[j - 1\] reads what A\[i\]\[j\] \(.*seidel_2d.c:8:17\) wrote at an earlier "
        r"iteration of i: .*; write them so that each reads what no other iteration writes"
    ),
    "lu": r"lu.c:8:\d+: A\[i\]\[k\] reads what A\[i\]\[j\] .* wrote at an earlier iteration of j: ",
    "floyd_warshall": r"floyd_warshall.c:5:\d+: path\[i\]\[k\] reads what path\[i\]\[j\] .* earlier iteration of j: ",
    "durbin": r"durbin.c:14:\d+: z\[i\] reads what z\[i\] .* wrote at an earlier iteration of k: ",
    "gramschmidt": r"gramschmidt.c:\d+:\d+: .* reads what .* wrote at an earlier iteration of k: ",
    "cholesky": r"cholesky.c:9:\d+: A\[i\]\[k\] reads what A\[i\]\[j\] .* wrote at an earlier iteration of j: ",
}


@pytest.mark.parametrize("name", REFUSED)
def test_iterations_that_need_each_other_are_refused(name: str) -> None:
    with pytest.raises(el.ProgramError, match=REFUSED[name]):
        program(name, n=6, m=5, tsteps=2)


def is_taken(seed: int) -> bool:
    """Is a random nest a program, which is then right?"""
    text = random_function(Random(seed))
    k = np.random.default_rng(seed).integers(0, N, N).astype(np.int32)
    try:
        differ(text, "f", {}, seed=seed, tolerance=1e-9, k=k)
    except el.ProgramError as error:
        assert type(error) is el.ProgramError, text  # no error of a pattern that was built wrongly
        return False
    return True


@pytest.mark.parametrize("seeds", sampled((range(30), range(30, 200)), lambda seeds: seeds.start == 0), ids=str)
def test_random_nests_are_refused_or_right(seeds: range) -> None:
    assert sum(map(is_taken, seeds)) >= len(seeds) / 5


# ---------------------------------------------------------------------------------------- as good as by hand

A, B = el.array("A", el.f32, (64, 80)), el.array("B", el.f32, (80, 48))
X, Y = el.array("test_patterns", el.f32, (64, 8)), el.array("train_patterns", el.f32, (48, 8))


def test_the_product_is_the_program_written_by_hand() -> None:
    assert program("product", hA=64, wA=80, wB=48) is el.as_program(A @ B)


def stages(e: Any) -> list[str]:
    found = stages_of(e)
    return [text_of(s) for s in found.stages]


def test_distances_have_the_stages_written_by_hand() -> None:
    def squared(p: Any, q: Any) -> Any:
        return el.reduce(el.add, 0.0, el.map(lambda a, b: (b - a) * (b - a), p, q))

    by_hand = el.as_program(el.allpairs(squared, Y, X))
    assert stages(program("squared_distances", NTEST=64, NTRAIN=48, dim=8)) == stages(by_hand)


def test_a_product_with_factors_is_one_stage() -> None:
    (text,) = stages(program("gemm", ni=64, nj=48, nk=80))
    assert text.count("for ") == 1, text


def test_sums_that_share_work_are_one_reduction() -> None:
    (stage,) = stages_of(program("gaussian_kernel", n=64, m=48)).stages
    assert len(stage.reductions) == 1
    assert len(stages_of(program("nbody", N=64)).stages) == 1  # which writes the two rows of the result, too


def test_sums_that_share_nothing_stay_apart() -> None:
    assert "together" in el.pretty(program("nbody", N=64))
    assert "together" not in el.pretty(program("gesummv", n=64))


def test_neighbours_are_windows() -> None:
    grid = program("jacobi_2d", n=64, tsteps=4)
    assert "(slide 3 1" in el.pretty(grid)
    assert "gather" not in el.pretty(grid)
    assert "(iterate" in el.pretty(grid)


@pytest.mark.parametrize("name", sampled(SIZES, lambda name: name in ("gemm", "jacobi_1d")))
def test_a_nest_is_optimised_and_right_on_a_device(name: str) -> None:
    kernel = el.optimize(program(name, **SIZES[name]), "pocl", measure="none", cache=False)
    assert check(kernel) is None
