"""Products and windows in the registers of single work-items: sums in vectors, panels packed, rows read as vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Statement
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, F64, I8, Scalar
from tests.codegen.low import NdArray, elem, fmap, meaning, total, vector
from tests.codegen.low_blocks import product, registers
from tests.deep import every
from tests.harness import compute

SHAPES = ((1, 1, 1), (2, 3, 2), (17, 17, 17), (127, 2, 3), (3, 127, 17), (48, 64, 30))
LAUNCH = Launch(1)


def operands(shape: tuple[int, int, int], t: Scalar = F32) -> tuple[NdArray, NdArray]:
    rng = np.random.default_rng(3)
    rows, columns, inner = shape
    return tuple(rng.integers(-8, 9, s).astype(t.dtype) for s in ((rows, inner), (inner, columns)))  # type: ignore[return-value]


def loops(statements: Iterable[Statement]) -> Iterator[im.Loop]:
    for s in statements:
        match s:
            case im.Loop():
                yield s
                yield from loops(s.body)
            case im.If():
                yield from loops((*s.body, *s.otherwise))


#: rows and columns of a block, the width of vectors, steps
BLOCKS = ((6, 16, 8, 4), (4, 32, 16, 1), (3, 10, 4, 2))


@pytest.mark.parametrize(("shape", "block", "pack"), every(3, SHAPES, BLOCKS, (0, 8)), ids=str)
def test_blocks_of_registers_multiply(shape: tuple[int, int, int], block: tuple[int, int, int, int], pack: int) -> None:
    (m, n, width, steps), (A, B) = block, operands(shape)
    term = product(shape, m, n, registers(width, steps), pack=pack)
    np.testing.assert_array_equal(compute(term, LAUNCH, A=A, B=B), (A @ B).reshape(-1))


def test_blocks_of_registers_multiply_in_double_precision() -> None:
    shape = (50, 37, 41)
    A, B = operands(shape, F64)
    term = product(shape, 6, 8, registers(4, 4, F64), pack=4, t=F64)
    np.testing.assert_array_equal(compute(term, LAUNCH, A=A, B=B), (A @ B).reshape(-1))


@pytest.mark.parametrize(
    "term",
    [
        product((48, 64, 30), 8, 32, registers(16)),
        product((48, 64, 30), 6, 16, registers(8, 4)),
        product((47, 61, 30), 6, 16, registers(8, 4), pack=8),
    ],
    ids=["8x32", "6x16 by four steps", "with edges"],
)
def test_the_sums_are_registers(term: Expr) -> None:
    """Their elements are chosen by numbers and by variables of unrolled loops alone."""
    body = compile_term(term, LAUNCH).kernels[-1].body
    rolled = {loop.var for loop in loops(body) if not loop.unroll}
    sums = [a for a in accesses(body) if a.buffer.space == "private"]
    assert sums
    assert all(a.at.variables().isdisjoint(rolled) for a in sums)


def test_the_loop_over_k_stays_a_loop() -> None:
    body = compile_term(product((48, 64, 30), 6, 16, registers(8)), LAUNCH).kernels[0].body
    assert [loop.trips for loop in loops(body) if not loop.unroll] == [30]


def test_the_sums_are_updated_by_whole_vectors_and_without_calls() -> None:
    source = compile_term(product((48, 64, 30), 6, 16, registers(8)), LAUNCH).source
    assert "float8" in source
    assert "fma" not in source and "vload" not in source


def test_a_packed_panel_is_read_from_one_end_to_the_other() -> None:
    plan = compile_term(product((48, 64, 30), 6, 16, registers(16), pack=16), LAUNCH)
    panels = plan.temporaries[0]
    (k,) = (loop.var for loop in loops(plan.kernels[1].body) if not loop.unroll)
    reads = [a for a in accesses(plan.kernels[1].body) if a.buffer.name == panels.name]
    assert len(plan.kernels) == 2
    assert {a.at.coefficient(k) for a in reads} == {16}


# ---------------------------------------------------------------------------------------- rows of windows

GPU = DeviceLimits(warp=32)


def neighbours(each: int, size: int, t: Scalar = F32, count: int = 8) -> Expr:
    """The sums of windows in a row of tiles: a work-item keeps what it reads for `each` of them in registers."""
    tiles = p.Slide(each + size - 1, each, p.Pad(size // 2, size // 2, "clamp", vector("x", count * each, t=t)))
    sums = fmap(lambda w: total(w, t), p.Slide(size, 1, p.To("private", p.Arg(elem(tiles)))), "unroll")
    return p.Join(fmap(sums, tiles, "global"))


def reads(term: Expr, limits: DeviceLimits) -> list[str]:
    """How a tile inside the grid is read: the types of what is read at once, and where the first of them starts."""
    inside, _ = compile_term(term, LAUNCH, limits).source.split("} else {")
    text = re.sub(r"vload(\d+)\(0, &", r"*(const global float\1_any*)&", re.sub(r"\bi\d+", "i", inside))
    found = re.findall(r"(?:\*\(const global (\w+)\*\)&)?\bx\[([^]]*)\]", text)
    return [f"{kind or 'one'} at {at}" for kind, at in found]


@pytest.mark.parametrize(
    ("each", "size", "t", "expected"),
    [
        (4, 3, F32, ["one at 4*g0 - 1", "float4 at 4*g0", "one at 4*g0 + 4"]),
        (8, 5, F32, ["one at 8*g0 + i - 2", "float4 at 8*g0 + 4*i", "one at 8*g0 + i + 8"]),
        (6, 3, F32, ["one at 6*g0 - 1", "float2 at 6*g0 + 2*i", "one at 6*g0 + 6"]),
        (4, 9, F32, ["float4 at 4*(g0 + i) - 4"]),
        (4, 3, F64, ["one at 4*g0 - 1", "double2 at 4*g0 + 2*i", "one at 4*g0 + 4"]),
        (16, 3, I8, ["one at 16*g0 - 1", "char16 at 16*g0", "one at 16*g0 + 16"]),
        (3, 3, F32, ["one at 3*g0 + i - 1"]),  # no work-item's row starts where a vector may
        (2, 2, F32, ["one at 2*g0 - 1", "float2 at 2*g0"]),
    ],
)
def test_a_gpu_reads_aligned_vectors_within_a_row(each: int, size: int, t: Scalar, expected: list[str]) -> None:
    assert reads(neighbours(each, size, t), GPU) == expected


@pytest.mark.parametrize(
    ("each", "size", "expected"),
    [
        (4, 3, ["float2_any at 4*g0 + 2*i - 1"]),
        (6, 3, ["float8_any at 6*g0 - 1"]),
        (8, 5, ["float2_any at 8*g0 + 2*i - 2"]),
        (3, 3, ["one at 3*g0 + i - 1"]),
    ],
)
def test_a_cpu_reads_vectors_that_start_anywhere(each: int, size: int, expected: list[str]) -> None:
    assert reads(neighbours(each, size), DeviceLimits()) == expected


def test_a_row_shorter_than_its_vectors_is_read_alike_by_both() -> None:
    def apart(n: int, before: int) -> Expr:
        """Windows of n in a row of 8 quarters, which start `before` elements before them."""
        x = p.Pad(before, n, "clamp", vector("x", 32))
        return fmap(lambda w: total(p.To("private", w)), p.Slide(n, 4, x), "global")

    assert reads(apart(2, 3), GPU) == reads(apart(2, 3), DeviceLimits())
    assert reads(apart(3, 1), GPU) == ["one at 4*g0 - 1", "float2 at 4*g0"] != reads(apart(3, 1), DeviceLimits())


ROWS = ((4, 3), (8, 5), (6, 3), (4, 9), (16, 3), (3, 3), (2, 2), (1, 3), (5, 7))
KINDS = [(*row, t) for row in ROWS for t in (F32, F64, I8)]


@pytest.mark.parametrize(
    ("kind", "limits"), every(4, KINDS, (GPU, DeviceLimits())), ids=lambda v: str(v) if isinstance(v, tuple) else ""
)
def test_neighbours_in_registers_are_summed(kind: tuple[int, int, Scalar], limits: DeviceLimits) -> None:
    each, size, t = kind
    for count in (2, 64):
        term = neighbours(each, size, t, count)
        x = np.random.default_rng(each).integers(-8, 9, count * each).astype(t.dtype)
        np.testing.assert_array_equal(compute(term, Launch(4), limits, x=x), meaning(term, x=x)[0])
