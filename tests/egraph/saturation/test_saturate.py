"""Saturation: limits, reports, determinism, and the structures that it must offer."""

import hashlib
import os
import subprocess
import sys

import pytest

import egglift as el
from benchmarks.programs.catalogue import entry
from egglift.egraph.graph.graph import Graph, TileSymbol
from egglift.egraph.graph.membership import find
from egglift.egraph.rules.book import book
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import check_domains, saturate
from egglift.ir import patterns as p
from egglift.ir.errors import RuleError
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr, Level, Operator
from egglift.ir.sizes import Size, SizeOp, Sym, symbols
from egglift.ir.types import I32, Array, Type
from tests.egraph.programs import PROGRAMS, arg_max, composed, dot, gemv, ten_maps

LOOPS_FOREVER = """
;;; grow
;; x = (x + 0) + 0 + ... , without end
(rule ((= e (Op2 "mul" a b))) ((union e (Op2 "mul" (Op1 "abs" (Op2 "add" a a)) (Op1 "neg" e)))) :ruleset grow)
(rule ((= e (Op1 o a))) ((union e (Op1 o (Op1 o e)))) :ruleset grow)
(rule ((= e (Op2 o a b))) ((union e (Op2 o e (Op2 o b e)))) :ruleset grow)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_saturate_in_a_few_thousand_rows(name: str) -> None:
    found = saturate(PROGRAMS[name](1 << 20))
    assert found.stopped == "fixpoint"
    assert found.rows < 6000


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_body_fits_what_it_is_applied_to(name: str) -> None:
    check_domains(PROGRAMS[name](1000))


def test_the_domain_check_finds_a_body_of_another_length() -> None:
    wrong = """
    ;;; wrong-domain
    (rule ((= e (Map f x)) (work f) (bottom x) (= (Arr n t) (type-of x)) (< (depth n) 1))
          ((let s (Tile "s" x)) (let m (NMul (NDiv n s) s))
           (union e (Concat (Join (Map (Map f (Arg (Arr n t))) (Split s (Take m x)))) (Map f (Drop m x))))))
    """
    law = "\n".join(line.strip() for line in wrong.splitlines())
    saturate(dot(1000), rules=[law])
    with pytest.raises(RuleError, match="type clash"):
        check_domains(dot(1000), rules=[law])


def test_an_ill_typed_law_is_named() -> None:
    law = ";;; flatten-wrongly\n(rule ((= e (Split n x))) ((union e x)))"
    with pytest.raises(RuleError, match=r"flatten-wrongly.*array = "):
        saturate(dot(1000), rules=[law])


def test_at_the_row_limit_what_is_there_is_returned() -> None:
    found = saturate(dot(1000), rules=[LOOPS_FOREVER], limits=Limits(rows=3000, seconds=60))
    assert found.stopped == "rows"
    assert found.graph.size > 10
    assert {n.op for n in found.graph.classes[found.graph.root]} >= {"Reduce", "Fold"}


def test_without_time_the_program_is_still_lowered() -> None:
    found = saturate(dot(1000), limits=Limits(rows=10_000, seconds=1e-9))
    assert found.stopped == "seconds"
    assert found.graph.term(found.graph.root) is not None


@pytest.mark.parametrize(("name", "rows"), [("gemm-nn", 60), ("nbody", 3)])
def test_at_a_limit_every_class_has_a_type(name: str, rows: int) -> None:
    e = entry(name)
    graph = saturate(as_expr(e.program(*e.sizes[len(e.sizes) // 2])), limits=Limits(rows=rows), check=True).graph
    assert graph.types.keys() == graph.classes.keys()


def test_a_disabled_law_does_not_match() -> None:
    assert "deal" in {r.name for r in saturate(dot(1000)).laws}
    assert "deal" not in {r.name for r in saturate(dot(1000), disabled=["deal"]).laws}


def test_without_reassociation_no_marked_law_matches() -> None:
    used = {r.name for r in saturate(dot(1000), reassociate=False).laws}
    assert used and not any(book()[name].reassociating for name in used)
    assert any(book()[r.name].reassociating for r in saturate(dot(1000)).laws)


def test_detail_reports_rows_and_seconds_of_each_law() -> None:
    found = saturate(dot(1000), detail=True)
    rows = {r.name: r.rows for r in found.laws}
    assert (rows["deal"] or 0) > 20
    assert all(r.seconds is not None for r in found.laws)
    assert "deal" in str(found)


def test_an_operator_that_is_not_commutative_is_only_chunked() -> None:
    used = {r.name for r in saturate(composed(1000)).laws}
    assert "chunk" in used
    assert not used & {"deal", "vectorise-reduce", "reduce-to-tree"}


def test_a_tuple_operator_is_dealt_and_vectorised() -> None:
    assert {r.name for r in saturate(arg_max(1000)).laws} >= {"deal", "vectorise-reduce", "reduce-to-tree"}


@pytest.mark.parametrize("n", [1, 2, 7, 32])
def test_short_arrays_are_not_tiled(n: int) -> None:
    assert not saturate(dot(n)).graph.symbols


def test_a_chain_of_maps_becomes_one() -> None:
    graph = saturate(ten_maps(1000)).graph
    x = p.Input("x", Array(1000, I32))
    fused = [n for n in graph.classes[graph.root] if n.op == "Map" and find(graph, x) == n.children[1]]
    assert len(fused) == 1


def test_symbols_say_what_they_cut_and_how_often_it_was_cut() -> None:
    found = saturate(gemv(1000)).graph.symbols
    assert {s.kind for s in found.values()} <= set("purwvs")
    for s in found.values():
        assert s.depth == 1 + max((found[n].depth for n in symbols(s.length)), default=0)


def test_the_same_program_gives_the_same_graph_in_every_process() -> None:
    code = (
        "from tests.egraph.saturation.test_saturate import fingerprint; from tests.egraph.programs import PROGRAMS;"
        "print([fingerprint(f(1000)) for f in [*PROGRAMS.values()][::3]])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def fingerprint(e: Expr) -> str:
    """A hash of everything in a program's graph."""
    g = saturate(e).graph
    return hashlib.sha256(repr((g.classes, g.types, sorted(g.closed), g.symbols)).encode()).hexdigest()


