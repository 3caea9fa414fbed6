"""Derivations: the laws that lead to a low-level program, in an order in which each rewrites what is there already."""

from __future__ import annotations

from functools import cache

import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.explanation.ablation import contains
from egglift.egraph.explanation.derivation import Derivation
from egglift.egraph.explanation.derive import derive
from egglift.egraph.explanation.embedding import Host
from egglift.egraph.explanation.replay import replay
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.encode import binary
from egglift.egraph.rules.book import book
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.ir import patterns as p
from egglift.ir.errors import RuleError
from egglift.ir.notation import as_expr
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.ir.traverse import instantiate, subterms, tile_symbols
from tests.deep import every
from tests.egraph.programs import PROGRAMS, composed, dot

LIMITS = Limits(20_000, 60.0)


def product(n: int) -> Expr:
    return as_expr(el.array("A", el.f32, (n, n)) @ el.array("B", el.f32, (n, n)))


def layer(n: int) -> Expr:
    a, b = el.array("A", el.f32, (n, n)), el.array("B", el.f32, (n, n))
    return as_expr(el.maximum(a @ b + el.array("b", el.f32, n), 0))


def gravity(n: int) -> Expr:
    """Every body is pulled by all others, in one dimension."""
    bodies = el.zip(el.array("x", el.f32, n), el.array("m", el.f32, n))

    def pull(a: el.Value) -> el.Value:
        return el.reduce(el.add, 0.0, bodies.map(lambda b: b[1] * el.rsqrt((b[0] - a[0]) * (b[0] - a[0]) + 0.1)))

    return as_expr(bodies.map(pull))


def softmax(n: int) -> Expr:
    def row(x: el.Value) -> el.Value:
        powers = x.map(lambda v: el.exp(v - x.reduce(el.maximum, float("-inf"))))
        return powers.map(lambda v: v / powers.reduce(el.add, 0.0))

    return as_expr(el.array("x", el.f32, (1, n)).map(row))


@cache
def low_level(source: Expr, preset: str) -> tuple[Expr, ...]:
    """The programs that extraction finds for a device, best first."""
    graph = saturate(source, limits=LIMITS).graph
    return tuple(found.term for found in Extractor(graph, weights(presets()[preset])).run())


def tiled(source: Expr) -> Expr:
    """The best program for a GPU whose work-groups stage tiles and whose work-items share them in two dimensions."""

    def fits(e: Expr) -> bool:
        spaces = {t.space for t in subterms(e) if isinstance(t, p.To)}
        levels = {str(t.level) for t in subterms(e) if isinstance(t, p.Map) and t.level}
        return spaces == {"local", "private"} and len(levels) >= 4

    return next(e for e in low_level(source, "nvidia_h200") if fits(e))


@pytest.fixture(scope="module")
def blocked() -> Derivation:
    source = product(256)
    sizes = dict.fromkeys(tile_symbols(tiled(source)), 8)
    return derive(source, tiled(source), sizes=sizes, limits=LIMITS, seconds=0)


# ---------------------------------------------------------------------------------------- which laws


def test_a_tiled_product_is_derived_by_the_known_laws(blocked: Derivation) -> None:
    assert set(blocked.laws) >= {
        "hoist-capture",
        "block",
        "fold-split",
        "interchange-outer",
        "tile-outer",
        "interchange-outer-into",
        "to-local",
        "to-private",
        "map-workgroup-2d",
        "map-local-2d",
    }
    assert not {"deal", "vectorise-reduce", "reduce-to-tree", "map-warp"} & set(blocked.laws)


def test_the_laws_of_a_derivation_alone_lead_to_the_program(blocked: Derivation) -> None:
    host = Host(saturate(blocked.source, limits=LIMITS).graph)
    again = saturate(blocked.source, laws=blocked.laws, limits=LIMITS).graph
    assert contains(again, host, binary(blocked.target))


@pytest.mark.deep
def test_no_law_of_a_minimal_derivation_can_be_left_out() -> None:
    source = dot(1 << 16)
    target = low_level(source, "nvidia_h200")[0]
    found = derive(source, target, limits=LIMITS, seconds=60)
    assert found.minimal
    assert "without any one of them it does not" in str(found)
    host = Host(saturate(source, limits=LIMITS).graph)
    for name in found.laws:
        rest = saturate(source, laws=[n for n in found.laws if n != name], limits=LIMITS).graph
        assert not contains(rest, host, binary(target)), name


def test_a_derivation_in_short_time_says_it_may_not_be_minimal(blocked: Derivation) -> None:
    assert not blocked.minimal
    assert "Not every law was tried in time" in str(blocked)


@pytest.mark.parametrize(
    ("program", "preset"),
    [
        (gravity, "nvidia_h200"),
        pytest.param(softmax, "pocl_cpu", marks=pytest.mark.deep),
        pytest.param(layer, "nvidia_h200", marks=pytest.mark.deep),
        pytest.param(gravity, "pocl_cpu", marks=pytest.mark.deep),
    ],
)
def test_what_is_chosen_for_a_device_has_a_derivation(program, preset) -> None:  # type: ignore[no-untyped-def]
    source = program(300)
    found = derive(source, low_level(source, preset)[0], limits=LIMITS, seconds=0)
    assert found.steps and found.placing
    assert all(step.changes for step in (*found.steps, *found.placing))


