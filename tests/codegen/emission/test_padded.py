"""Tiles of lengths that they do not divide: padded, most of them computed by code without a test."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import I32, Array
from tests.codegen.low import NdArray, elem, fmap, meaning, op, total, vector
from tests.codegen.low_blocks import Tile, product, registers, size, staged
from tests.deep import every
from tests.harness import compute

SIZES = (1, 2, 3, 17, 127)


def matrices(M: int, N: int, K: int) -> tuple[NdArray, NdArray]:
    rng = np.random.default_rng(5)
    return rng.integers(-8, 9, (M, K)).astype("f4"), rng.integers(-8, 9, (K, N)).astype("f4")


#: a device whose compiler is good at barriers in branches
GPU = DeviceLimits(warp=32, branch_barriers=True)


def versions(term: Expr, launch: Launch, limits: DeviceLimits = GPU) -> tuple[str, str]:
    """The code of the tiles inside, and of those at the edges."""
    (source,) = (k.source for k in compile_term(term, launch, limits).kernels)
    found = re.search(r"\n( *)if \((g|w)[^\n]*\{\n(.*)\n\1\} else \{\n(.*)\n\1\}\n", source, re.DOTALL)
    assert found, source
    return found[3], found[4]


@pytest.mark.parametrize(("M", "N"), every(3, SIZES, SIZES))
def test_tiles_of_work_groups_multiply(M: int, N: int) -> None:
    A, B = matrices(M, N, 5)
    term = product((M, N, 5), 4, 8, staged, "workgroup")
    np.testing.assert_array_equal(compute(term, Launch(32), A=A, B=B), (A @ B).reshape(-1))


@pytest.mark.parametrize("groups", [1, 3, 7])
def test_a_group_of_several_tiles_goes_each_way_as_it_must(groups: int) -> None:
    A, B = matrices(33, 30, 5)
    term = product((33, 30, 5), 4, 8, staged, "workgroup")
    np.testing.assert_array_equal(compute(term, Launch(32, groups), A=A, B=B), (A @ B).reshape(-1))


@pytest.mark.parametrize("n", [*SIZES, 128])
def test_tiles_of_windows_are_right_at_both_ends(n: int) -> None:
    windows = p.Slide(5, 1, p.Pad(2, 2, "clamp", vector("x", n)))
    term = p.Take(n, p.Join(fmap(lambda t: fmap(total, t, "seq"), p.Split(8, p.PadUp(8, windows)), "global")))
    x = np.arange(n, dtype="f4")
    expected = np.lib.stride_tricks.sliding_window_view(np.pad(x, 2, "edge"), 5).sum(1)
    np.testing.assert_array_equal(compute(term, Launch(4), x=x), expected)


# ---------------------------------------------------------------------------------------- two versions


@pytest.mark.parametrize(("tile", "level"), [(registers(8), "global"), (staged, "workgroup")])
def test_tiles_inside_have_no_tests(tile: Tile, level: str) -> None:
    inside, edges = versions(product((67, 67, 5), 8, 8, tile, level), Launch(64))
    of_tiles = re.compile(r"if \(.*[gw][01]")
    assert "?" not in inside and not of_tiles.search(inside)
    assert "?" in edges and of_tiles.search(edges)


def test_one_condition_serves_two_dimensions() -> None:
    source = compile_term(product((67, 67, 5), 8, 8, registers(8)), Launch(1)).source
    assert source.count("else {") == 1
    assert "if (g1 < 8 && g0 < 8) {" in source


def test_a_dimension_without_a_rest_is_not_in_the_condition() -> None:
    source = compile_term(product((67, 64, 5), 8, 8, registers(8)), Launch(1)).source
    assert "if (g1 < 8) {" in source


def test_both_versions_have_the_barriers_that_they_need() -> None:
    inside, edges = versions(product((67, 67, 5), 8, 8, staged, "workgroup"), Launch(64))
    assert inside.count("barrier(") == edges.count("barrier(") == 1


def test_both_versions_share_their_local_memory() -> None:
    (padded,) = compile_term(product((67, 67, 5), 8, 8, staged, "workgroup"), Launch(64), GPU).kernels
    (whole,) = compile_term(product((64, 64, 5), 8, 8, staged, "workgroup"), Launch(64), GPU).kernels
    assert "else" in padded.source
    assert padded.local_bytes == whole.local_bytes


def test_without_barriers_in_branches_there_is_one_version() -> None:
    source = compile_term(product((67, 67, 5), 8, 8, staged, "workgroup"), Launch(64)).source
    assert "else" not in source and "?" in source


def test_tiles_inside_keep_their_vectors() -> None:
    inside, _ = versions(product((67, 72, 5), 8, 16, registers(8)), Launch(1))
    assert "*(const global float8*)&B" in inside
    assert "*(global float8*)&out" in inside


def test_vectors_that_start_anywhere_are_vectors_still() -> None:
    """By pointer on a CPU; OpenCL promises it of `vload` and `vstore` only."""
    term = product((67, 67, 5), 8, 16, registers(8))
    inside, _ = versions(term, Launch(1))
    assert "vload8(0, &B" in inside and "store_global_f32x16(" in inside and "_any" not in inside
    inside, _ = versions(term, Launch(1), replace(GPU, warp=1))
    assert "*(const global float8_any*)&B" in inside
    assert "*(global float16_any*)&out" in inside


def test_windows_are_cut_at_both_ends() -> None:
    windows = p.Slide(3, 1, p.Pad(1, 1, "clamp", vector("x", 64)))
    term = p.Join(fmap(lambda t: fmap(total, t, "vec"), p.Split(8, windows), "global"))
    inside, edges = versions(term, Launch(1))
    assert "if (g0 >= 1 && g0 < 7) {" in compile_term(term, Launch(1)).source
    assert "?" not in inside and "?" in edges


def test_a_tile_that_is_all_alone_has_one_version() -> None:
    assert "else" not in compile_term(product((5, 3, 7), 8, 8, registers(8)), Launch(1)).source


def test_an_index_that_is_loaded_makes_no_second_version() -> None:
    term = fmap(total, p.Gather(vector("i", 9, t=I32), vector("x", 6, 4)), "global")
    assert "else" not in compile_term(term, Launch(1)).source


def test_single_scalars_are_not_worth_a_second_version() -> None:
    term = p.Take(100, fmap(lambda e: op("mul", e, e), p.PadUp(8, vector("x", 100)), "global"))
    assert "else" not in compile_term(term, Launch(1)).source


# ---------------------------------------------------------------------------------------- where nothing is missing


@pytest.mark.parametrize("tile", [registers(8), registers(8, 5)])
def test_lengths_that_tiles_divide_leave_no_trace_of_the_padding(tile: Tile) -> None:
    source = compile_term(product((64, 32, 5), 8, 16, tile), Launch(1)).source
    assert "?" not in source and "if" not in source


# ---------------------------------------------------------------------------------------- parts of results


def rearranged(data: st.DataObject, t: Expr) -> Expr:
    """`t` taken apart, cut and turned at random."""
    draw = data.draw
    for _ in range(draw(st.integers(1, 5))):
        n, rows = size(t), elem(t)
        choices = ["take", "drop", "split"]
        if isinstance(rows, Array):
            choices += ["join", "transpose", "inside"]
        match draw(st.sampled_from(choices)):
            case "take":
                t = p.Take(draw(st.integers(0, n)), t)
            case "drop":
                t = p.Drop(draw(st.integers(0, n)), t)
            case "split":
                t = p.Split(draw(st.sampled_from([k for k in range(1, n + 1) if n % k == 0] or [1])), t)
            case "join":
                t = p.Join(t)
            case "transpose":
                t = p.Transpose(t)
            case "inside":
                t = fmap(lambda row: rearranged(data, row), t)
    return t


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.data())
def test_every_part_of_a_result_goes_where_it_belongs(data: st.DataObject) -> None:
    A = np.arange(60, dtype="f4").reshape(6, 10)
    computed = fmap(lambda row: fmap(lambda e: op("neg", e), row, "seq"), vector("A", 6, 10), "global")
    term = rearranged(data, computed)
    (expected,) = meaning(term, A=A)
    np.testing.assert_array_equal(compute(term, Launch(4), A=A), expected)


# ---------------------------------------------------------------------------------------- loops of one work-item


def smoothed(rows: int, columns: int) -> Expr:
    """The sums of three neighbours, along rows that a work-item takes from one end to the other."""
    return fmap(
        lambda row: fmap(total, p.Slide(3, 1, p.Pad(1, 1, "clamp", row)), "seq"), vector("x", rows, columns), "global"
    )


@pytest.mark.parametrize("n", [*SIZES, 4, 5, 6])
def test_windows_along_a_row_are_right_at_both_ends(n: int) -> None:
    x = np.arange(2 * n, dtype="f4").reshape(2, n)
    expected = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 1)), "edge"), 3, 1).sum(2)
    np.testing.assert_array_equal(compute(smoothed(2, n), Launch(2), x=x), expected.reshape(-1))


def test_the_first_and_the_last_step_of_a_loop_are_apart() -> None:
    source = compile_term(smoothed(2, 100), Launch(2)).source
    assert "< 98; ++" in source
    assert re.search(r"x\[100\*g0 \+ i\d+ \+ i\d+\]", source)


def test_a_loop_without_tests_stays_whole() -> None:
    term = fmap(lambda row: fmap(total, p.Slide(3, 1, row), "seq"), vector("x", 2, 102), "global")
    assert compile_term(term, Launch(2)).source.count("< 100; ++") == 1
