"""Barriers stand where work-items exchange data, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.barriers import dissolve_steps, in_branches, insert_barriers
from egglift.codegen.kernel.imperative import Barrier, Buffer, Const, If, Launch, Load, Loop, Plan, Statement, Store
from egglift.codegen.kernel.index import Index, Var, index
from egglift.ir import patterns as p
from egglift.ir.types import F32
from tests.codegen.low import flat, fmap, op, total, vector
from tests.codegen.samples.book import SAMPLES
from tests.oclgrind import LIMITS, examine

L = Var("l0", 8, "local")
LOCAL, OTHER = Buffer("s", "local", F32, 8), Buffer("t", "local", F32, 8)
OUT = Buffer("out", "global", F32, 8)


def with_barriers(statements: list[Statement], items: int) -> tuple[Statement, ...]:
    """As the printer gets them."""
    return dissolve_steps(insert_barriers(statements, items))


def step(*body: Statement) -> If:
    return If((), body)


def write(b: Buffer) -> Store:
    return Store(b, index(L), Const(1.0, F32))


def read(b: Buffer) -> Store:
    return Store(OUT, index(L), Load(b, index(7) - L))


def kinds(body: tuple[Statement, ...]) -> str:
    return "".join("|" if isinstance(s, Barrier) else "s" for s in body)


def test_a_barrier_separates_a_write_from_a_read() -> None:
    assert kinds(with_barriers([step(write(LOCAL)), step(read(LOCAL))], 8)) == "s|s"


def test_other_memory_needs_no_barrier() -> None:
    assert (
        kinds(with_barriers([step(write(LOCAL)), step(write(OTHER)), step(read(LOCAL)), step(read(OTHER))], 8))
        == "ss|ss"
    )


def test_a_read_is_over_before_the_next_write() -> None:
    assert kinds(with_barriers([step(read(LOCAL)), step(write(LOCAL))], 8)) == "s|s"


def test_one_work_item_needs_no_barrier() -> None:
    assert kinds(with_barriers([step(write(LOCAL)), step(read(LOCAL))], 1)) == "ss"


def test_a_loop_that_stages_ends_with_a_barrier() -> None:
    loop = Loop(Var("i0", 5, "loop"), 5, (step(write(LOCAL)), step(read(LOCAL))))
    (done,) = with_barriers([loop], 8)
    assert isinstance(done, Loop) and kinds(done.body) == "s|s|"


def test_a_loop_that_only_reads_has_none() -> None:
    loop = Loop(Var("i0", 5, "loop"), 5, (step(read(LOCAL)),))
    first, barrier, done = with_barriers([step(write(LOCAL)), loop], 8)
    assert isinstance(barrier, Barrier) and isinstance(done, Loop) and kinds(done.body) == "s"
    assert isinstance(first, Store)


def test_a_branch_not_taken_keeps_what_is_pending() -> None:
    branch = If(((index(Var("w0", 4, "workgroup")), 1),), (step(write(LOCAL)),))
    done = with_barriers([step(read(OTHER)), branch, step(read(LOCAL)), step(write(OTHER))], 8)
    assert kinds(done) == "ss|ss"  # one barrier for both: what was read before, and written in the branch


def in_turn(i: Index, written: bool = True) -> If:
    """A step that writes or reads the half of LOCAL whose turn it is in step `i`."""
    at = i % 2 * 4 + index(Var("l0", 4, "local"))
    return step(Store(LOCAL, at, Const(1.0, F32)) if written else Store(OUT, index(0), Load(LOCAL, at)))


def test_two_halves_used_in_turn_need_one_barrier_for_each_step() -> None:
    for trips in (2, 3, 9):
        i = index(Var("i0", trips, "loop"))
        body = (in_turn(i, written=False), in_turn(i + 1))
        done = with_barriers([in_turn(index(0)), Loop(Var("i0", trips, "loop"), trips, body)], 8)
        assert kinds(done) == "s|s"
        assert isinstance(done[-1], Loop) and kinds(done[-1].body) == "ss|"


def test_three_parts_used_in_turn_need_one_barrier_for_each_step() -> None:
    """A step reads its part while the one after the next is written: what is written next was read a step before."""
    thirds = Buffer("s", "local", F32, 12)
    v = Var("i0", 9, "loop")

    def part(i: Index, written: bool) -> If:
        at = i % 3 * 4 + index(Var("l0", 4, "local"))
        return step(Store(thirds, at, Const(1.0, F32)) if written else Store(OUT, index(0), Load(thirds, at)))

    for ahead, expected in ((1, "ss|"), (2, "ss|"), (3, "s|s")):
        (done,) = with_barriers([Loop(v, 9, (part(index(v), False), part(index(v) + ahead, True)))], 4)
        assert isinstance(done, Loop) and kinds(done.body) == expected


def test_a_half_that_was_read_is_not_overwritten_at_once() -> None:
    i = index(Var("i0", 9, "loop"))
    for later in (i, i + 2):
        (done,) = with_barriers([Loop(Var("i0", 9, "loop"), 9, (in_turn(i, written=False), in_turn(later)))], 8)
        assert isinstance(done, Loop) and kinds(done.body) == "s|s"  # the other half is next


def test_a_half_has_its_turn_again_after_two_steps() -> None:
    i = index(Var("i0", 9, "loop"))
    (done,) = with_barriers([Loop(Var("i0", 9, "loop"), 9, (in_turn(i),))], 8)
    assert isinstance(done, Loop) and kinds(done.body) == "s|"


def test_halves_that_work_items_choose_are_not_told_apart() -> None:
    l1 = index(Var("l1", 4, "local"))
    assert kinds(with_barriers([in_turn(l1), in_turn(l1 + 1, written=False)], 8)) == "s|s"


def test_work_items_that_only_use_their_own_elements_have_none() -> None:
    term = fmap(lambda r: fmap(lambda e: op("neg", e), r, "local"), vector("A", 6, 40), "workgroup")
    assert "barrier" not in compile_term(term).source


def test_a_missing_barrier_is_reported_as_a_race() -> None:
    names = ("softmax by groups", "staged rows, fewer groups", "llp2", "lanes that exchange")
    jobs = []
    for name in names:
        s = SAMPLES[name]
        plan = without_barriers(compile_term(s.term, s.launch, LIMITS))
        jobs.append((plan, {k: tuple(flat(v)) for k, v in s.inputs().items()}))
    for name, report in zip(names, examine(jobs), strict=True):
        assert any("race" in m for m in report.messages), name


def without_barriers(plan: Plan) -> Plan:
    def cut(source: str) -> str:
        return "".join(line for line in source.splitlines(True) if "barrier(" not in line)

    assert "barrier(" in plan.source
    return replace(plan, kernels=tuple(replace(k, source=cut(k.source)) for k in plan.kernels))


def test_groups_that_take_several_rows_wait_before_the_next() -> None:
    s = SAMPLES["staged rows, fewer groups"]
    (kernel,) = compile_term(s.term, Launch(16, 2)).kernels
    assert kernel.source.count("barrier(") == 2  # after staging, and before the next row is staged
    (kernel,) = compile_term(s.term, Launch(16)).kernels
    assert kernel.source.count("barrier(") == 1


def test_a_sum_of_private_folds_has_no_barrier() -> None:
    assert "barrier" not in compile_term(fmap(total, p.Split(10, vector("x", 100)), "global")).source


def test_a_barrier_in_a_branch_of_a_loop_is_noticed() -> None:
    i = Var("i0", 4, "loop")
    branch = If(((index(i), 2),), (Barrier(),))
    assert in_branches([Loop(i, 4, (branch,))])
    assert in_branches([Loop(i, 4, (If(((index(i), 2),), (), 1.0, (Barrier(),)),))])
    assert not in_branches([branch, Loop(i, 4, (Barrier(), step(write(LOCAL))))])
