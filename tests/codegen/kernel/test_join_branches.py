"""Where a device's compiler needs it, work-items that waited for each other in a branch wait behind it, too."""

from __future__ import annotations

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Barrier, Const, If, Launch, Loop, Statement, Store
from egglift.codegen.kernel.index import Var, index
from egglift.codegen.kernel.join_branches import join_branches
from egglift.ir import patterns as p
from egglift.ir.types import F32
from tests.codegen.kernel.test_barriers import OUT
from tests.codegen.low import fmap, total
from tests.codegen.samples.base import A, double
from tests.harness import run
from tests.oclgrind import LIMITS

STEP = Store(OUT, index(0), Const(1.0, F32))
WAIT = Barrier()


def branch(*body: Statement, otherwise: tuple[Statement, ...] = ()) -> If:
    """`if (w0 < 3) { body }`: a group takes it, or does not, as one."""
    return If(((index(Var("w0", 4, "workgroup")), 3),), body, 1.0, otherwise)


def test_a_barrier_stands_behind_a_branch_that_has_one() -> None:
    waits = branch(STEP, WAIT, STEP)
    assert join_branches([waits, STEP]) == (waits, WAIT, STEP)
    other = branch(STEP, otherwise=(Loop(Var("i0", 4, "loop"), 4, (STEP, WAIT)),))
    assert join_branches([STEP, other, branch(STEP)]) == (STEP, other, WAIT, branch(STEP))
    assert join_branches([branch(waits, STEP), STEP]) == (branch(waits, WAIT, STEP), WAIT, STEP)


def test_no_barrier_is_added_where_none_helps() -> None:
    waits = branch(STEP, WAIT, STEP)
    for body in ((STEP, waits), (waits, WAIT, STEP), (branch(STEP), STEP), (STEP, WAIT, STEP)):
        assert join_branches(body) == body


def test_kernels_end_whose_groups_wait_in_a_branch() -> None:
    sums = fmap(lambda r: total(p.To("local", fmap(double, r, "local"))), A, "workgroup")
    term = p.Tup((sums, fmap(total, p.Transpose(A), "global")))
    assert compile_term(term, Launch(4), LIMITS).source.count("barrier(") == 1
    plan = compile_term(term, Launch(4))
    assert plan.source.count("barrier(") == 2  # with the first alone, PoCL's kernel never ends
    a = np.arange(240, dtype=np.float32).reshape(6, 40)
    rows, columns = run(plan, {"A": (a.reshape(-1),)})
    assert (rows == 2 * a.sum(1)).all() and (columns == a.sum(0)).all()
