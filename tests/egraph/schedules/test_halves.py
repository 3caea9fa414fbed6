"""Symmetric results by halves, as kernels: right on devices, and chosen where they pay."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.costmodel.measurement.expected_results import flatten
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.egraph.schedules.again import placed
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.schedules.choices import scheduled
from egglift.egraph.schedules.structures import structures
from egglift.egraph.stages.mirrored import mirrored
from egglift.egraph.stages.partition import stages_of
from egglift.egraph.stages.symmetry import symmetric_dims
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError, EggliftError
from egglift.ir.lifting import as_program
from tests.deep import every, sampled
from tests.egraph.staged import exact_inputs, result, sized, whole
from tests.egraph.stages.programs import add_up, arr, dot
from tests.egraph.stages.test_symmetry import covariance
from tests.fuzz.guarded import run_all
from tests.oclgrind import LIMITS, examine

pytestmark = pytest.mark.short

GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]


def rows_of(n: int, k: int) -> Any:
    return arr("X", n, k)


def products(n: int, k: int) -> Any:
    return rows_of(n, k) @ rows_of(n, k).T


def columns(n: int, k: int) -> Any:
    return arr("A", k, n).T @ arr("A", k, n)


def centred(n: int, k: int) -> Any:
    """A covariance matrix of columns."""
    x = arr("X", k, n).T
    rows = el.map(lambda c, m: c.map(lambda v: v - m), x, x.map(lambda c: add_up(c) / k))
    return (rows @ rows.T).map(lambda r: r.map(lambda v: v / (k - 1)))


def rbf(n: int, k: int) -> Any:
    def pair(a: Any, b: Any) -> Any:
        return el.exp(-0.5 * add_up(el.zip(a, b).map(lambda v: (v[0] - v[1]) * (v[0] - v[1]))))

    return el.allpairs(pair, rows_of(n, k), rows_of(n, k))


def scaled(n: int, k: int) -> Any:
    rows = el.zip(rows_of(n, k), arr("d", n))
    return el.allpairs(lambda a, b: dot(a[0], b[0]) * (a[1] * b[1]), rows, rows)


def batch(n: int, k: int) -> Any:
    return arr("A", 3, n, k).map(lambda a: a @ a.T)


SMALL: dict[str, Callable[[], Any]] = {
    "A A^T": lambda: products(12, 9),
    "A A^T, a last block that is shorter": lambda: products(14, 9),
    "A^T A": lambda: columns(13, 7),
    "covariance": covariance,
    "rbf": lambda: rbf(9, 5),
    "scaled": lambda: scaled(10, 6),
    "batch": lambda: batch(7, 5),
    "i32": lambda: arr("I", 11, 5, t=el.i32) @ arr("I", 11, 5, t=el.i32).T,
}


def plans(name: str, kind: str, limits: DeviceLimits, count: int) -> list[Plan]:
    """Kernels of random structures of both halves, in blocks of random sides."""
    rng, program = Random(name + kind), as_program(SMALL[name]())
    stages = stages_of(program)
    last, found = stages.stages[-1], list[Plan]()
    pair = symmetric_dims(last, True)
    assert pair is not None
    for _ in range(8 * count):
        blocks, laid_out = mirrored(last, pair, rng.choice((2, 3, 4)))
        first, second = (rng.choice(list(structures(s, kind, True))) for s in (blocks, laid_out))
        try:
            parts = p.To("global", sized(first, rng))
            term = whole(stages, {last.name: placed(sized(second, rng), {blocks.name: parts})})
            found.append(compile_term(term, Launch(group_size=16), limits))
        except (AssertionError, CodegenError):  # sizes that do not fit, or are too large for a group
            continue
        if len(found) == count:
            break
    assert found
    return found


@pytest.mark.parametrize(("name", "kind"), every(4, SMALL, ("gpu", "cpu")))
def test_kernels_of_halves_compute_the_whole(name: str, kind: str) -> None:
    device, program = open_device("pocl"), as_program(SMALL[name]())
    inputs = exact_inputs(program)
    (expected,) = result(program, inputs)
    made = plans(name, kind, device.limits, 3)
    for plan, actual in zip(made, run_all(device, made, {k: flatten(v) for k, v in inputs.items()}), strict=True):
        assert not isinstance(actual, EggliftError), f"{actual}\n{plan.source}"
        np.testing.assert_allclose(actual[0].reshape(expected.shape), expected, 1e-4, 1e-4, err_msg=plan.source)


@pytest.mark.parametrize("name", ["A A^T, a last block that is shorter", "rbf", "batch"])
def test_kernels_of_halves_have_no_races(name: str) -> None:
    program = as_program(SMALL[name]())
    inputs = exact_inputs(program)
    (expected,) = result(program, inputs)
    made = plans(name, "gpu", LIMITS, 2)
    for plan, report in zip(
        made, examine([(x, {k: flatten(v) for k, v in inputs.items()}) for x in made]), strict=True
    ):
        assert report.clean, f"{report}\n{plan.source}"
        np.testing.assert_allclose(report.outputs[0].reshape(expected.shape), expected, 1e-4, 1e-4)


# ---------------------------------------------------------------------------------------- what is chosen

LARGE: dict[str, tuple[Any, float]] = {
    "A A^T": (lambda: products(2048, 2048), 0.72),
    "A^T A": (lambda: columns(2048, 2048), 0.72),
    "covariance": (lambda: centred(2048, 2048), 0.85),
    "rbf": (lambda: rbf(4096, 256), 0.75),
}


@cache
def choices(name: str) -> list[Choice]:
    return scheduled(as_program(LARGE[name][0]()), GPU, GPU.limits, True)


def is_half(c: Choice) -> bool:
    return "half by" in c.sign


@pytest.mark.parametrize("name", sampled(LARGE, lambda name: name in ("A A^T", "A^T A")))
def test_large_symmetric_results_are_computed_by_halves(name: str) -> None:
    found = choices(name)
    assert is_half(found[0])
    assert found[0].seconds < LARGE[name][1] * min(c.seconds for c in found if not is_half(c))


def test_what_was_done_is_said_in_words() -> None:
    text = choices("A A^T")[0].account.text
    assert text.startswith("stage0 is the same with dimensions 0 and 1 exchanged: 528 of 1024 blocks of 64 x 64 are")
    assert "stage0.blocks[0 < 528, 1 < 64, 2 < 64] = " in text


def test_a_table_is_read_for_a_group_not_for_its_items() -> None:
    """The place of a block depends on the group alone, and blocks have the tiles of a product."""
    best = choices("A A^T")[0]
    source = compile_term(best.term, best.launch, GPU.limits).source
    assert "c0[w2]" in source and "c1[w2]" in source
    assert {"0.m0": 64, "0.n1": 64}.items() <= dict(best.sizes).items() and "local float s1[" in source


UNPROFITABLE: dict[str, tuple[Callable[[], Any], Profile]] = {
    "tall": (lambda: columns(32, 1 << 16), GPU),
    "less tall": (lambda: columns(128, 1 << 14), GPU),
    "A B^T": (lambda: arr("A", 512, 256) @ arr("B", 512, 256).T, GPU),
    "an outer product": (lambda: rows_of(4096, 1) @ rows_of(4096, 1).T, GPU),
    "small on a CPU": (lambda: products(64, 64), CPU),
}


@pytest.mark.parametrize("name", sampled(UNPROFITABLE, lambda name: name not in ("less tall", "A B^T")))
def test_halves_are_not_taken_where_they_do_not_pay(name: str) -> None:
    program, profile = UNPROFITABLE[name]
    found = scheduled(as_program(program()), profile, DeviceLimits() if profile is CPU else profile.limits, True)
    assert found and not is_half(found[0])


def test_a_cpu_computes_halves_too() -> None:
    found = scheduled(as_program(products(512, 512)), CPU, DeviceLimits(compute_units=2), True)
    assert is_half(found[0]) and any(not is_half(c) for c in found)


@pytest.mark.deep
def test_what_is_subtracted_of_rows_is_copied_along_rows() -> None:
    """Neighbours in the array that has both dimensions are read by neighbours, whatever else they read."""
    plain = min(c.seconds for c in choices("A^T A") if not is_half(c))
    assert min(c.seconds for c in choices("covariance") if not is_half(c)) < 1.5 * plain
