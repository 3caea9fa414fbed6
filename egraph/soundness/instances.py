"""Instances of laws: random well-typed programs that contain the left side of a rule, from its own text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from egglift.egraph.graph.graph import ENode, build
from egglift.egraph.rules.egglog_core import Call, Int, Lit, Rule, String, Var
from egglift.egraph.rules.language import signatures
from egglift.egraph.soundness.choices import Choices
from egglift.egraph.soundness.left_side import LeftSide
from egglift.egraph.soundness.random_terms import (
    NUMBERS,
    ArrayOf,
    Clash,
    Count,
    Kind,
    Length,
    PairOf,
    Terms,
    Unknown,
    addition,
    found,
    index_array,
    operator,
    shown,
    unify,
)
from egglift.ir import patterns as p
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr, Level, Operator
from egglift.ir.sizes import Size
from egglift.ir.tuples import as_one
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type

EMPTY = 0.9  # from here on, a length that may be 0 is 0


@dataclass(frozen=True)
class Instance:
    """A program that contains the left side of rule `rule` of a law.

    tiles: symbols in it, as (kind, the array that it cuts).  operators: those that the rule asks about.
    wanted: bodies, with the types of their arguments, whose reductions are to be taken out.
    facts: what is put in with it: relations between parts of the program and lengths.
    """

    program: Expr
    rule: int
    tiles: dict[str, tuple[str, Expr]]
    operators: tuple[Operator, ...]
    wanted: tuple[tuple[Expr, Type], ...] = ()
    facts: tuple[tuple[str, tuple[Expr | Size, ...]], ...] = ()


def instance_of(rule: Rule, number: int, rng: Choices, tag: str = "") -> Instance | None:
    """An instance of the left side of a law's rule `number`, or None if these choices lead to none.

    tag: what its inputs and tile symbols end in, to tell them from those of other instances.
    """
    try:
        pattern = LeftSide(rule, rng, rng.choice(NUMBERS), tag)
        first = pattern.read()
        roots = [first, *(Var(first.span, name) for name in pattern.apart(first))]
        asked = {name for name, *args in pattern.tests if args and getattr(args[0], "name", "") in pattern.defined}
        alone = pattern.is_root or "closed" in asked or ("open" not in asked and rng.random() < 0.4)
        scope = None if alone else Unknown()
        kinds = [pattern.type_of(root, scope) for root in roots]
        pattern.constrain()
        return _Filled(pattern, kinds, scope, roots).instance(number)
    except Clash:
        return None


def _edges(tests: Any) -> set[int]:
    """The numbers that a rule's conditions name, one less and one more."""
    found: set[int] = set()
    stack = list(tests)
    while stack:
        match stack.pop():
            case Lit(value=Int(value=n)):
                found |= {n - 1, n, n + 1}
            case Call(args=args):
                stack.extend(args)
            case tuple() as test:
                stack.extend(test)
    return found


