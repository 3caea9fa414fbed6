"""What the e-graph proves equal, and what it must not."""

import pytest

import egglift as el
from benchmarks.programs import reduction_forms as forms
from egglift.egraph.explanation.prove import explain, prove
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import RuleError
from egglift.ir.interpret import evaluate
from egglift.ir.notation import as_expr
from egglift.ir.patterns import Expr
from egglift.ir.types import F32, I32, Array
from tests.egraph.programs import composed, dot
from tests.programs import values_for

N = 1 << 20
SUMS = (forms.llp1, forms.llp2, forms.llp3)
ASUMS = (forms.fig11_nvidia, forms.fig11_amd, forms.fig11_intel)
SMALL = Limits(rows=4000, seconds=20)


@pytest.mark.parametrize("form", SUMS)
def test_a_sum_equals_the_low_level_programs_of_the_literature(form) -> None:  # type: ignore[no-untyped-def]
    assert prove(forms.plain_sum(N), form(N))


@pytest.mark.parametrize("form", ASUMS)
def test_a_sum_of_absolute_values_equals_what_lift_found(form) -> None:  # type: ignore[no-untyped-def]
    assert prove(forms.plain_asum(N), form(N))


@pytest.mark.parametrize("form", SUMS + ASUMS)
def test_the_forms_are_well_typed_and_compute_the_sum(form) -> None:  # type: ignore[no-untyped-def]
    e = form(1 << 19)
    assert type_of(e) == F32
    inputs = values_for(forms.plain_sum(1 << 19))
    inputs = {"x": (inputs["x"] * 8).round() / 8}  # exact in any order
    plain = forms.plain_sum if form in SUMS else forms.plain_asum
    assert evaluate(e, inputs) == evaluate(plain(1 << 19), inputs)


@pytest.mark.parametrize("form", SUMS + ASUMS)
def test_the_forms_do_not_equal_the_other_program(form) -> None:  # type: ignore[no-untyped-def]
    other = forms.plain_asum if form in SUMS else forms.plain_sum
    assert not prove(other(N), form(N), limits=SMALL)


def test_an_operator_that_is_not_commutative_is_not_reordered() -> None:
    e = composed(64)
    assert isinstance(e, p.Reduce)
    strided = p.Reduce(e.op, e.init, p.Stride(8, e.x))
    dealt = p.Reduce(e.op, e.init, p.Map(body(e, 8), p.Transpose(p.Split(8, e.x))))
    chunked = p.Reduce(e.op, e.init, p.Map(body(e, 8), p.Split(8, e.x)))
    assert not prove(e, strided, limits=SMALL)
    assert not prove(e, dealt, limits=SMALL)
    assert prove(e, chunked)


def body(e: p.Reduce, n: int) -> Expr:
    """The body that reduces n elements from the neutral element."""
    element = type_of(e.x).element  # type: ignore[union-attr]
    assert e.op.neutral is not None
    return p.Reduce(e.op, e.op.neutral, p.Arg(Array(n, element)))


def test_a_commutative_operator_is_reordered() -> None:
    e = forms.plain_sum(64)
    assert isinstance(e, p.Reduce)
    assert prove(e, p.Reduce(e.op, e.init, p.Stride(8, e.x)))


def test_a_seed_that_is_not_neutral_is_used_once() -> None:
    e = as_expr(el.reduce(el.add, 3, el.array("x", el.i32, 64)))
    assert isinstance(e, p.Reduce)
    three, zero = p.Literal(3, I32), p.Literal(0, I32)

    def halves(seed: Expr, inner: Expr) -> Expr:
        return p.Reduce(e.op, seed, p.Map(p.Reduce(e.op, inner, p.Arg(Array(2, I32))), p.Split(2, e.x)))

    assert prove(e, halves(three, zero))
    assert not prove(e, halves(three, three), limits=SMALL)
    assert not prove(e, halves(zero, three), limits=SMALL)
    assert prove(e, p.Apply("add", (three, p.Reduce(e.op, zero, e.x))))


def test_different_programs_stay_different() -> None:
    x, y = el.array("x", el.i32, 64), el.array("y", el.i32, 64)
    assert not prove(as_expr(x + y), as_expr(x * y), limits=SMALL)
    assert not prove(dot(64), as_expr(el.reduce(el.add, 0, x * x)), limits=SMALL)
    assert not prove(as_expr(x.split(8)), as_expr(x.split(8).T), limits=SMALL)


def test_programs_of_different_types_are_not_equal() -> None:
    x = el.array("x", el.i32, 64)
    assert not prove(as_expr(x), as_expr(x.split(8)))


def test_sizes_instantiate_the_symbols_of_a_choice() -> None:
    e = dot(1000)
    graph = saturate(e).graph
    choice = next(n for n in graph.classes[graph.root] if n.op == "Tree" or n.op == "Reduce")
    member = graph.term(graph.root)
    assert choice is not None
    assert prove(e, member, sizes=dict.fromkeys(graph.symbols, 4))


# ---------------------------------------------------------------------------------------- explanations


def test_an_explanation_names_the_laws_and_where_they_applied() -> None:
    found = explain(forms.plain_sum(N), forms.llp1(N))
    assert set(found.laws) == {
        "reduce-split",
        "reduce-to-fold",
        "map-workgroup",
        "map-local",
        "to-global",
        "to-local",
    }
    assert found.laws.index("reduce-split") < found.laws.index("map-workgroup") < found.laws.index("to-local")
    assert all(step.places for step in found.steps)
    text = str(found)
    assert "map f x = mapWorkgroup0 f x" in text and "split 128" in text


def test_no_law_of_an_explanation_can_be_left_out() -> None:
    source, target = forms.plain_sum(N), forms.llp1(N)
    laws = explain(source, target).laws
    assert prove(source, target, laws)
    for name in laws:
        assert not prove(source, target, [n for n in laws if n != name])


def test_there_is_no_explanation_for_what_is_not_equal() -> None:
    with pytest.raises(RuleError, match="do not show"):
        explain(forms.plain_asum(256), forms.plain_sum(256), limits=SMALL)


def test_equal_programs_need_no_law() -> None:
    assert explain(dot(64), dot(64)).steps == ()
