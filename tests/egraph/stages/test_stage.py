"""Names of what is read and reduced: equal things have one name."""

from __future__ import annotations

from dataclasses import replace

from egglift.egraph.stages.sharing import shared_out
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, substituted
from egglift.ir import patterns as p
from egglift.ir.lifting import as_program
from egglift.ir.operators import named
from egglift.ir.types import F32, Tuple
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import PROGRAMS, add_up, arr

x = as_program(arr("A", 3, 4))


def test_equal_reads_are_equal_nodes() -> None:
    names = Names()
    i, j = names.dim(3), names.dim(4)
    assert names.read(Read(x, (i, j))) is names.read(Read(x, (i, j)))
    assert names.read(Read(x, (i, j))) is not names.read(Read(p.Transpose(x), (j, i)))


def test_what_is_read_at_no_dimension_is_itself() -> None:
    scalar = as_program(arr("x", 3)[0])
    assert Names().read(Read(scalar, ())) is scalar


def test_a_reduction_depends_on_its_elements_and_beginning() -> None:
    names = Names()
    i, j = names.dim(3), names.dim(4)
    op = named("add", F32)
    body = names.reduced(Reduction(op.body, p.Literal(0.0, F32), (j,), names.read(Read(x, (i, j))), op))
    assert names.free(body) == {i}
    (_, r), *_ = names.of(body)
    assert isinstance(r, Reduction)
    later = names.reduced(replace(r, init=body, element=p.Literal(1.0, F32)))
    assert names.free(later) == {i}
    moved = names.with_reads(
        later, lambda read: replace(read, dims=tuple(Dim(9, 3) if d == i else d for d in read.dims))
    )
    assert names.free(moved) == {Dim(9, 3)}


def test_reductions_that_go_on_with_others_are_later_phases() -> None:
    stage = only_stage(arr("A", 3, 7).map(add_up))
    assert len(stage.phases) == 1
    parts, added = shared_out(stage, 2)
    assert [len(phase) for phase in added.phases] == [1, 1]
    assert len(parts.phases) == 1
    assert only_stage(PROGRAMS["transposition"]()).phases == ()


def test_components_of_what_is_put_in_are_its_items() -> None:
    pair = p.Input("%s0", Tuple((F32, F32)))
    a, b = p.Input("a", F32), p.Input("b", F32)
    assert substituted(p.Get(1, pair), {pair: p.Tup((a, b))}) is b
    assert substituted(p.Get(1, pair), {}) == p.Get(1, pair)
