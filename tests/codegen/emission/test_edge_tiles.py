"""Tiles inside a grid and tiles at its edges: what both do alike after their copies stands in the kernel once."""

from __future__ import annotations

import numpy as np
import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import Barrier, DeviceLimits, If, Launch, Loop, Statement
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from tests.codegen.kernel.test_barriers import without_barriers
from tests.codegen.low import fmap, meaning, total, vector
from tests.codegen.low_tiles import grid
from tests.deep import every
from tests.harness import compute
from tests.oclgrind import LIMITS, examine

GPU = DeviceLimits(warp=32, branch_barriers=True)
LAUNCH = Launch(16)


def windows(n: int, step: int, x: Expr) -> Expr:
    """Squares of n x n elements, `step` apart."""
    return fmap(p.Transpose, p.Slide(n, step, fmap(lambda row: p.Slide(n, step, row), x)))


def framed(x: Expr) -> Expr:
    """A matrix that goes on for one element beyond its edges."""
    return p.Pad(1, 1, "clamp", fmap(lambda row: p.Pad(1, 1, "clamp", row), x))


def sums(tile: Expr) -> Expr:
    """The sums of all nine neighbours within a tile, which is staged."""
    rows = windows(3, 1, p.To("local", tile))
    return fmap(lambda row: fmap(lambda w: total(p.Join(w)), row, "local", 0), rows, "local", 1)


def stencil(n: int) -> Expr:
    """The sums of the neighbours in an n x n grid, by overlapped tiles of 4 x 4."""
    return grid(sums, windows(6, 4, framed(vector("x", n, n))))


def rounded_up(n: int) -> Expr:
    """The same, by tiles that do not divide the grid: those at its ends compute less."""
    x = framed(vector("x", n, n))
    fitting = p.Pad(0, -n % 4, "clamp", fmap(lambda row: p.Pad(0, -n % 4, "clamp", row), x))
    return p.Take(n, fmap(lambda row: p.Take(n, row), grid(sums, windows(6, 4, fitting))))


def line(n: int) -> Expr:
    """The sums of three neighbours in a line of n, by overlapped tiles of 8."""
    tiles = p.Slide(10, 8, p.Pad(1, 1, "clamp", vector("x", n)))
    return p.Join(fmap(lambda t: fmap(total, p.Slide(3, 1, p.To("local", t)), "local"), tiles, "workgroup"))


def versions(term: Expr, limits: DeviceLimits) -> tuple[If, tuple[Statement, ...]]:
    """The branch of a kernel's two versions, and what follows it."""
    (kernel,) = compile_term(term, LAUNCH, limits).kernels
    (branch,) = (s for s in kernel.body if isinstance(s, If) and s.otherwise)
    return branch, kernel.body[kernel.body.index(branch) + 1 :]


def barriers(statements: tuple[Statement, ...]) -> int:
    """How many barriers there are in a block."""
    found = 0
    for s in statements:
        match s:
            case Barrier():
                found += 1
            case Loop():
                found += barriers(s.body)
            case If():
                found += barriers((*s.body, *s.otherwise))
    return found


@pytest.mark.parametrize("limits", [GPU, DeviceLimits()], ids=["barriers in branches", "none"])
@pytest.mark.parametrize("term", [line(64), stencil(20)], ids=["line", "grid"])
def test_a_staged_tile_is_copied_in_two_ways_and_computed_in_one(term: Expr, limits: DeviceLimits) -> None:
    branch, after = versions(term, limits)
    for copied in (branch.body, branch.otherwise):
        assert {(a.buffer.space, a.write) for a in accesses(copied)} == {("global", False), ("local", True)}
    assert barriers((branch,)) == 0 and barriers(after) == 1
    assert {("local", False), ("global", True)} <= {(a.buffer.space, a.write) for a in accesses(after)}


def test_tiles_with_less_at_the_edges_are_computed_in_two_ways() -> None:
    branch, after = versions(rounded_up(19), GPU)
    assert barriers(branch.body) == barriers(branch.otherwise) == 1 and not after
    for version in (branch.body, branch.otherwise):
        assert ("global", True) in {(a.buffer.space, a.write) for a in accesses(version)}


@pytest.mark.parametrize(("n", "limits", "groups"), every(3, (4, 8, 20, 64), (GPU, DeviceLimits()), (1, 3, 100)))
def test_neighbours_are_summed(n: int, limits: DeviceLimits, groups: int) -> None:
    x = np.random.default_rng(n).integers(-8, 9, (n, n)).astype(np.float32)
    np.testing.assert_array_equal(compute(stencil(n), Launch(16, groups), limits, x=x), meaning(stencil(n), x=x)[0])


def test_the_barrier_after_both_copies_is_needed() -> None:
    plan = compile_term(stencil(20), LAUNCH, LIMITS)
    inputs = {"x": [np.arange(400, dtype=np.float32)]}
    right, wrong = examine([(plan, inputs), (without_barriers(plan), inputs)])
    assert right.clean
    assert any("race" in message for message in wrong.messages)
