"""The two sides of laws as patterns over a frozen e-graph: what a rule takes, what it makes, and where it matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from egglift.egraph.explanation.embedding import Place
from egglift.egraph.graph.encode import level_text
from egglift.egraph.graph.graph import ENode
from egglift.egraph.rules.book import Law, as_rule, commands_of
from egglift.egraph.rules.egglog_core import Call, Eq, Int, Let, Lit, String, Union, Var
from egglift.egraph.rules.language import signatures
from egglift.ir.patterns import Level
from egglift.ir.sizes import Sym

#: what substitution and projections make disappear again, and what lengths are named after
_PASSING = frozenset({"Subst", "Tup", "Fst", "Snd", "Arg", "Iota"})

#: the nodes of a class, of those that a match may use
Nodes = Callable[[int], Iterable[ENode]]


@dataclass(frozen=True)
class Equation:
    """One union of a rule.  subject: the variable that is rewritten; made: what into.

    taken: the patterns that each variable must hold, `subject` first of all.
    """

    law: str
    subject: str
    taken: Mapping[str, tuple[Any, ...]] = field(repr=False)
    made: Any = field(repr=False)

    @property
    def takes(self) -> frozenset[str]:
        """The operators on its left side."""
        return frozenset(op for patterns in self.taken.values() for p in patterns for op in _operators(p))

    @property
    def makes(self) -> frozenset[str]:
        """The operators on its right side."""
        return frozenset(_operators(self.made)) - _PASSING

    def yields(self, node: ENode) -> bool:
        """Can `node` be what this law made, by its operator and what else is fixed of it?"""
        if isinstance(self.made, Call) and self.made.name == "Subst":
            return True  # substitution goes on until it meets some operator
        return isinstance(self.made, Call) and self.made.name == node.op and fits(self.made, node)


@dataclass(frozen=True)
class Match:
    """Where a left side matches: classes of its variables, and the nodes that it looks into, from the outside in."""

    classes: Mapping[str, int]
    nodes: tuple[Place, ...] = ()


@cache
def equations(law: Law) -> tuple[Equation, ...]:
    """The unions of a law's rules, read from left to right."""
    found = []
    for command in commands_of(law):
        rule = as_rule(command)
        if rule is not None and rule.ruleset == law.name:
            taken: dict[str, tuple[Any, ...]] = {}
            for fact in rule.body:
                if isinstance(fact, Eq) and isinstance(fact.left, Var) and isinstance(fact.right, Call):
                    taken[fact.left.name] = (*taken.get(fact.left.name, ()), fact.right)
            lets = {action.lhs: action.rhs for action in rule.head if isinstance(action, Let)}
            for action in rule.head:
                if isinstance(action, Union) and isinstance(action.lhs, Var):
                    found.append(Equation(law.name, action.lhs.name, taken, _resolved(action.rhs, lets)))
    return tuple(found)


def matches(equation: Equation, c: int, nodes: Nodes) -> Iterator[Match]:
    """Every way in which the left side matches class `c`, by its patterns; what it asks for besides is not checked."""
    yield from _variable(equation, equation.subject, c, Match({}), nodes)


def _variable(q: Equation, name: str, c: int, so_far: Match, nodes: Nodes) -> Iterator[Match]:
    if name in so_far.classes:
        if so_far.classes[name] == c:
            yield so_far
        return
    matches: Iterable[Match] = [Match({**so_far.classes, name: c}, so_far.nodes)]
    for pattern in q.taken.get(name, ()):
        if pattern.name in signatures():
            matches = [new for old in matches for new in _pattern(q, pattern, c, old, nodes)]
    yield from matches


def _pattern(q: Equation, pattern: Any, c: int, so_far: Match, nodes: Nodes) -> Iterator[Match]:
    if isinstance(pattern, Var):
        yield from _variable(q, pattern.name, c, so_far, nodes)
        return
    for node in nodes(c):
        if node.op == pattern.name and fits(pattern, node):
            matches = [Match(so_far.classes, (*so_far.nodes, Place(c, node)))]
            kinds = signatures()[node.op]
            inner = [a for a, k in zip(pattern.args, kinds, strict=True) if k in ("expr", "body")]
            for argument, child in zip(inner, node.children, strict=True):
                matches = [new for old in matches for new in _pattern(q, argument, child, old, nodes)]
            yield from matches


def makes(equation: Equation, node: ENode, match: Match, nodes: Nodes) -> bool:
    """Is `node`, as far as it can be seen, what the right side makes of a match?"""
    return _is_made(equation.made, [node], match.classes, nodes)


def _is_made(pattern: Any, found: Iterable[ENode], classes: Mapping[str, int], nodes: Nodes) -> bool:
    if not isinstance(pattern, Call) or pattern.name == "Subst":
        return True
    kinds = signatures()[pattern.name]
    inner = [a for a, k in zip(pattern.args, kinds, strict=True) if k in ("expr", "body")]

    def agrees(argument: Any, c: int) -> bool:
        if isinstance(argument, Var):
            return classes.get(argument.name, c) == c
        return _is_made(argument, nodes(c), classes, nodes)

    return any(
        node.op == pattern.name and fits(pattern, node) and all(map(agrees, inner, node.children)) for node in found
    )


def fits(pattern: Any, node: ENode) -> bool:
    """Do levels, names and numbers that the pattern fixes agree with the node's?"""
    kinds = signatures()[node.op]
    fixed = [(a, k) for a, k in zip(pattern.args, kinds, strict=True) if k not in ("expr", "body")]
    if node.op in ("Lit", "Constant"):
        return True
    return all(_agrees(a, k, d) for (a, k), d in zip(fixed, node.data, strict=False))


def _agrees(argument: Any, kind: str, value: object) -> bool:
    match argument:
        case Lit(value=String(value=text)):
            return text == value
        case Lit(value=Int(value=number)):
            return number == value
        case Call(name="Tile", args=[Lit(value=String(value=text)), _]) if isinstance(value, Sym):
            return value.name.rstrip("0123456789") == text  # a tile length is named after its kind
        case Call(name="Num", args=[Lit(value=Int(value=number))]):
            return number == value
        case Call(name=name, args=args) if kind == "level" and isinstance(value, Level):
            head, *rest = level_text(value).strip("()").split()
            numbers = [str(a.value.value) if isinstance(a, Lit) and isinstance(a.value, Int) else None for a in args]
            return name == head and all(n in (None, r) for n, r in zip(numbers, rest, strict=True))
    return True


def _resolved(part: Any, lets: Mapping[str, Any]) -> Any:
    """A right side with what `let` names written out at its head: deeper names stay."""
    while isinstance(part, Var) and part.name in lets:
        part = lets[part.name]
    if isinstance(part, Call):
        return Call(part.span, part.name, [_resolved(a, lets) for a in part.args])
    return part


def _operators(part: Any) -> Iterator[str]:
    if isinstance(part, Call):
        if part.name in signatures():
            yield part.name
        for argument in part.args:
            yield from _operators(argument)
