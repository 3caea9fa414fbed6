"""Short texts of programs, for reading."""

import egglift as el
from egglift.egraph.explanation.abbreviate import outline, size_outline
from egglift.ir import patterns as p
from egglift.ir.notation import as_expr
from egglift.ir.parser import loads
from egglift.ir.sizes import SizeOp, Sym
from egglift.ir.traverse import subterms
from tests.egraph.programs import PROGRAMS, dot

N, K = Sym("n"), Sym("k0")


def test_a_short_program_is_shown_whole_and_without_types() -> None:
    assert outline(dot(8), 100) == "(reduce add 0 (map (mul arg[0] arg[1]) (zip x y)))"


def test_a_long_part_makes_room_for_short_ones() -> None:
    text = outline(dot(8), 40)
    assert text.startswith("(reduce add 0 (map ") and "..." in text
    assert len(text) <= 50


def test_every_program_gets_shorter_with_less_room() -> None:
    for make in PROGRAMS.values():
        whole = make(1000)
        lengths = [len(outline(whole, room, width=10_000)) for room in (10, 50, 200, 1000, 100_000)]
        assert lengths == sorted(lengths)
        assert "..." not in outline(whole, 100_000)
        assert all(outline(part, 60) for part in subterms(whole))


def test_constants_are_named_by_their_types() -> None:
    weights = as_expr(el.literal([[0.5, 0.25]], el.f32))
    assert isinstance(weights, p.Constant)
    assert outline(weights, 50) == "constant:[[f32]2]1"


def test_tile_lengths_can_have_other_names() -> None:
    e = loads("(split k0 (input x [f32]64))")
    assert outline(e, 50, {"k0": "k7"}) == "(split k7 x)"


def test_a_quotient_that_is_rounded_up_is_shown_as_such() -> None:
    assert size_outline(SizeOp("/", SizeOp("+", N, SizeOp("-", K, 1)), K)) == "ceil(n/k0)"
    assert size_outline(SizeOp("*", SizeOp("/", N, K), K)) == "(n/k0)*k0"
    assert size_outline(SizeOp("/", N, SizeOp("*", K, K))) == "(n/(k0*k0))"
