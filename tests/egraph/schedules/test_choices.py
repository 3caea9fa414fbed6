"""Whole programs put together from schedules of their stages."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.choices import scheduled
from egglift.ir.lifting import as_program
from egglift.ir.types import Scalar
from tests.egraph.staged import exact_inputs, same
from tests.egraph.stages.programs import PROGRAMS, add_up, arr, dot


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("product of 7 5 33", "nvidia_h200"),
        ("softmax of rows", "pocl_cpu"),
        ("tuple of sums", "pocl_cpu"),
        ("sum and place of a row", "pocl_cpu"),
    ],
)
def test_chosen_programs_mean_what_was_given(name: str, profile: str) -> None:
    program = as_program(PROGRAMS[name]())
    found = scheduled(program, presets()[profile], DeviceLimits(), True)
    assert found
    assert [c.seconds for c in found] == sorted(c.seconds for c in found)
    for choice in found:
        assert same(program, choice.term, exact_inputs(program), 1e-4), choice.sign


def test_a_long_sum_is_shared_by_two_kernels() -> None:
    program = as_program(add_up(arr("x", 1 << 16)))
    found = scheduled(program, presets()["nvidia_h200"], DeviceLimits(), True)
    parts = Counter("parts" in c.sign for c in found)
    assert parts[True]
    assert same(program, found[0].term, exact_inputs(program), 1e-4)


def test_what_has_no_stages_has_no_choices() -> None:
    program = as_program(el.iterate(2, lambda v: v.map(lambda e: e * 2), arr("x", 7)))
    assert scheduled(program, presets()["pocl_cpu"], DeviceLimits(), True) == []


@pytest.mark.parametrize("scalar", [el.f32, el.f64], ids=["f32", "f64"])
def test_blocks_of_a_product_fill_registers(scalar: Scalar) -> None:
    """Rows of 2 or 3 registers, as many of what is packed and one of the rows: 15 or all of a CPU's 16."""
    a, b = (el.array(name, scalar, (512, 512)) for name in "ab")
    profile = replace(presets()["pocl_cpu"], simd_bytes=32)
    best = scheduled(as_program(a @ b), profile, DeviceLimits(compute_units=2), True)[0]
    sizes = dict(best.sizes)
    wide = sizes["n1"] * scalar.size // profile.simd_bytes
    assert best.sign == "tile 01 packed" and sizes["m0"] * wide + wide + 1 in (15, 16)


@pytest.mark.parametrize("weighted", [False, True], ids=["sums", "products"])
def test_sums_of_columns_go_through_rows(weighted: bool) -> None:
    """Several rows at a time, from one end to the other: a CPU reads what lies together."""
    a, x = arr("A", 2048, 2048), arr("x", 2048)
    columns = a.T.map(lambda c: dot(c, x) if weighted else add_up(c))
    best = scheduled(as_program(columns), presets()["pocl_cpu"], DeviceLimits(compute_units=2), True)[0]
    assert best.sign == "tile 0 swept"
    text = compile_term(best.term, best.launch).source
    assert text.index("mapSeq over") < text.index("mapVec over") < text.rindex("reduceSeq over")


def test_rows_are_packed_where_they_are_columns() -> None:
    """A^T B reads a place in each row of A; of A B, whose rows lie together, no copy is made."""
    a, b = arr("A", 512, 512), arr("B", 512, 512)
    profile = replace(presets()["pocl_cpu"], simd_bytes=32)
    for program, both in ((a.T @ b, True), (a @ b, False)):
        found = scheduled(as_program(program), profile, DeviceLimits(compute_units=2), True)
        signs = [c.sign for c in found[:2]]
        assert ("tile 01 packed both" in signs) == both, signs


def test_a_cpu_stores_what_a_product_needs_again() -> None:
    a, b = arr("A", 256, 128), arr("B", 128, 256)
    program = as_program(a.map(lambda row: row.map(el.exp)) @ b)
    cpu, gpu = (
        scheduled(program, presets()[name], DeviceLimits(compute_units=2), True)[0].sign
        for name in ("pocl_cpu", "nvidia_h200")
    )
    assert " | " in cpu and " | " not in gpu


def test_a_gpu_may_write_what_many_tiles_would_compute() -> None:
    """exp(A) B: as A is for 16 tiles of columns, in a stage before; not for one."""
    for columns, stages in ((2048, 2), (64, 1)):
        program = as_program(el.exp(arr("A", 2048, 1024)) @ arr("B", 1024, columns))
        found = scheduled(program, presets()["nvidia_h200"], presets()["nvidia_h200"].limits, True)
        assert len(found[0].sign.split(" | ")) == stages


def test_what_lays_out_results_is_part_of_the_estimate() -> None:
    """Work-items that compute several results write tuples, which another kernel takes apart."""
    x, y = arr("x", 4096), arr("y", 4096)
    gpu = presets()["nvidia_h200"]
    found = scheduled(as_program((x + y, x * y, x.sum())), gpu, gpu.limits, reassociate=True)
    for choice in found[:3]:
        exact = estimate(compile_term(choice.term, choice.launch, gpu.limits), gpu)
        assert len(exact.kernels) == len(choice.estimate.kernels)
        assert exact.seconds == pytest.approx(choice.seconds, rel=0.1)  # who goes on is as many as were launched


@pytest.mark.parametrize(("rows", "parts"), [(576, True), (16384, False)])
def test_sums_of_products_with_few_tiles_are_shared_out(rows: int, parts: bool) -> None:
    program = as_program(arr("A", rows, 4096) @ arr("B", 4096, 4096))
    gpu = presets()["nvidia_h200"]
    best = scheduled(program, gpu, gpu.limits, True)[0].sign
    assert (" parts " in best) == parts, best


def test_results_laid_out_anew_have_the_price_of_the_program() -> None:
    x, gpu = arr("x", 2048, 2048), presets()["nvidia_h200"]
    program = as_program(el.stack([x + k * x * x for k in range(9)]))
    for c in scheduled(program, gpu, gpu.limits, True)[:3]:
        plan = compile_term(c.term, c.launch, gpu.limits)
        assert estimate(plan, gpu).seconds == pytest.approx(c.seconds, rel=0.05)
