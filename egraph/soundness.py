"""Does a law hold?  Random instances of its own text, both sides through the interpreter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from egglog.bindings import Rule

from egglift.egraph.book import Book, Law, book, rules_of
from egglift.egraph.choices import Choices, Spent, shrunk
from egglift.egraph.counterexample import Wrong, difference, simplest
from egglift.egraph.encode import Encoder, binary, binary_operator, binary_type
from egglift.egraph.engine import engine
from egglift.egraph.frozen import Graph, build, freeze
from egglift.egraph.instances import Instance, instance_of
from egglift.egraph.operands import close, equal, random_value
from egglift.egraph.phases import Limits
from egglift.egraph.saturate import Run
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, RuleError
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import instantiate, rebuild, subterms
from egglift.ir.types import leaves


@dataclass(frozen=True)
class Verdict:
    """What a soundness test found.

    instances: programs that contain a left side.  fired: those in which each rule of the law matched.
    compared: different programs compared.
    """

    law: str
    instances: int
    fired: dict[int, int]
    compared: int
    wrong: Wrong | None

    @property
    def sound(self) -> bool:
        """No counter-example, every rule fired, and there was something to compare."""
        return self.wrong is None and self.compared > 0 and all(self.fired.values())


@dataclass(frozen=True)
class Trial:
    """What one instance showed."""

    matched: bool
    compared: int
    wrong: Wrong | None


def check_law(law: Law | str, *, each: int = 10, draws: int = 6, seed: int = 0, shrink: int = 400) -> Verdict:
    """Test a law (of the book by name, or a user's): `each` random instances of each of its rules.

    In each the law alone rewrites a program that contains its left side; `draws` random programs that it then
    holds equal are evaluated and compared with the original.  A counter-example is made simpler in at most
    `shrink` trials.  RuleError if a rule has no instance.
    """
    law = book()[law] if isinstance(law, str) else law
    random = Random(f"{law.name} {seed}")
    fired: Counter[int] = Counter()
    made = compared = 0
    for number, rule in enumerate(rules_of(law)):
        trials = _trials(law, rule, number, random, each, draws)
        for choices, trial in trials:
            made += 1
            fired[number] += trial.matched
            compared += trial.compared
            if trial.wrong:
                wrong = _simplified(law, rule, number, choices, trial.wrong, shrink)
                return Verdict(law.name, made, dict(fired), compared, wrong)
        if number not in fired:
            raise RuleError(f"law {law.name}: no instance of its rule {number} was found; are its types consistent?")
    return Verdict(law.name, made, dict(fired), compared, None)


def _trials(
    law: Law, rule: Rule, number: int, random: Random, each: int, draws: int
) -> Iterator[tuple[list[int], Trial]]:
    """`each` trials of a rule with their choices, if there are instances."""
    made = 0
    for _ in range(40 * each):
        choices = Choices(random)
        trial = _trial(law, rule, number, choices, draws)
        if trial is not None:
            yield choices.made, trial
            made += 1
        if made == each:
            return


def _trial(law: Law, rule: Rule, number: int, rng: Choices, draws: int) -> Trial | None:
    """What one instance of a rule shows; None if these choices lead to none."""
    instance = instance_of(rule, number, rng)
    if instance is None:
        return None
    try:
        graph, matched = rewritten(law, instance)
    except RuleError as error:
        return Trial(True, 0, Wrong(instance.program, instance.program, str(error), rules=_bare(law)))
    compared = 0
    for _ in range(draws):
        mark = len(rng.made)
        other = drawn(graph, rng)
        if other is not instance.program:
            compared += 1
            wrong = _compare(law, instance, other, graph, rng)
            if wrong:
                return Trial(matched, compared, wrong)
        rng.forget(mark)
    return Trial(matched, compared, None)


def _bare(law: Law) -> str:
    """A law's rules without their ruleset: to be given to `saturate` under another name."""
    return re.sub(r"\s*:ruleset\s+[^\s)]+", "", law.text).strip()


def _simplified(law: Law, rule: Rule, number: int, choices: list[int], wrong: Wrong, limit: int) -> Wrong:
    """A counter-example that fewer and smaller choices lead to, on simple inputs."""

    def again(given: Sequence[int]) -> tuple[Sequence[int], Wrong] | None:
        rng = Choices(None, given)
        try:
            trial = _trial(law, rule, number, rng, 1)
        except Spent:
            return None
        return None if trial is None or trial.wrong is None else (rng.made, trial.wrong)

    return simplest(shrunk(choices, wrong, again, limit), _same(law))


def drawn(graph: Graph, rng: Random, depth: int = 12) -> Expr:
    """A random program of the root's class; below `depth` choices the smallest."""

    def go(c: int, left: int) -> Expr:
        if left <= 0:
            return graph.term(c)
        node = rng.choice(graph.classes[c])
        return build(node, [go(k, left - 1) for k in node.children])

    return go(graph.root, rng.randint(1, depth))


def rewritten(law: Law, instance: Instance) -> tuple[Graph, bool]:
    """The e-graph after one step of the law, the only one that is loaded; did the instance's rule match?"""
    whole = Book((law,))
    run = Run(whole, frozenset({law.name}), Limits())
    with engine(whole) as e:
        encoder = Encoder(tiles=instance.tiles)
        root = encoder.add(binary(instance.program))
        for op in instance.operators:
            encoder.claim(binary_operator(op))
        for body, t in instance.wanted:
            encoder.actions.append(f"(wanted (slot {encoder.add(binary(body))}) {encoder.type(binary_type(t))})")
        for relation, args in instance.facts:
            encoder.actions.append(f"({relation} {' '.join(_argument(x, encoder) for x in args)})")
        e.add([*encoder.actions, f"(root (slot {root}))"])
        run.prepare(e)
        matches = dict(run.rules)
        for ruleset in ("bottoms", law.name, *([f"{law.name}/back"] if law.has_back else [])):
            (out,) = e.run(f"(run-schedule (run {ruleset}))")
            matches |= {k: n for k, n in out.report.num_matches_per_rule.items() if n}
        run.settle(e)
        graph = freeze(e, encoder)
    return graph, matches.get(f"{law.name}#{instance.rule}", 0) > 0


def _argument(x: Expr | Size, encoder: Encoder) -> str:
    """The text of a fact's argument."""
    return encoder.size(x) if isinstance(x, int | Sym | SizeOp) else f"(slot {encoder.add(binary(x))})"


def _compare(law: Law, instance: Instance, other: Expr, graph: Graph, rng: Random) -> Wrong | None:
    """Evaluate both programs on random inputs, with random numbers for the tile symbols."""
    env = {name: rng.choice((1, 2, 2, 3, 4, 5)) for name in (*graph.symbols, *instance.tiles)}
    env |= {name: rng.choice((0, 1, 2)) for name in env if name.startswith("f")}  # how far ahead to fetch
    program = binary(instantiate(instance.program, env))
    asked = [t for t in subterms(program) if isinstance(t, p.Input)]
    inputs = {t.name: random_value(t.type, rng, not law.reassociating) for t in asked}
    try:
        other = instantiate(other, env)
    except EggliftError as error:
        return Wrong(program, other, f"{type(error).__name__}: {error}")
    if not law.reassociating:
        program, other = left_to_right(program), left_to_right(other)
    try:
        reason = difference(program, other, inputs, _same(law))
    except EggliftError:
        return None  # these lengths are no instance
    return Wrong(program, other, reason, inputs) if reason else None


def left_to_right(e: Expr) -> Expr:
    """`e` with its reductions of floats from left to right: the order that laws keep which do not reassociate."""
    memo: dict[Expr, Expr] = {}
    for t in subterms(e):
        new = rebuild(t, memo.__getitem__, memo.__getitem__)
        floats = isinstance(t, p.Reduce) and any(s.is_float for _, s in leaves(type_of(t.op.body)))
        memo[t] = p.Fold(new.op.body, new.init, new.x) if floats and isinstance(new, p.Reduce) else new
    return memo[e]


def _same(law: Law) -> Callable[[Any, Any], bool]:
    """Are two values equal, as far as the law says that they are?"""
    return close if law.reassociating else equal
