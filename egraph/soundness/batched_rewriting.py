"""Instances of a law rewritten together: one e-graph, which holds the law alone or the book too, serves many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from egglift.egraph.graph.encode import Encoder, binary, binary_operator, binary_type
from egglift.egraph.graph.engine import engine
from egglift.egraph.graph.graph import Frozen, Graph
from egglift.egraph.rules.book import Book, Law, rules_of
from egglift.egraph.rules.egglog_core import Call, Expr_, Int, Lit, Rule, RuleCommand
from egglift.egraph.rules.phases import EXPLORE, Limits
from egglift.egraph.saturation.saturate import Run, allowed_laws
from egglift.egraph.soundness.instances import Instance
from egglift.egraph.soundness.left_side import subject
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import subterms
from egglift.ir.types import I32, Array

ROWS = 500  # that a book adds to each instance
SECONDS = 60.0  # that a book takes at most: far more than it needs, as results must not depend on the clock


@dataclass(frozen=True)
class Rewritten:
    """What became of an instance.

    graph: everything that is equal to it.  matched: did its rule match in it?  tiles: its tile symbols as the graph
    calls them.
    """

    graph: Graph
    matched: bool
    tiles: dict[str, Size]


def rewritten(law: Law, instances: Sequence[Instance], book: Book | None = None) -> list[Rewritten]:
    """Instances, their inputs and tile symbols told apart by tags, after one step of the law alone; with a `book`, also
    after what its laws then make of them within `ROWS` rows each, those that reassociate only if the law does.

    RuleError where what the laws equate has different types.
    """
    whole = book or Book((law,))
    allowed = allowed_laws(whole, None, (), book is None or law.reassociating)
    run = Run(whole, allowed, Limits(ROWS * len(instances), SECONDS) if book else Limits())
    name = "tested" if book else law.name
    with engine(book or Book(())) as e:
        encoder = Encoder()
        for instance in instances:
            _enter(encoder, instance)
        e.add(encoder.actions)
        e.run(f"(relation matched (i64 Expr)) (ruleset {name}) (ruleset {name}/back)")
        e.execute(_noting(law, name))
        e.run("(run-schedule (saturate (seq (run typing) (run subst))) (run not-open) (run pruned))")
        e.run(f"(run-schedule (run bottoms) (run {name}) (run {name}/back))")
        run.prepare(e)
        for phase in EXPLORE if book else ():
            run.phase(e, phase)
        frozen = Frozen(e, encoder)
    return [_one(frozen, encoder, instance) for instance in instances]


def _one(frozen: Frozen, encoder: Encoder, instance: Instance) -> Rewritten:
    program = binary(instance.program)
    slots = [encoder.slots[t] for t in subterms(program)]
    tiles = {}
    for name in instance.tiles:
        t = frozen.type(encoder.types[_cut(name)])
        assert isinstance(t, Array)
        tiles[name] = t.length
    matched = frozen.noted("matched", instance.rule, slots)
    return Rewritten(frozen.graph(encoder.slots[program]), matched, tiles)


@cache
def _noting(law: Law, name: str) -> tuple[RuleCommand, ...]:
    """The law's rules in rulesets `name`; each also notes `(matched number e)`, of what it is about."""
    found = []
    for number, r in enumerate(rules_of(law)):
        note = Expr_(r.span, Call(r.span, "matched", [Lit(r.span, Int(number)), subject(r)]))
        ruleset = name if r.ruleset == law.name else f"{name}/back"
        found.append(RuleCommand(Rule(r.span, [note, *r.head], r.body, f"{name}#{number}", ruleset)))
    return tuple(found)


# ---------------------------------------------------------------------------------------- putting instances in


def _enter(encoder: Encoder, instance: Instance) -> None:
    """An instance, with what is known about it."""
    encoder.tiles |= instance.tiles
    root = encoder.add(binary(instance.program))
    for op in instance.operators:
        encoder.claim(binary_operator(op))
    for name in instance.tiles:
        encoder.type(_cut(name))
    facts: list[tuple[str, ...]] = []
    facts += [("wanted", _argument(f, encoder), encoder.type(binary_type(t))) for f, t in instance.wanted]
    facts += [(name, *(_argument(x, encoder) for x in args)) for name, args in instance.facts]
    encoder.actions += [*(f"({' '.join(fact)})" for fact in facts), f"(root (slot {root}))"]


def _cut(name: str) -> Array:
    """A type that shows what the graph calls a tile symbol."""
    return Array(Sym(name), I32)


def _argument(x: Expr | Size, encoder: Encoder) -> str:
    """The text of a fact's argument."""
    return encoder.size(x) if isinstance(x, int | Sym | SizeOp) else f"(slot {encoder.add(binary(x))})"
