"""Left sides of rules, read and typed: what every variable of a pattern must be for the rule to match."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import Any

from egglift.egraph.rules.constructors import CONSTRUCTORS, Constructor
from egglift.egraph.rules.egglog_core import Call, Eq, Fact, Int, Lit, Rule, String, Var
from egglift.egraph.rules.language import declarations
from egglift.egraph.soundness import condition_samples
from egglift.egraph.soundness.choices import Choices
from egglift.egraph.soundness.random_terms import (
    NUMBERS,
    ArrayOf,
    Clash,
    Count,
    Kind,
    Length,
    Lengths,
    PairOf,
    Unknown,
    at_least,
    flatten,
    found,
    nonempty,
    unify,
)
from egglift.ir.errors import RuleError
from egglift.ir.schemes import Function, Need, Scheme, Variable
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.tile_kinds import BLOCK_COLUMNS, BLOCK_ROWS, GRID_TILES
from egglift.ir.types import I32, I64, Array, Scalar, Tuple, Type


def subject(rule: Rule) -> Any:
    """What a rule is about: the first variable that stands for a pattern, or is the root or slid."""
    for fact in rule.body:
        match fact:
            case Eq(left=Var() as e, right=Call(name=name)) if name in declarations()["Expr"]:
                return e
            case Fact(expr=Call(name="root" | "slid", args=[e])):
                return e
    raise RuleError(f"a rule is about no pattern: ({' '.join(map(str, rule.body))})")


@dataclass
class Use:
    """How a pattern variable of sort Expr is used."""

    kind: Kind
    scope: Kind | None
    closed: bool = False
    work: bool = False


@dataclass
class LeftSide:
    """The left side of one rule, being typed and then filled with random programs."""

    rule: Rule
    rng: Choices
    number: Scalar = I32  # the type of the numbers in it
    tag: str = ""  # what the names of inputs and tile symbols end in
    lengths: Lengths = field(default_factory=Lengths)
    defined: dict[str, Any] = field(default_factory=dict)  # variable -> what it stands for
    kinds: dict[str, Kind] = field(default_factory=dict)  # and its type
    uses: dict[str, Use] = field(default_factory=dict)
    nats: dict[str, Length] = field(default_factory=dict)
    types: dict[str, Kind] = field(default_factory=dict)
    ops: dict[str, set[str]] = field(default_factory=dict)  # operator variable -> what is required of it
    neutrals: dict[str, str] = field(default_factory=dict)  # variable of a neutral element -> operator
    different: list[tuple[str, str]] = field(default_factory=list)
    tests: list[Any] = field(default_factory=list)
    indices: set[str] = field(default_factory=set)  # variables that stand for indices into arrays
    tiles: dict[str, tuple[str, str]] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)  # variable of a derived body -> what has its type
    scopes: dict[str, Kind] = field(default_factory=dict)  # variable of a body -> its argument
    wanted: list[str] = field(default_factory=list)  # bodies whose reductions are to be taken out
    facts: list[tuple[str, list[Any]]] = field(default_factory=list)  # to be put in: relation, arguments
    derived: set[str] = field(default_factory=set)  # variables that follow from these
    is_root: bool = False

    # ------------------------------------------------------------------------------------ reading the facts

    def read(self) -> Any:
        """Sort the facts; gives the pattern that the rule is about."""
        for fact in self.rule.body:
            if isinstance(fact, Eq):
                self._equation(fact.left, fact.right)
            else:
                self._relation(fact.expr)
        return subject(self.rule)

    def apart(self, first: Any) -> list[str]:
        """Variables that stand for patterns which are no part of the first."""
        seen: set[str] = set()
        stack = [first]
        while stack:
            match stack.pop():
                case Var(name=name):
                    if name not in seen:
                        seen.add(name)
                        stack.extend([self.defined[name]] if name in self.defined else [])
                case Call(args=args):
                    stack.extend(args)
        return [name for name in self.defined if name not in seen]

    def _equation(self, a: Any, b: Any) -> None:
        expressions = declarations()["Expr"]
        if isinstance(a, Var) and isinstance(b, Call) and b.name in expressions:
            self.defined[a.name] = b
        else:
            self.tests.append(("=", a, b))

    def _relation(self, call: Any) -> None:
        names = [arg.name for arg in call.args if isinstance(arg, Var)]
        match call.name:
            case "associative" | "commutative":
                self.ops.setdefault(names[0], set()).add(call.name)
            case "neutral":
                self.ops.setdefault(names[0], set()).add("neutral")
                self.neutrals[names[1]] = names[0]
            case "root":
                self.is_root = True
            case "over":
                self._over(*call.args)
            case "part":
                reduction, other = condition_samples.reduction(), condition_samples.variable()
                self.defined[names[1]] = reduction
                sides = f"(Op2 'add' {names[1]} {other})", f"(Op2 'sub' {other} {names[1]})"
                self.defined[names[0]] = condition_samples.either(self.rng, *sides)
                self.alike[names[2]] = names[0]
                self.wanted.append(names[0])
            case "pairwise":
                self.defined[names[0]], array = condition_samples.pairwise()
                self.tests.append(("closed", array))
            case "in-turn":
                self.defined.setdefault(names[0], condition_samples.in_turn())
            case "outer-product":
                self.defined[names[0]] = condition_samples.outer_product(*names[1:])
                self.facts.append((call.name, list(call.args)))
            case "windowed":
                self.defined.setdefault(names[0], condition_samples.windows())
            case "tile1" | "tile2" | "tile3":
                self._tiled(int(call.name[-1]), *call.args)
            case "group-tiles" | "item-tiles" | "item-windows" | "shared-out" | "slid" | "stored":
                self.facts.append((call.name, list(call.args)))
            case "!=":
                self.different.append((names[0], names[1]))
            case _:
                self.tests.append((call.name, *call.args))

    def _over(self, a: Any, y: Any, u: Any) -> None:
        """(over a y u): `a` becomes y itself, or less of it."""
        if isinstance(y, Var) and y.name not in self.defined:
            self.defined[y.name] = condition_samples.second()
        self.defined[a.name] = condition_samples.either(self.rng, y, condition_samples.dropped(y))
        self.alike[u.name] = a.name

    def _tiled(self, dims: int, g: Any, *rest: Any) -> None:
        """(tile2 g r c ts v): `g` becomes a grid of windows, asked for in tiles of r by c."""
        self.defined[g.name] = condition_samples.grid(self.rng, dims)
        for r, kind in zip(rest[:dims], GRID_TILES[-dims:], strict=True):
            self._tile(r.name, kind.letter, f"{r.name}-array")
        self.facts.append((f"ask{dims}", [g, *rest[:dims]]))
        self.derived |= {v.name for v in rest[dims:]}

    # ------------------------------------------------------------------------------------ types of patterns

    def type_of(self, pattern: Any, scope: Kind | None) -> Kind:
        """The type of an Expr pattern in the scope of an argument of type `scope`."""
        if isinstance(pattern, Var):
            name = pattern.name
            if name in self.defined:
                self.kinds[name] = self.type_of(self.defined[name], scope)
                return self.kinds[name]
            use = self.uses.setdefault(name, Use(Unknown(), scope))
            if use.scope is not scope:
                use.closed = True
            return use.kind
        return _Typing(self, scope).of(pattern)

    def body(self, pattern: Any, scope: Kind) -> Kind:
        """The type of a body over an argument of type `scope`."""
        if isinstance(pattern, Var):
            self.scopes[pattern.name] = scope
        if isinstance(pattern, Var) and pattern.name not in self.defined:
            use = self.uses.setdefault(pattern.name, Use(Unknown(), scope))
            if use.scope is None:
                use.scope = scope
            unify(use.scope, scope, self.lengths)
            return use.kind
        return self.type_of(pattern, scope)

    def nat(self, pattern: Any) -> Count:
        """A length pattern: a variable, `(Num n)`, or a tile of an array."""
        if isinstance(pattern, Var):
            return self.nats.setdefault(pattern.name, Length(pattern.name))
        if pattern.name == "Num":
            (n,) = pattern.args
            if isinstance(n, Lit) and isinstance(n.value, Int):
                return n.value.value
            return self.nats.setdefault(n.name, Length(n.name))
        if pattern.name == "Tile":
            kind, y = pattern.args
            name = f"{kind.value.value} of {y.name}"
            if name not in self.nats:
                self._tile(name, kind.value.value, y.name)
            return self.nats[name]
        raise Clash(f"length {pattern.name}")

    def type_pattern(self, pattern: Any) -> Kind:
        """A type pattern: a variable, `(Arr n t)`, `(Pair a b)` or `(Scalar s)`."""
        if isinstance(pattern, Var):
            return self.types.setdefault(pattern.name, Unknown())
        match pattern.name:
            case "Arr":
                return ArrayOf(self.nat(pattern.args[0]), self.type_pattern(pattern.args[1]))
            case "Pair":
                return PairOf(self.type_pattern(pattern.args[0]), self.type_pattern(pattern.args[1]))
        match pattern.args:
            case [Lit(value=String(value=name))] if name != self.number.name:
                if Scalar(name) in NUMBERS:
                    raise Clash(f"the numbers are to be {name}")
                return Scalar(name)
        return self.number

    # ------------------------------------------------------------------------------------ the other facts

    def constrain(self) -> None:
        """Take in the facts about types, closedness, work and depth; what is left tests numbers."""
        rest = []
        deep = {call.args[0].name for name, call, _ in self._depths(">=")}
        for name, *args in self.tests:
            match name, args:
                case "kept", [Var() as n]:
                    self._tile(n.name, self._free_kind(), f"{n.name}-array")
                case "<", [Call(name="depth", args=[Var(name=n)]), _] if n in deep:
                    if found(self.nats.setdefault(n, Length(n))).tile is None:  # type: ignore[union-attr]
                        self._tile(n, self._free_kind(), f"{n}-array")
                case "tileable", [n]:
                    at_least(33, self.nat(n))
                case "=", [_, Call(name="type-of", args=[Var(name=x)])] if x in self.derived:
                    pass
                case "=", [left, Call(name="type-of", args=[x])] | [Call(name="type-of", args=[x]), left]:
                    unify(self.type_pattern(left), self._kind_of(x), self.lengths)
                case "=", [Var() as v, Call(name="Arr" | "Pair" | "Scalar") as t]:
                    unify(self.type_pattern(v), self.type_pattern(t), self.lengths)
                case "=", [Var() as v, Call(name="Tile", args=[Lit(value=String(value=kind)), Var() as y])]:
                    self._tile(v.name, kind, y.name)
                case "flat", [t]:
                    flatten(self.type_pattern(t))
                case (("closed" | "work"), [Var() as v]) if v.name in self.uses:
                    setattr(self.uses[v.name], name, True)
                case (("closed" | "open" | "work" | "bottom" | "given" | "whole"), _):
                    pass  # of a written-out pattern: seen to by the administrative rules
                case (("<" | ">="), [Call(name="depth", args=[Var() as n]), _]):
                    if name == "<":
                        at_least(33, self.nat(n))
                case ">", [Call(name="*", args=[a, b]), Lit(value=Int(value=least))]:
                    for side in (a, b):
                        at_least(isqrt(least) + 1, self.nat(side))
                    rest.append((name, *args))
                case _:
                    rest.append((name, *args))
        self.tests = rest

    def _depths(self, relation: str) -> list[Any]:
        return [t for t in self.tests if t[0] == relation and isinstance(t[1], Call) and t[1].name == "depth"]

    def _kind_of(self, x: Any) -> Kind:
        if x.name in self.alike:
            return self._kind_of(Var(x.span, self.alike[x.name]))
        if x.name in self.uses:
            return self.uses[x.name].kind
        if x.name in self.kinds:
            return self.kinds[x.name]
        raise Clash(f"the type of {x.name} is asked for where it does not occur")

    def _free_kind(self) -> str:
        """A kind of tile lengths that are kept in registers."""
        rows, columns = BLOCK_ROWS.letter, BLOCK_COLUMNS.letter
        return rows if f"{rows}0{self.tag}" not in self.tiles else columns

    def _tile(self, length: str, kind: str, array: str) -> None:
        n = found(self.nats.setdefault(length, Length(length)))
        if isinstance(n, int) or n.parts is not None:
            raise Clash("a tile length is a symbol")
        n.tile = Sym(f"{kind}0{self.tag}")
        self.tiles[n.tile.name] = (kind, array)
        self.uses.setdefault(array, Use(ArrayOf(37, self.number), None, closed=True))


def _tuple_of_one(body: Any) -> str | None:
    """The name of what a body gives twice."""
    match body:
        case Call(name="Tup", args=[Var(name=f), Var(name=g)]) if f == g:
            return str(f)
    return None


@dataclass
class _Typing:
    """The types of constructors, over types with unknowns.  names: what lengths in a scheme stand for; types: types."""

    pattern: LeftSide
    scope: Kind | None
    names: dict[Size, Count] = field(default_factory=dict)
    types: dict[str, Kind] = field(default_factory=dict)

    def of(self, call: Any) -> Kind:
        """The type of a pattern, with what follows for its parts."""
        args = call.args
        match call.name:
            case "Arg":
                t = self.pattern.type_pattern(args[0])
                if self.scope is None:
                    raise Clash("no argument here")
                unify(t, self.scope, self._lengths)
                return t
            case "Op1" | "Op2":
                for operand in args[1:]:
                    unify(self._expr(operand), self.pattern.number, self._lengths)
                return self.pattern.number
        constructor = CONSTRUCTORS.get(call.name)
        if constructor is None or constructor.scheme is None:
            raise Clash(f"{call.name} in a left side is not supported")
        return self._by_scheme(constructor, constructor.scheme, dict(zip(constructor.variables, args)))

    @property
    def _lengths(self) -> Lengths:
        return self.pattern.lengths

    def _expr(self, pattern: Any) -> Kind:
        return self.pattern.type_of(pattern, self.scope)

    def _by_scheme(self, c: Constructor, scheme: Scheme, args: dict[str, Any]) -> Kind:
        for name, x in c.names.items():
            if name in c.lengths:
                self.names[Sym(name)] = self.pattern.nat(args[x])
            else:
                self.types[name] = self.pattern.type_pattern(args[x])
        for x, t in c.takes:
            if not isinstance(t, Function):
                unify(self._expr(args[x]), self._kind(t), self._lengths)
        for need in scheme.needs:
            self._require(need)
        self._besides(c.form.head, list(args.values()))
        for x, t in c.takes:
            if isinstance(t, Function):
                unify(self.pattern.body(args[x], self._kind(t.takes)), self._kind(t.gives), self._lengths)
        return self._kind(scheme.gives)

    def _besides(self, name: str, args: list[Any]) -> None:
        """What constructors ask for besides their schemes."""
        match name, args:
            case (("Reduce" | "Tree" | "Scan" | "ScanDoubling"), [Var(name=f), *_]):
                self.pattern.ops.setdefault(f, set())
                if name.startswith("Scan"):
                    flatten(self.types["t"])
            case "ScanSeq", [body, *_]:
                flatten(self.types["s"])
                flatten(self._kind(Variable("r")))
                if _tuple_of_one(body) in self.pattern.ops:
                    unify(self.types["s"], self.types["t"], self._lengths)
            case (("Fold" | "FoldUnroll"), [Var(name=f), *_]) if f in self.pattern.ops:
                unify(self.types["s"], self.types["t"], self._lengths)
            case "FoldAhead", [ahead, f, *_]:
                self.pattern.tests.append(("ahead", ahead))
                if isinstance(f, Var) and f.name in self.pattern.ops:
                    unify(self.types["s"], self.types["t"], self._lengths)
            case "Increase", _:
                unify(self.types["t"], ArrayOf(Length(), ArrayOf(Length(), Unknown())), self._lengths)
            case "Gather", [i, _]:
                nonempty(self.names[Sym("n")])
                if isinstance(i, Var):
                    self.pattern.indices.add(i.name)
            case "Pad", _:
                nonempty(self.names[Sym("n")])
            case "Count" | "Sums", _:
                unify(self.types["type"], I32, self._lengths)

    def _require(self, need: Need) -> None:
        """Let lengths satisfy a condition: what is left over is a length of its own."""
        match need.relation, need.a, need.b:
            case "integer", Variable(t), _:
                unify(self.types[t], I64, self._lengths)
            case "scalar", Variable(t), _:
                unify(self.types[t], self.pattern.number, self._lengths)
            case "<=", int() as least, b:
                if least > 0:
                    nonempty(self._length(b))
            case (("<=" | "<"), a, b):
                rest = self.names[SizeOp("-", b, a)] = Length(usual=0)
                more = rest if need.relation == "<=" else self._lengths.new("+", rest, 1)
                self._lengths.equal(self._length(b), self._lengths.new("+", self._length(a), more))
            case "divides", a, b:
                parts = self.names[SizeOp("/", b, a)] = Length()
                self._lengths.equal(self._length(b), self._lengths.new("*", parts, self._length(a)))

    def _kind(self, t: Type) -> Kind:
        """A type of a scheme; what its names stand for is unknown at first."""
        match t:
            case Array(n, element):
                return ArrayOf(self._length(n), self._kind(element))
            case Tuple((a, b)):
                return PairOf(self._kind(a), self._kind(b))
            case Variable(name):
                return self.types.setdefault(name, Unknown())
        raise AssertionError(t)

    def _length(self, n: Size) -> Count:
        match n:
            case int():
                return n
            case Sym():
                return self.names.setdefault(n, Length())
            case SizeOp("/", a, b) if n not in self.names:  # nothing is left over in an instance
                whole = self.names[n] = Length(usual=0)
                self._lengths.equal(self._length(a), self._lengths.new("*", self._length(b), whole))
            case SizeOp(op, a, b) if n not in self.names:
                return self._lengths.new(op, self._length(a), self._length(b))
        return self.names[n]
