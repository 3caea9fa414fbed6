"""Does a law hold?  Random instances of its own text, both sides through the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import numpy as np

from egglift.egraph.book import Book, Law, book
from egglift.egraph.encode import Encoder, binary, binary_operator, binary_type
from egglift.egraph.engine import engine
from egglift.egraph.frozen import Graph, build, freeze
from egglift.egraph.instances import Instance, instances
from egglift.egraph.phases import Limits
from egglift.egraph.saturate import Run
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, RuleError
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.sizes import evaluate as number
from egglift.ir.traverse import instantiate, subterms
from egglift.ir.types import Type, leaves


@dataclass(frozen=True)
class Wrong:
    """Two programs that a law equates and that are different.  `reason`: values, or why one has none."""

    program: Expr
    other: Expr
    reason: str

    def __str__(self) -> str:
        from egglift.ir.text import pretty

        one, other = pretty(self.program), pretty(self.other)
        return f"{self.reason}\n--- the program\n{one}\n--- said to be equal\n{other}"


@dataclass(frozen=True)
class Verdict:
    """What a soundness test found.

    fired: instances in which each rule of the law matched.  compared: different programs compared.
    """

    law: str
    fired: dict[int, int]
    compared: int
    wrong: Wrong | None

    @property
    def sound(self) -> bool:
        """No counter-example, every rule fired, and there was something to compare."""
        return self.wrong is None and self.compared > 0 and all(self.fired.values())


def check_law(law: Law | str, *, each: int = 10, draws: int = 6, seed: int = 0) -> Verdict:
    """Test a law (of the book by name, or a user's): `each` random instances of each of its rules.

    In each the law alone rewrites a program that contains its left side; `draws` random programs that it then
    holds equal are evaluated and compared with the original.
    """
    whole = book()
    if isinstance(law, str):
        law = whole[law]
    elif law.name not in whole.names:
        whole = whole.extended([law])
    rng = Random(f"{law.name} {seed}")
    fired: Counter[int] = Counter()
    compared = 0
    for instance in instances(law, rng, each):
        try:
            graph, matched = rewritten(law, instance, whole)
        except RuleError as error:
            clash = Wrong(instance.program, instance.program, str(error))
            return Verdict(law.name, dict(fired), compared, clash)
        fired[instance.rule] += matched
        for _ in range(draws):
            other = drawn(graph, rng)
            if other is instance.program:
                continue
            compared += 1
            wrong = _compare(instance, other, graph, rng)
            if wrong:
                return Verdict(law.name, dict(fired), compared, wrong)
    return Verdict(law.name, dict(fired), compared, None)


def drawn(graph: Graph, rng: Random, depth: int = 12) -> Expr:
    """A random program of the root's class; below `depth` choices the smallest."""

    def go(c: int, left: int) -> Expr:
        if left <= 0:
            return graph.term(c)
        node = rng.choice(graph.classes[c])
        return build(node, [go(k, left - 1) for k in node.children])

    return go(graph.root, rng.randint(1, depth))


def rewritten(law: Law, instance: Instance, whole: Book) -> tuple[Graph, bool]:
    """The e-graph after one step of the law; did the instance's rule match?"""
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


def _compare(instance: Instance, other: Expr, graph: Graph, rng: Random) -> Wrong | None:
    """Evaluate both programs on random inputs, with random numbers for the tile symbols."""
    env = {name: rng.choice((1, 2, 2, 3, 4, 5)) for name in (*graph.symbols, *instance.tiles)}
    env |= {name: rng.choice((0, 1, 2)) for name in env if name.startswith("f")}  # how far ahead to fetch
    program = instantiate(instance.program, env)
    inputs = {t.name: _random(t.type, rng) for t in subterms(program) if isinstance(t, p.Input)}
    try:
        expected = evaluate(program, inputs)
    except EggliftError:
        return None  # these lengths are no instance
    try:
        other = instantiate(other, env)
        if type_of(other) != type_of(binary(program)):
            return Wrong(program, other, f"types {type_of(program)} and {type_of(other)} differ")
        actual = evaluate(other, {k: v for k, v in inputs.items() if k in _names(other)})
    except EggliftError as error:
        return Wrong(program, other, f"{type(error).__name__}: {error}")
    if _flat(expected) != _flat(actual):
        return Wrong(program, other, f"{expected} and {actual} differ")
    return None


def _names(e: Expr) -> set[str]:
    return {t.name for t in subterms(e) if isinstance(t, p.Input)}


def _random(t: Type, rng: Random) -> Any:
    """A random value of a type: small integers, as the interpreter takes them."""
    parts = []
    for lengths, scalar in leaves(t):
        shape = tuple(map(number, lengths))
        parts.append(np.array([rng.randint(-4, 4) for _ in range(prod(shape))], scalar.dtype).reshape(shape))
    return parts[0] if len(parts) == 1 else tuple(parts)


def _flat(value: Any) -> list[Any]:
    """All numbers of a value with their shapes: compared exactly."""
    if isinstance(value, tuple | list):
        return [x for part in value for x in _flat(part)]
    if isinstance(value, Mapping):
        return [x for part in value.values() for x in _flat(part)]
    return [np.shape(value), np.asarray(value).tolist()]
