"""Products of matrices in the registers of single work-items: sums in vectors, the loop over k kept, panels packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from egglift.codegen import imperative as im
from egglift.codegen.compile import compile_term
from egglift.codegen.imperative import Launch, Statement
from egglift.codegen.inplace import accesses
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, F64, Scalar
from tests.codegen.low import NdArray
from tests.codegen.low_blocks import product, registers
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


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("m", "n", "width", "steps"), [(6, 16, 8, 4), (4, 32, 16, 1), (3, 10, 4, 2)])
@pytest.mark.parametrize("pack", [0, 8])
def test_blocks_of_registers_multiply(
    shape: tuple[int, int, int], m: int, n: int, width: int, steps: int, pack: int
) -> None:
    A, B = operands(shape)
    term = product(shape, m, n, registers(width, steps), pack=pack)
    np.testing.assert_array_equal(compute(term, LAUNCH, A=A, B=B), (A @ B).reshape(-1))


def test_blocks_of_registers_multiply_in_double_precision() -> None:
    shape = (50, 37, 41)
    A, B = operands(shape, F64)
    term = product(shape, 6, 8, registers(4, 4, F64), pack=4, t=F64)
    np.testing.assert_array_equal(compute(term, LAUNCH, A=A, B=B), (A @ B).reshape(-1))


@pytest.mark.parametrize("term", [
    product((48, 64, 30), 8, 32, registers(16)),
    product((48, 64, 30), 6, 16, registers(8, 4)),
    product((47, 61, 30), 6, 16, registers(8, 4), pack=8),
], ids=["8x32", "6x16 by four steps", "with edges"])  # fmt: skip
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