# ---------------------------------------------------------------------------------------- structures


def symbol(g: Graph, kind: str, length: Size) -> tuple[Sym, TileSymbol]:
    """The only symbol of that kind which cuts that length."""
    (found,) = [s for s in g.symbols.values() if s.kind == kind and s.length == length]
    return Sym(found.name), found


def operator(e: Expr) -> Operator:
    assert isinstance(e, p.Reduce)
    return e.op


def lanes(g: Graph, op: Operator, n: Size, element: Type, xs: Expr, kind: str = "w") -> Expr:
    """Each lane folds a column of `xs`; their sums stay private, and the rest is folded after them."""
    w = next(Sym(s.name) for s in g.symbols.values() if s.kind == kind and g.term(s.array) is xs)
    columns, m = SizeOp("/", n, w), SizeOp("*", SizeOp("/", n, w), w)
    body = p.Fold(op.body, p.Literal(0, I32), p.Arg(Array(columns, element)))
    sums = p.Map(body, p.Transpose(p.Split(w, p.Take(m, xs))), Level("vec"))
    return p.Fold(op.body, p.Literal(0, I32), p.To("private", p.Concat(sums, p.Drop(m, xs))))


def test_sums_on_a_processor_are_offered() -> None:
    """mapGlobal over chunks; in each, vector lanes fold columns; then the chunks' sums are folded."""
    n = 1 << 20
    e = p.Reduce(operator(dot(n)), p.Literal(0, I32), p.Input("x", Array(n, I32)))
    g, zero, x = saturate(e).graph, p.Literal(0, I32), e.x
    r, _ = symbol(g, "r", n)
    m = SizeOp("*", SizeOp("/", n, r), r)
    item = lanes(g, e.op, r, I32, p.Arg(Array(r, I32)))
    sums = p.Map(item, p.Split(r, p.Take(m, x)), Level("global"))
    assert find(g, p.Fold(e.op.body, zero, p.To("global", p.Concat(sums, p.Drop(m, x))))) == g.root


def test_sums_on_a_graphics_processor_are_offered() -> None:
    """Work-groups and in them work-items take chunks in turn; lanes; a tree in local memory; a last fold."""
    n = 1 << 20
    e = p.Reduce(operator(dot(n)), p.Literal(0, I32), p.Input("x", Array(n, I32)))
    g, zero, x = saturate(e).graph, p.Literal(0, I32), e.x
    groups = dealt(g, e.op, n, x)
    row = groups.item
    items = dealt(g, e.op, row.type.length, row)
    body = lanes(g, e.op, items.item.type.length, I32, items.item)
    sums = p.Concat(p.Map(body, items.rows, Level("local")), items.rest)
    group = p.Tree(e.op.body, zero, p.To("local", sums))
    partial = p.Concat(p.Map(group, groups.rows, Level("workgroup")), groups.rest)
    assert find(g, p.Fold(e.op.body, zero, p.To("global", partial))) == g.root


class dealt:
    """What law `deal` makes of an array: each worker's elements, the body's argument, and the rest."""

    def __init__(self, g: Graph, op: Operator, n: Size, xs: Expr) -> None:
        (p_,) = [Sym(s.name) for s in g.symbols.values() if s.kind == "p" and g.term(s.array) is xs]
        (u,) = [Sym(s.name) for s in g.symbols.values() if s.kind == "u" and g.term(s.array) is xs]
        q = SizeOp("/", n, SizeOp("*", p_, u))
        m = SizeOp("*", SizeOp("*", q, p_), u)
        join = p.Join(p.Arg(Array(q, Array(u, I32))))
        self.rows = p.Map(join, p.Transpose(p.Split(p_, p.Split(u, p.Take(m, xs)))))
        self.item = p.Arg(Array(SizeOp("*", q, u), I32))
        self.rest = p.Drop(m, xs)


@pytest.mark.parametrize("kept", [True, False], ids=["as written", "cancelled first"])
def test_views_that_undo_each_other_leave_a_program(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several laws rewrite the same nodes at once: one may subsume what another has just made the only one left."""
    if kept:
        monkeypatch.setattr("egglift.egraph.saturation.saturate.cancelled", lambda e: e)
    a = el.array("A", el.f32, (4, 6))
    for program, left in ((a.T.T.T, a.T), (a.join().split(6).join(), a.join()), (a.T.T.T.T, a)):
        graph = saturate(program.expr).graph
        assert graph.term(graph.root) is left.expr
        assert graph.types.keys() == graph.classes.keys()
