"""Work-groups that keep their accumulator in registers, stage operands in local memory and fetch them ahead."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, PlannedKernel
from egglift.codegen.kernel.index import Var, index
from egglift.codegen.kernel.ownership import layout_of
from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from tests.codegen.kernel.test_barriers import without_barriers
from tests.codegen.low import NdArray, fmap, lit, op, vector
from tests.codegen.low_tiles import Tile, nbody, product, with_epilogue, with_tail
from tests.codegen.samples.book import SAMPLES
from tests.harness import compute, run
from tests.oclgrind import LIMITS, examine

GPU = DeviceLimits(group_size=1024, local_bytes=48 << 10, private_bytes=4096, compute_units=132, warp=32)
TILE = Tile(32, 32, 8, 8, 8)


def matrix(m: int, n: int, seed: int = 0) -> NdArray:
    return np.random.default_rng(seed).standard_normal((m, n)).astype(np.float32)


def kernel(term: Expr, limits: DeviceLimits = GPU, launch: Launch = Launch()) -> PlannedKernel:
    (k,) = compile_term(term, launch, limits).kernels
    return k


TILES = {
    "8 x 8 of each": (TILE, (64, 96, 32)),
    "16 x 8 of each": (replace(TILE, r=16, k=16), (64, 64, 32)),
    "padded, prefetched": (replace(TILE, pad=4, prefetch=1), (64, 96, 40)),
    "padded, two buffers": (replace(TILE, pad=4, prefetch=2), (64, 64, 40)),
    "three dimensions": (replace(TILE, n=64, warp=4, pad=4, prefetch=1, square=False), (32, 128, 24)),
    "oblong": (replace(TILE, m=64, n=16, r=4, c=4, k=16, prefetch=2), (128, 48, 48)),
}


@pytest.mark.parametrize("name", TILES)
def test_tiled_products_are_products(name: str) -> None:
    tile, (m, n, k) = TILES[name]
    a, b = matrix(m, k), matrix(k, n, 1)
    result = compute(product(m, n, k, tile), A=a, B=b).reshape(m, n)
    np.testing.assert_allclose(result, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def test_an_epilogue_reads_the_accumulator_where_it_is() -> None:
    a, b, c = matrix(64, 32), matrix(32, 64, 1), matrix(64, 64, 2)
    term = with_epilogue(64, 64, 32, TILE, lambda ab, c: op("add", op("mul", lit(1.5), ab), op("mul", lit(-0.5), c)))
    result = compute(term, A=a, B=b, C=c).reshape(64, 64)
    np.testing.assert_allclose(result, 1.5 * (a.astype(np.float64) @ b) - 0.5 * c, rtol=1e-4, atol=1e-4)
    assert "local float acc" not in kernel(term).source


def test_a_second_fold_goes_on_in_the_same_registers() -> None:
    a, b = matrix(32, 45), matrix(45, 32, 1)
    term = with_tail(32, 32, 45, replace(TILE, prefetch=1))
    result = compute(term, A=a, B=b).reshape(32, 32)
    np.testing.assert_allclose(result, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)
    assert len(re.findall(r"float acc\d+\[", kernel(term).source)) == 1


@pytest.mark.parametrize(("tile", "each", "prefetch"), [(16, 1, 0), (32, 4, 1), (48, 2, 2)])
def test_all_pairs(tile: int, each: int, prefetch: int) -> None:
    n = 96
    x, y, z, m = (matrix(1, n, i)[0] for i in range(4))
    d = [v[None].astype(np.float64) - v[:, None] for v in (x, y, z)]
    s = m * (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.01) ** -1.5
    plan = compile_term(nbody(n, tile, each, prefetch))
    for got, part in zip(run(plan, {"x": x, "y": y, "z": z, "m": m}), d, strict=True):
        np.testing.assert_allclose(got, (s * part).sum(1), rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------------------------------- how the kernels look


def test_a_large_product_has_the_shape_of_a_written_one() -> None:
    k = kernel(product(4096, 4096, 4096, Tile(128, 128, 16, 8, 8, pad=4, prefetch=1)), launch=Launch(64))
    assert k.local_size == (16, 16) and k.global_size == (512, 512)
    assert k.local_bytes == 2 * 16 * (128 + 4) * 4
    assert k.source.count("barrier(") == 2
    assert "float acc0[64]" in k.source and "next" not in k.source
    for access in ("*(const global float4*)&A[", "*(const global float4*)&B[", "*(global float4*)&out["):
        assert access in k.source
    assert k.source.count("*(local float4*)&") == 3  # one fills, two feed the registers; A is transposed
    assert "long" not in k.source


def test_two_buffers_need_one_barrier_for_each_step() -> None:
    counts = {
        prefetch: kernel(product(32, 32, 32, replace(TILE, prefetch=prefetch))).source.count("barrier(")
        for prefetch in (0, 1, 2)
    }
    assert counts == {0: 2, 1: 2, 2: 2}
    before, loop = kernel(product(32, 32, 32, replace(TILE, prefetch=2))).source.split("// prefetch")
    assert (before.count("barrier("), loop.count("barrier(")) == (1, 1)  # one of the two is before the loop


def test_padding_moves_rows_apart_and_nothing_else() -> None:
    plain, padded = (kernel(product(32, 32, 32, replace(TILE, pad=pad))) for pad in (0, 4))
    assert plain.local_bytes == 2 * 8 * 32 * 4 and padded.local_bytes == 2 * 8 * 36 * 4
    a, b = matrix(32, 32), matrix(32, 32, 1)
    term, other = (product(32, 32, 32, replace(TILE, pad=pad)) for pad in (0, 4))
    assert np.array_equal(compute(term, A=a, B=b), compute(other, A=a, B=b))


def test_swizzled_groups_compute_the_same() -> None:
    a, b = matrix(128, 16), matrix(16, 96, 1)
    term = product(128, 96, 16, TILE)
    plain = compute(term, A=a, B=b)
    for rows in (2, 3, 4, 100):
        assert np.array_equal(plain, compute(term, Launch(64, swizzle=rows), A=a, B=b))
    assert compile_term(term, Launch(64, swizzle=4)).source != compile_term(term).source


def test_an_accumulator_that_others_read_stays_in_local_memory() -> None:
    for name in ("an accumulator that moves in a group", "an accumulator that moves in registers"):
        assert "local float acc" in compile_term(SAMPLES[name].term).source
    assert "local float" not in compile_term(SAMPLES["an accumulator of a group"].term).source


def test_each_barrier_of_a_prefetched_product_is_needed() -> None:
    jobs = []
    for prefetch in (1, 2):
        plan = compile_term(product(16, 16, 12, Tile(16, 16, 4, 4, 4, prefetch=prefetch)), limits=LIMITS)
        inputs = {"A": [matrix(16, 12).reshape(-1)], "B": [matrix(12, 16).reshape(-1)]}
        jobs += [(plan, inputs), (without_barriers(plan), inputs)]
    reports = examine(jobs)
    assert reports[0].clean and reports[2].clean
    for broken in (reports[1], reports[3]):
        assert any("race" in message for message in broken.messages)


# ---------------------------------------------------------------------------------------- what cannot be


def test_tiles_with_too_many_work_items_are_rejected() -> None:
    with pytest.raises(CodegenError, match=r"work-groups of 64 x 32 = 2048 work-items, the device allows 1024"):
        kernel(product(128, 128, 8, Tile(128, 64, 8, 4, 1, v=1)))


def test_tiles_that_do_not_fit_into_local_memory_are_rejected() -> None:
    with pytest.raises(CodegenError, match="bytes of local memory, the device has 1024"):
        kernel(product(32, 32, 32, TILE), replace(GPU, local_bytes=1 << 10))


def test_tiles_that_do_not_fit_into_registers_are_rejected() -> None:
    with pytest.raises(CodegenError, match="bytes of private memory, the limit is 128"):
        kernel(product(32, 32, 32, TILE), replace(GPU, private_bytes=128))


def test_a_launch_without_rows_is_rejected() -> None:
    with pytest.raises(CodegenError, match="at least one row"):
        kernel(product(32, 32, 32, TILE), launch=Launch(64, swizzle=0))


def test_an_accumulator_too_large_for_local_memory_is_named() -> None:
    moving = SAMPLES["an accumulator that moves in a group"].term
    with pytest.raises(CodegenError, match=r"reduceSeq.*bytes of local memory"):
        kernel(moving, replace(GPU, local_bytes=64))


def test_prefetching_what_the_accumulator_decides_is_harmless() -> None:
    def prefetched(t: Expr, n: int) -> Expr:
        assert isinstance(t, p.Map) and isinstance(t.body, p.Fold)
        return replace(t, body=replace(t.body, prefetch=n))

    term = SAMPLES["an accumulator that moves in a group"].term
    assert kernel(prefetched(term, 2)).source == kernel(term).source


# ---------------------------------------------------------------------------------------- whose element it is

L0, L1 = Var("l0", 4, "local", 0), Var("l1", 2, "local", 1)
I, J = Var("i", 8, "loop"), Var("j", 2, "loop")
IDS = frozenset({L0, L1})


def test_the_layout_is_read_off_an_index() -> None:
    at = index(I) // 4 * 32 + index(L1) * 16 + index(I) % 4 * 4 + L0
    layout = layout_of(at, 64, IDS)
    assert layout is not None and layout.size == 8
    assert layout.item == index(L1) * 16 + L0
    assert layout.slot(at) == index(I)
    assert layout.slot(layout.item + 36) == index(5)


def test_other_work_items_have_other_elements() -> None:
    layout = layout_of(index(I) * 8 + index(L1) * 4 + L0, 64, IDS)
    assert layout is not None
    assert layout.slot(index(I) * 8 + index(L0) * 2 + L1) is None
    assert layout.slot(index(I) * 8 + index(L1) * 4) is None
    assert layout.slot(index(I) * 8 + index(L1) * 4 + L0 + 1) is None
    assert layout.slot(index(Var("far", 9, "loop")) * 8 + index(L1) * 4 + L0) is None


@pytest.mark.parametrize(
    ("at", "size"),
    [
        (index(I) * 4 + L0, 32),  # all rows of work-items have the same elements
        (index(I) * 8 + index(L1) * 4 + L0, 128),  # not all of the array
        (index(I) * 9 + index(L1) * 4 + L0, 72),  # with gaps
        ((index(I) + L0) // 2 * 2 + L1, 64),  # a work-item's part that is none
        (index(I) * 8 + index(L1) * 4 + L0 + 1, 64),
        (index(J) * 8 + index(L1) * 4 + L0 + index(Var("w0", 4, "workgroup")) * 16, 64),
    ],
)
def test_an_index_that_skips_elements_tells_nothing(at: object, size: int) -> None:
    assert layout_of(at, size, IDS) is None  # type: ignore[arg-type]


def test_local_sizes_are_the_lengths_of_the_maps() -> None:
    cube = fmap(
        lambda c: fmap(
            lambda m: fmap(lambda r: fmap(lambda e: op("neg", e), r, "local", 0), m, "local", 1), c, "local", 2
        ),
        vector("x", 2, 3, 5, 7),
        "workgroup",
    )
    assert kernel(cube, launch=Launch(8)).local_size == (7, 5, 3)
