"""What accesses to global memory move on a GPU: neighbours share what one of them brings, strangers waste sectors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, Launch
from egglift.codegen.kernel.index import Index, Var, index
from egglift.costmodel.model.coalescing import LINE, LINE_TAKES, ids
from egglift.costmodel.model.counted_accesses import CountedAccess
from egglift.costmodel.model.memory_traffic import HALF_WRITTEN, Traffic, _moved, _reopened, _stored, traffic
from egglift.costmodel.model.operation_counts import tally
from egglift.costmodel.profiles.profile import presets
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32
from tests.codegen.low import fmap, op, total, vector

GPU = presets()["nvidia_h200"]
N = 8192
X = vector("x", N, N)
PASS = 4.0 * N * N  # bytes: far more than the cache holds
L0 = Var("l0", 32, "local", 0)
RESIDENT = 1024 * GPU.compute_units


def moved(term: Expr, group: int = 256) -> Traffic:
    """What the only kernel of `term` moves, in passes over the grid."""
    limits = DeviceLimits(warp=GPU.warp, compute_units=GPU.compute_units, branch_barriers=True)
    (kernel,) = compile_term(term, Launch(group), limits).kernels
    found = traffic(tally(kernel, GPU), kernel, RESIDENT, GPU)
    return Traffic(found.dram / PASS, found.cached / PASS, found.near / PASS)


def each(f: Callable[[Expr], Expr], x: Expr) -> Expr:
    """A work-item for each element of a matrix."""
    return fmap(lambda row: fmap(f, row, "global", 0), x, "global", 1)


def square(e: Expr) -> Expr:
    return op("mul", e, e)


def windows(size: int, step: int, x: Expr) -> Expr:
    return fmap(p.Transpose, p.Slide(size, step, fmap(lambda row: p.Slide(size, step, row), x)))


def framed(reach: int) -> Expr:
    return p.Pad(reach, reach, "clamp", fmap(lambda row: p.Pad(reach, reach, "clamp", row), X))


def sums(w: Expr) -> Expr:
    """The sum of a square."""
    return total(p.Join(w))


def cross(w: Expr) -> Expr:
    """The sum of five neighbours, each read by itself."""

    def at(i: int, j: int) -> Expr:
        return p.At(j, p.At(i, w))

    return op("add", op("add", at(0, 1), at(2, 1)), op("add", at(1, 0), op("add", at(1, 1), at(1, 2))))


COPY = each(square, X)
STENCIL = each(sums, windows(3, 1, framed(1)))


def staged() -> Expr:
    """A stencil by tiles of 16 x 16 in local memory: those inside the grid and those at its edges are read apart."""

    def tile(t: Expr) -> Expr:
        rows = windows(3, 1, p.To("local", t))
        return fmap(lambda row: fmap(sums, row, "local", 0), rows, "local", 1)

    tiles = fmap(lambda row: fmap(tile, row, "workgroup", 0), windows(18, 16, framed(1)), "workgroup", 1)
    return p.Join(fmap(lambda row: fmap(p.Join, p.Transpose(row)), tiles))


def test_a_grid_that_is_copied_is_read_once_and_written_once() -> None:
    assert moved(COPY).dram == pytest.approx(2)
    assert moved(COPY).near == pytest.approx(1 + LINE_TAKES / LINE)


@pytest.mark.parametrize(
    "term",
    [STENCIL, each(cross, windows(3, 1, framed(1))), each(sums, windows(5, 1, framed(2))), staged()],
    ids=["nine", "cross", "25", "staged"],
)
def test_neighbours_read_what_one_of_them_brought(term: Expr) -> None:
    assert moved(term).dram == pytest.approx(2, rel=0.05)


def test_what_neighbours_read_passes_the_first_cache_each_time() -> None:
    few, many = moved(STENCIL), moved(each(sums, windows(5, 1, framed(2))))
    assert 2 < few.cached < many.cached < 4
    assert 3 <= few.near < many.near


def test_small_groups_share_less_with_each_other() -> None:
    assert moved(STENCIL, 32).cached > 1.2 * moved(STENCIL, 256).cached


def test_neighbours_that_read_columns_waste_sectors() -> None:
    by_columns = each(square, p.Transpose(X))
    assert moved(by_columns, 32).dram > 2 * moved(COPY, 32).dram
    assert moved(by_columns, 32).cached > 2 * moved(COPY, 32).cached
    assert moved(by_columns, 256).dram == pytest.approx(2)  # a group of eight rows uses up what it brings


def test_neighbours_that_write_columns_waste_more() -> None:
    assert moved(p.Transpose(COPY)).dram > 3 * moved(COPY).dram


def test_work_items_read_columns_together_and_rows_apart() -> None:
    columns, rows = (fmap(total, x, "global") for x in (p.Transpose(X), X))
    assert moved(columns).dram == pytest.approx(1, rel=0.01)
    assert moved(rows).dram > 1.1 * moved(columns).dram


@pytest.mark.parametrize(("n", "inner", "fits"), [(1024, 64, True), (8192, 64, True), (1 << 16, 512, False)])
def test_what_all_groups_read_comes_once_if_it_fits_the_cache(n: int, inner: int, fits: bool) -> None:
    def dot(e: Expr) -> Expr:
        return total(fmap(lambda ab: op("mul", p.Get(0, ab), p.Get(1, ab)), p.Zip((p.Get(0, e), p.Get(1, e)))))

    once = 4 * (n * n + 2 * n * inner) / PASS
    brought = moved(each(dot, p.Cross(vector("A", n, inner), vector("B", n, inner)))).dram
    assert brought == pytest.approx(once) if fits else brought > 100 * once


def test_windows_that_have_nothing_in_common_are_all_brought() -> None:
    assert moved(each(sums, windows(4, 4, X))).dram == pytest.approx(1 + 1 / 16, rel=0.02)


def test_windows_too_large_to_keep_are_brought_again() -> None:
    large = moved(each(sums, windows(33, 1, framed(16))))
    assert large.near > large.cached > 100 * moved(STENCIL).cached
    assert 2 < large.dram < 4  # the cache of all units has what its neighbours read


@pytest.mark.parametrize("size", [2, 4, 8])
def test_what_a_work_item_reads_in_a_few_steps_is_brought_once(size: int) -> None:
    sums = fmap(total, p.Split(size, p.Join(X)), "global")
    assert moved(sums).dram == pytest.approx(1 + 1 / size, rel=0.02)


def test_lanes_far_apart_pay_even_if_they_use_all_they_bring() -> None:
    near, far, farther = (moved(fmap(total, p.Split(n, p.Join(X)), "global")).dram for n in (8, 32, 4096))
    assert near < far < farther < 3 * near


def test_vectors_far_apart_waste_the_rest_of_their_sectors() -> None:
    lane = Var("v0", 4, "lane")
    for at in (index(L0) * 16, index(L0) * 16 + index(lane)):  # 16 of every 64 bytes, with and without the lane
        assert alone(at, lane) == pytest.approx(2)
    assert alone(index(L0) * 4, lane) == pytest.approx(1)


def alone(at: Index, lane: Var) -> float:
    """Times the bytes that a warp's vectors of four use which they bring, one vector for each lane."""
    load = CountedAccess(Buffer("x", "global", F32, 1 << 20), at, 16, 32.0, False, (), lane)
    return _moved(load, ids((32,), 32), 0, RESIDENT, GPU) / (32 * 16 * _reopened(load, 0))


