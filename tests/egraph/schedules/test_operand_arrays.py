"""Operands as arrays over digits: padded, taken, left over, kept."""

from __future__ import annotations

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.egraph.schedules.operand_arrays import cut_operand, kept, packed, sizes_of
from egglift.egraph.schedules.schedule import Keep, Loop, Schedule
from egglift.egraph.stages.loops import Tensor
from egglift.egraph.stages.operands import Operand
from egglift.egraph.stages.stage import Dim
from egglift.ir import patterns as p
from egglift.ir.axes import permuted
from egglift.ir.interpret import evaluate
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Level
from egglift.ir.traverse import subterms
from tests.egraph.stages.programs import arr

I, J, K = Dim(0, 5), Dim(1, 7), Dim(2, 9)
X = Operand(as_program(arr("x", 5, 7, 9)), (I, J, K), p.Literal(0.0, as_program(arr("s", 1)).type.element))  # type: ignore[union-attr]
VALUES = np.arange(315, dtype=np.float32).reshape(5, 7, 9)
CUT = Schedule((), ((I, (2,)), (J, (3,)), (K, (4, 2))))


def value(x: p.Expr) -> np.ndarray:
    return np.asarray(evaluate(x, {"x": VALUES}))


def test_parallel_dimensions_are_padded_and_reduced_ones_taken() -> None:
    x, axes = cut_operand(X, CUT, (J, K))
    assert axes == [(I, 0), (I, 1), (J, 0), (J, 1), (K, 0), (K, 1), (K, 2)]
    expected = np.concatenate([VALUES, VALUES[-1:]])[:, :6, :8].reshape(3, 2, 2, 3, 2, 2, 2)
    assert np.array_equal(value(x), expected)


def test_what_is_left_over_and_the_whole_blocks_are_all() -> None:
    """Every element once: whole blocks of all, what is left of the first, what is left of the second of its blocks."""
    parts = [value(cut_operand(X, CUT, (J, K), rest)[0]) for rest in (None, J, K)]
    assert [part.size for part in parts] == [6 * 6 * 8, 6 * 1 * 9, 6 * 6 * 1]
    found = np.concatenate([part.reshape(6, -1)[:5].reshape(-1) for part in parts])
    assert np.array_equal(np.sort(found), VALUES.reshape(-1))


def test_a_dimension_that_stays_whole_has_one_digit() -> None:
    x, axes = cut_operand(X, Schedule((), ()), (K,))
    assert x is X.array and axes == [(I, 0), (J, 0), (K, 0)]


def test_what_is_kept_is_what_it_was() -> None:
    x, axes = cut_operand(X, CUT, (J, K))
    for space in ("local", "private"):
        (found,) = kept(Keep(0, space), [Tensor(x, tuple(axes))], {J, K})
        assert np.array_equal(value(found.x), value(x)) and found.axes == tuple(axes)
        assert any(isinstance(t, p.To) and t.space == space for t in subterms(found.x))


def test_what_is_packed_lies_in_the_order_of_its_loops() -> None:
    x, axes = cut_operand(Operand(X.array, (I, J, K), X.at), Schedule((), ((I, (2,)),)), (J, K))
    loops = [Loop(I, 0, "grid", Level("global")), Loop(J, 0, "sequential"), Loop(K, 0, "sequential")]
    order = [(loop.dim, loop.digit) for loop in loops] + [(I, 1)]
    t = Tensor(permuted(x, axes, order), tuple(order))
    copy = packed(t, [*loops, Loop(I, 1, "own", Level("vec"))])
    assert copy.axes == t.axes and np.array_equal(value(copy.x), value(t.x))
    (kernel,) = compile_term(copy.x, Launch(1)).kernels
    assert kernel.global_size == (3,)
    assert "vstore2" in kernel.source or "float2" in kernel.source, "lanes write neighbours"


def test_digits_are_as_long_as_their_axes() -> None:
    x, axes = cut_operand(X, CUT, (J, K))
    assert list(sizes_of([Tensor(x, tuple(axes))]).values()) == [3, 2, 2, 3, 2, 2, 2]