@dataclass
class _Filled:
    """A typed pattern with numbers for its lengths and random programs for its variables."""

    pattern: LeftSide
    kinds: list[Kind]
    scope: Kind | None
    roots: list[Any]
    values: dict[Length, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    concrete: dict[int, Type] = field(default_factory=dict)
    terms: dict[str, Expr] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Terms(self.pattern.rng, self.pattern.number, self.pattern.tag)

    def instance(self, number: int) -> Instance:
        self._operator_types()
        self._solve()
        self._make_operators()
        scope = None if self.scope is None else self.type(self.scope)
        parts = [self.build(root) for root in self.roots]
        program = as_one(parts)
        if scope is not None:
            program = p.Map(program, p.Input(f"xs{self.pattern.tag}", Array(3, scope)))
        tiles = {name: (kind, self.variable(array)) for name, (kind, array) in self.pattern.tiles.items()}
        bodies = [(self.pattern.defined[f], self.pattern.scopes[f]) for f in self.pattern.wanted]
        wanted = tuple((self.build(body), self.type(scope)) for body, scope in bodies)
        facts = tuple((name, tuple(map(self._argument, args))) for name, args in self.pattern.facts)
        return Instance(program, number, tiles, tuple(self.operators.values()), wanted, facts)

    def _argument(self, x: Any) -> Expr | Size:
        """An argument of a fact: a length, or a part of the program."""
        if isinstance(x, Var) and x.name in self.pattern.nats:
            return self.size(self.pattern.nats[x.name])
        return self.build(x)

    # ------------------------------------------------------------------------------------ numbers and types

    def _solve(self) -> None:
        """Draw lengths until every equation and test holds."""
        free = list(dict.fromkeys(self._free()))
        rng = self.pattern.rng
        mark = len(rng.made)
        edges = [*sorted(_edges(self.pattern.tests)), 5, 7, 11, 13]
        for _ in range(300):
            self.values = {n: self._length(n, edges) if n.tile is None else 1 for n in free}
            if (
                self.pattern.lengths.solve(self.values)
                and self._positive()
                and all(map(self._test, self.pattern.tests))
            ):
                return
            rng.forget(mark)
        raise Clash("no lengths")

    def _length(self, n: Length, edges: list[int]) -> int:
        """A number for a free length: small, or 0, or at the edge of one of the rule's conditions, or a prime."""
        rng = self.pattern.rng
        if n.least == 0 and rng.random() >= EMPTY:
            return 0
        least = max(n.least, n.usual)
        most = least + (12 if least > 9 else 3)
        near = [edge for edge in edges if least <= edge <= most + 40]
        return rng.choice(near) if near and rng.random() >= 0.8 else rng.randint(least, most)

    def _free(self) -> Iterator[Length]:
        seen: set[int] = set()
        stack: list[Any] = [
            *self.pattern.nats.values(),
            *self.kinds,
            self.scope,
            *self.pattern.types.values(),
        ]
        stack += [use.kind for use in self.pattern.uses.values()] + [use.scope for use in self.pattern.uses.values()]
        stack += [n for pair in self.pattern.lengths.equations for n in pair]
        while stack:
            item = stack.pop()
            item = found(item) if isinstance(item, int | Length) else shown(item) if item is not None else None
            if item is None or isinstance(item, int | Scalar) or id(item) in seen:
                continue
            seen.add(id(item))
            match item:
                case Length(parts=None):
                    yield item
                case Length(parts=(_, a, b)):
                    stack += [a, b]
                case ArrayOf(n, t):
                    stack += [n, t]
                case PairOf(a, b):
                    stack += [a, b]

    def _positive(self) -> bool:
        try:
            for n in self.pattern.nats.values():
                self.pattern.lengths.number(n, self.values)
        except Clash:
            return False
        return True

    def _test(self, test: Any) -> bool:
        name, *args = test
        a, *more = [self._value(x) for x in args]
        match name:
            case "=":
                return bool(a == more[0])
            case ">" | "<" | ">=" | "<=":
                b = more[0]
                return bool({">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b}[name])
            case "lanes":
                return a in (2, 4, 8, 16)
            case "ahead":
                return a in (1, 2)
        raise RuleError(f"a law's condition ({name} ...) is not understood by the soundness test")

    def _value(self, x: Any) -> Any:
        match x:
            case Lit(value=Int(value=n)):
                return n
            case Var(name=name) if name in self.pattern.nats:
                return self.pattern.lengths.number(self.pattern.nats[name], self.values)
            case Call(name="+" | "-" | "*" | "/" | "%" as op, args=[a, b]):
                x, y = self._value(a), self._value(b)
                if op in "/%" and y == 0:
                    raise Clash("division by zero")
                return {"+": x + y, "-": x - y, "*": x * y, "/": int(x / (y or 1)), "%": x - y * int(x / (y or 1))}[op]
        raise Clash(f"condition on {x}")

    def size(self, n: Count) -> Size:
        n = found(n)
        if isinstance(n, Length) and n.tile is not None:
            return n.tile
        if isinstance(n, Length) and n.parts is not None and any(self._symbolic(part) for part in n.parts[1:]):
            from egglift.ir.sizes import SizeOp

            op, a, b = n.parts
            return SizeOp(op, self.size(a), self.size(b))
        return self.pattern.lengths.number(n, self.values)

    def _symbolic(self, n: Count) -> bool:
        n = found(n)
        if isinstance(n, int):
            return False
        return n.tile is not None or (n.parts is not None and any(map(self._symbolic, n.parts[1:])))

    def type(self, t: Kind) -> Type:
        t = shown(t)
        match t:
            case Scalar():
                return t
            case ArrayOf(n, element):
                return Array(self.size(n), self.type(element))
            case PairOf(a, b):
                return Tuple((self.type(a), self.type(b)))
        if id(t) not in self.concrete:
            self.concrete[id(t)] = self.random.type(t.flat)
        return self.concrete[id(t)]

    # ------------------------------------------------------------------------------------ operators

    def _operator_types(self) -> None:
        """Elements that operators exist for: integers, and pairs of them."""
        for name in self.pattern.ops:
            if name in self.pattern.uses:
                kind = shown(self.pattern.uses[name].kind)
                if isinstance(kind, Unknown):
                    n = self.pattern.number
                    choices: list[Kind] = [n, PairOf(n, n), PairOf(n, n), BOOL]
                    unify(kind, self.pattern.rng.choice(choices), self.pattern.lengths)

    def _make_operators(self) -> None:
        for name, wanted in self.pattern.ops.items():
            if name in self.pattern.defined:  # written out: (Op2 o (Fst p) (Snd p))
                o = self.pattern.defined[name].args[0]
                made = addition(self.pattern.number) if isinstance(o, Lit) else None
                made = made or operator(self.pattern.number, True, self.pattern.rng)
                assert made is not None
                if isinstance(o, Var):
                    self.texts[o.name] = made.name
            else:
                made = operator(self.type(self.pattern.uses[name].kind), "commutative" in wanted, self.pattern.rng)
            if made is None:
                raise Clash("no operator")
            self.operators[name] = made
            self.terms.setdefault(name, made.body)
        for variable, name in self.pattern.neutrals.items():
            neutral = self.operators[name].neutral
            assert neutral is not None
            self.terms[variable] = neutral

    # ------------------------------------------------------------------------------------ building

    def variable(self, name: str) -> Expr:
        """The program that a variable stands for."""
        if name not in self.terms:
            use = self.pattern.uses[name]
            scope = None if use.closed or use.scope is None else self.type(use.scope)
            t = self.type(use.kind)
            if name in self.pattern.indices and isinstance(t, Array) and isinstance(t.length, int):
                self.terms[name] = index_array(t.length, 5, self.pattern.rng)
            else:
                self.terms[name] = self.random.term(t, scope, work=use.work)
        made = self.terms[name]
        if any(
            {name, other} <= {a, b} and self.terms.get(other) is made
            for a, b in self.pattern.different
            for other in (a, b)
            if other != name
        ):
            raise Clash("equal by chance")
        return made

    def build(self, pattern: Any) -> Expr:
        """The program that a pattern stands for."""
        if isinstance(pattern, Var):
            defined = self.pattern.defined.get(pattern.name)
            return self.build(defined) if defined is not None else self.variable(pattern.name)
        kids, data = [], []
        for kind, arg in zip(signatures()[pattern.name], pattern.args, strict=True):
            if kind in ("expr", "body"):
                kids.append(self.build(arg))
            else:
                data.append(self._plain(kind, arg))
        if pattern.name in ("Reduce", "Scan"):
            data = [self.operators[self._name(pattern.args[0])]]
        return build(ENode(pattern.name, (), tuple(data)), kids)

    def _name(self, f: Any) -> str:
        if isinstance(f, Var):
            return str(f.name)
        raise Clash("an operator is a variable")

    def _plain(self, kind: str, arg: Any) -> Any:
        match kind, arg:
            case "size", _:
                return self.size(self.pattern.nat(arg))
            case "type", _:
                return self.type(self.pattern.type_pattern(arg))
            case "level", Call(name=name):
                return Level(name.lower())
            case "text", Lit(value=String(value=text)):
                return text
            case "text", Var(name=name):
                return self.texts.setdefault(name, self.pattern.rng.choice(("clamp", "mirror", "reflect", "wrap")))
        raise Clash(f"{kind} {arg}")