@pytest.mark.parametrize("name", every(4, PROGRAMS))
def test_the_first_choice_for_any_program_has_a_derivation(name: str) -> None:
    source = PROGRAMS[name](1000)
    found = derive(source, low_level(source, "generic_gpu")[0], limits=LIMITS, seconds=0)
    assert all(step.changes for step in (*found.steps, *found.placing))


def test_without_reassociation_no_law_that_reassociates_is_used() -> None:
    source = as_expr(el.reduce(el.add, 0.0, el.array("x", el.f32, 1000)))
    graph = saturate(source, reassociate=False, limits=LIMITS).graph
    target = Extractor(graph, weights(presets()["generic_gpu"])).run()[0].term
    found = derive(source, target, reassociate=False, limits=LIMITS)
    assert not [name for name in found.laws if book()[name].reassociating]


# ---------------------------------------------------------------------------------------- in which order


def test_each_law_rewrites_what_the_laws_before_it_have_made() -> None:
    source = gravity(300)
    names = [step.law.name for step in derive(source, tiled_row(source), limits=LIMITS, seconds=60).steps]
    for i, name in enumerate(names):
        used = saturate(source, laws=names[: i + 1], limits=LIMITS).laws
        assert name in {report.name for report in used}, f"{name} finds nothing after {names[:i]}"


def tiled_row(source: Expr) -> Expr:
    return next(e for e in low_level(source, "nvidia_h200") if any(isinstance(t, p.To) for t in subterms(e)))


def test_what_a_rewrite_takes_was_made_before(blocked: Derivation) -> None:
    goal = binary(blocked.target)
    host = Host(saturate(blocked.source, limits=LIMITS).graph)
    played = replay(blocked.source, blocked.laws, book(), LIMITS, host)
    rewrites = played.rewrites(played.host.find(goal, host.values).values(), ())
    made = {r.made: i for i, r in enumerate(rewrites)}
    taken = [(made[place], i) for i, r in enumerate(rewrites) for place in r.match.nodes if place in made]
    assert len(taken) > 5
    assert all(before < after for before, after in taken)


def test_steps_come_in_the_order_of_the_derivation(blocked: Derivation) -> None:
    names = [step.law.name for step in blocked.steps]
    order = ["hoist-capture", "block", "fission", "interchange-outer", "interchange-outer-into"]
    last = {name: len(names) - names[::-1].index(name) for name in order}
    assert sorted(order, key=last.__getitem__) == order


# ---------------------------------------------------------------------------------------- how it reads


def test_a_derivation_shows_what_each_law_made_of_what(blocked: Derivation) -> None:
    text = str(blocked)
    assert "(map (map f (distl arg (transpose B))) A)\n    -> (map (map f arg) (cross A (transpose B)))" in text
    assert "where f = (reduce add 0.0 (map (mul arg[0] arg[1]) (zip arg[0] arg[1])))" in text
    assert book()["block"].equation in text and book()["block"].cited in text
    assert "Who executes what, and where values are kept:" in text
    assert "toPrivate of arg[1][0]" in text


def test_a_derivation_says_what_tile_lengths_are_for(blocked: Derivation) -> None:
    assert {tile.name for tile in blocked.tiles} == set(tile_symbols(blocked.target))
    assert "m0 = 8: rows of a block; cuts the 256 elements of A" in str(blocked)


def test_the_equation_of_a_law_is_written_once(blocked: Derivation) -> None:
    assert str(blocked).count(book()["tile-outer"].equation) == 1
    assert "tile-outer, again" in str(blocked)


def test_a_derivation_ends_with_the_low_level_program(blocked: Derivation) -> None:
    shown = str(blocked).split("The low-level program:\n")[1]
    assert loads("\n".join(line[2:] for line in shown.splitlines())) is loads(dumps(blocked.target))


# ---------------------------------------------------------------------------------------- what is refused


def test_a_program_derives_from_itself_by_no_law() -> None:
    found = derive(dot(1000), dot(1000))
    assert found.laws == () and found.minimal
    assert "no law was needed" in str(found)


def test_another_program_is_refused() -> None:
    other = low_level(composed(1000), "generic_gpu")[0]
    with pytest.raises(RuleError, match="not among the programs that the laws make of"):
        derive(dot(1000), other, limits=LIMITS)


def test_a_program_whose_tile_lengths_are_numbers_is_refused() -> None:
    target = low_level(dot(1 << 16), "nvidia_h200")[0]
    numbers = instantiate(target, dict.fromkeys(tile_symbols(target), 4))
    with pytest.raises(RuleError, match="with its tile lengths as symbols"):
        derive(dot(1 << 16), numbers, limits=LIMITS)
