"""Canaries: with all laws on, what is different stays different in the e-graph of every benchmark program."""

from __future__ import annotations

import pytest

import egglift as el
from benchmarks.coverage import small
from benchmarks.programs.catalogue import Entry, entries
from egglift.egraph.graph.encode import Encoder, binary
from egglift.egraph.graph.engine import Engine, engine
from egglift.egraph.rules.book import book
from egglift.egraph.rules.phases import EXPLORE, Limits
from egglift.egraph.saturation.saturate import Run
from egglift.ir import patterns as p
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr
from egglift.ir.types import BOOL, F32, F64, I32, I64, U8, Array
from tests.deep import every

#: programs of which no two are equal: constants by value and by type, inputs by name and by type
CANARIES: tuple[Expr, ...] = (
    *(p.Literal(v, I32) for v in (0, 1, 2, -1, 7)),
    *(p.Literal(v, I64) for v in (0, 1)),
    *(p.Literal(v, U8) for v in (0, 1)),
    *(p.Literal(v, F32) for v in (0.0, 1.0, 0.5, -1.0, float("inf"), float("-inf"))),
    *(p.Literal(v, F64) for v in (0.0, 1.0)),
    p.Literal(False, BOOL),
    p.Literal(True, BOOL),
    *(p.Input(f"canary{n}", Array(n, F32)) for n in (3, 4)),
    p.Input("canary", Array(3, I32)),
    p.Input("canary0", F32),
)


def merged(program: Expr, rules: tuple[str, ...] = (), limits: Limits = Limits(6_000, 6.0)) -> list[tuple[Expr, Expr]]:
    """Canaries that are in one class after saturation of `program` beside them."""
    whole = book().extended(rules)
    run = Run(whole, frozenset(whole.names), limits)
    with engine(whole) as e:
        encoder = Encoder()
        root = encoder.add(binary(program))
        slots = [encoder.add(c) for c in CANARIES]
        e.add([*encoder.actions, f"(root (slot {root}))"])
        run.prepare(e)
        for phase in EXPLORE:
            run.phase(e, phase)
        return [(CANARIES[i], CANARIES[j]) for i in range(len(slots)) for j in range(i) if equal(e, slots[i], slots[j])]


def equal(e: Engine, i: int, j: int) -> bool:
    return e.holds(f"(check (= (slot {i}) (slot {j})))")


@pytest.mark.parametrize("e", every(4, entries()), ids=lambda e: e.name)
def test_what_is_different_stays_different(e: Entry) -> None:
    assert merged(el.as_program(e.program(*small(e)))) == []


SUM = el.as_program(el.reduce(el.add, 0.0, el.array("x", el.f32, 100)))


def test_a_wrong_law_that_makes_two_inputs_one_is_found() -> None:
    law = ';;; wrong\n(rule ((= a (Input "canary3" t)) (= b (Input "x" s)) (= (Reduce f z c) e)) ((union a b)))'
    with pytest.raises(RuleError, match="type clash: two lengths"):
        merged(SUM, (law,))
    same = ';;; wrong\n(rule ((= a (Lit x t)) (= b (Input "canary0" t)) (= x "0x1.0000000000000p-1")) ((union a b)))'
    assert merged(SUM, (same,)) == [(p.Input("canary0", F32), p.Literal(0.5, F32))]


def test_a_wrong_law_that_makes_two_constants_one_is_found() -> None:
    law = ";;; wrong\n(rule ((= a (Lit x t)) (= b (Lit y t)) (= (Reduce f z c) e)) ((union a b)))"
    with pytest.raises(RuleError, match="constant clash"):
        merged(SUM, (law,))


def test_a_wrong_law_that_makes_two_types_one_is_found() -> None:
    with pytest.raises(RuleError, match="type clash"):
        merged(SUM, (";;; wrong\n(rule ((= r (Reduce f z x))) ((union r x)))",))