def written(at: Index, bytes: int, places: int = 1) -> float:
    """Times the bytes of a warp's stores that go through the cache of all units."""
    store = CountedAccess(Buffer("x", "global", F32, 1 << 20), at, bytes, 32.0, True, (), None, places=places)
    return _stored(store, ids((32,), 32)) / (32 * bytes)


def test_stores_apart_pay_for_every_sector_each_time() -> None:
    assert written(index(L0), 4) == 1
    assert written(index(L0) * 4, 16) == 1
    assert written(index(L0) * 3, 12, places=3) == pytest.approx(3 * HALF_WRITTEN)
    assert written(index(L0) * 12, 12, places=3) == pytest.approx(8 * HALF_WRITTEN)  # a sector for each number


def test_what_is_stored_of_long_vectors_is_stored_in_pieces() -> None:
    assert written(index(L0) * 8, 32) == pytest.approx(2 * HALF_WRITTEN)


def test_stores_apart_fill_their_sectors_before_memory_has_them() -> None:
    """What lanes leave half written is whole by the time that it leaves the cache."""
    pairs = fmap(lambda e: p.Concat(p.Fill(1, e), p.Fill(1, square(e))), p.Join(X), "global")
    found = moved(pairs)
    assert found.dram < 3.3
    assert found.cached == pytest.approx(1 + 2 * 2 * HALF_WRITTEN)
