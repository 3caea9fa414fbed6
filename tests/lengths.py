"""The lengths in the rules of the book, as integers of an SMT solver.

A rule's left side is well-typed by assumption.  What its right side then needs becomes an obligation: chunks divide
what they split, no more is taken than there is, windows fit, lengths that are zipped, mapped over or said to be equal
are equal.  What patterns take, give and need is said by their types (ir/patterns.py).  Lengths and tile sizes are
symbols for all integers; a type that the rule does not tell is left open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from egglift.egraph.rules.constructors import CONSTRUCTORS, Constructor
from egglift.egraph.rules.language import declarations, signatures
from egglift.ir import types as ir
from egglift.ir.schemes import Function, Need, Variable
from egglift.ir.sizes import SizeOp, Sym

Type: TypeAlias = "tuple[Any, ...] | None"
#: what the names of lengths in a type stand for
Known: TypeAlias = "dict[str, z3.ArithRef]"
PRIMITIVES = {">": lambda a, b: a > b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}


@dataclass(frozen=True)
class Call:
    """A pattern, or a relation, over others."""

    name: str
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Var:
    """A variable of a rule."""

    name: str


@dataclass(frozen=True)
class Lit:
    """A number or a text."""

    value: Any


@dataclass(frozen=True)
class Both:
    """`(= a b)` in a rule's condition, `(union a b)` in its result, `(let a b)`: kind says which."""

    kind: str
    a: Any
    b: Any


def read(x: Any) -> Any:
    """egglog's syntax tree without its spans."""
    match type(x).__name__:
        case "Call":
            return Call(x.name, tuple(map(read, x.args)))
        case "Var":
            return Var(x.name)
        case "Lit":
            return Lit(x.value.value)
        case "Eq":
            return Both("=", read(x.left), read(x.right))
        case "Union":
            return Both("union", read(x.lhs), read(x.rhs))
        case "Let":
            return Both("let", Var(x.lhs), read(x.rhs))
        case "Fact" | "Expr_":
            return read(x.expr)
    return None


class Lengths:
    """Types one rule.  assumed: what its left side says; obligations: what its right side needs."""

    def __init__(self, rule: Any) -> None:
        self.assumed: list[z3.BoolRef] = []
        self.obligations: list[z3.BoolRef] = []
        self.divisors: dict[str, z3.ArithRef] = {}
        self.nats: dict[str, z3.ArithRef] = {}
        self.terms: dict[str, Any] = {}  # what a variable stands for
        self.types: dict[str, Type] = {}  # of variables that stand for programs
        self.equal: list[tuple[z3.ArithRef, z3.ArithRef]] = []  # lengths that the left side says are equal
        self.bound: dict[str, Type] = {}  # type variables that the left side tells
        self.divided: dict[tuple[str, str], tuple[z3.ArithRef, z3.ArithRef]] = {}
        self.need = self.assumed
        self._left([read(f) for f in rule.body])
        self.need = self.obligations
        self._right([read(a) for a in rule.head])

    # ------------------------------------------------------------------------------------ both sides

    def _left(self, facts: list[Any]) -> None:
        equal = [f for f in facts if isinstance(f, Both)]
        sides = [(a, b) for f in equal for a, b in ((f.a, f.b), (f.b, f.a))]
        for a, b in sides:
            if isinstance(a, Var) and isinstance(b, Call) and b.name != "type-of":
                self.terms.setdefault(a.name, b)
        for a, b in sides:
            if isinstance(b, Call) and b.name == "type-of" and isinstance(b.args[0], Var):
                self.types[b.args[0].name] = self.type(a)
        for _ in range(2):  # what a part tells of another is known the second time
            self.types = {x: t for x, t in self.types.items() if t is not None}
            self._assume(facts)

    def _assume(self, facts: list[Any]) -> None:
        equal = [f for f in facts if isinstance(f, Both)]
        for f in facts:
            if isinstance(f, Call) and f.name == "over" and isinstance(f.args[0], Var):  # (over a y u): a = u[y]
                self.types.setdefault(f.args[0].name, self.infer(f.args[2]))
        for f in equal:
            if _is_nat(f.a) or _is_nat(f.b):
                self.assumed.append(self.nat(f.a) == self.nat(f.b))
            if isinstance(f.a, Var) and _is_expr(f.b):
                self.same(self.types.get(f.a.name), self.infer(f.b))
        for f in facts:
            if isinstance(f, Call) and f.name in PRIMITIVES and all(map(_is_arithmetic, f.args)):
                self.assumed.append(PRIMITIVES[f.name](*map(self.nat, f.args)))
            self._tiled(f)

    def _tiled(self, f: Any) -> None:
        """(tile2 g r c ts v): so many tiles of r times c elements that they cover the grid g, and no more."""
        if isinstance(f, Call) and f.name == "zip-of" and self.need is self.assumed:  # (zip-of g a b): arrays alike
            shape = [self._symbol(f"zip{d}") for d in range(3)]
            for x in f.args[1:]:
                self.types[x.name] = ("Arr", shape[0], ("Arr", shape[1], ("Arr", shape[2], None)))
        if isinstance(f, Call) and f.name in ("tile1", "tile2", "tile3"):
            grid, *sizes, tiles, _ = f.args
            inner, outer = self.infer(grid), self.infer(tiles)
            for size in sizes:
                (n, inner), (count, outer) = self._parts(inner), self._parts(outer)
                if n is not None and count is not None:
                    tile = self.nat(size)
                    self.need.append(count == self.division(n + tile - 1, tile)[0])

    def _right(self, actions: list[Any]) -> None:
        for action in actions:
            self._tiled(action)
            match action:
                case Both("let", Var(name), e):
                    self.terms[name] = e
                    if _is_expr(e):
                        self.types[name] = self.infer(e)
                case Both("union", Call("type-of", (x,)), t):
                    self.same(self.infer(x), self.type(t))
                case Both("union", a, b) if _is_nat(self._known(a)) or _is_nat(b):
                    self.need.append(self.nat(a) == self.nat(b))
                case Both("union", a, b):
                    self.same(self.infer(a), self.infer(b))

    def _known(self, e: Any) -> Any:
        return self.terms.get(e.name, e) if isinstance(e, Var) else e

    # ------------------------------------------------------------------------------------ lengths

    def nat(self, e: Any) -> z3.ArithRef:
        """A length, or a number in one."""
        match e:
            case Lit(value):
                return z3.IntVal(value)
            case Var(name):
                if name in self.terms and _is_nat(self.terms[name]):
                    return self.nat(self.terms[name])
                if name not in self.nats:
                    self.nats[name] = self._symbol(name)
                return self.nats[name]
            case Call("Num", (a,)):
                return self.nat(a)
            case Call("Tile", _):
                if str(e) not in self.nats:
                    self.nats[str(e)] = tile = self._symbol(f"tile{len(self.nats)}")
                    self.assumed.append(tile >= 1)
                return self.nats[str(e)]
            case Call("NAdd" | "+", (a, b)):
                return self.nat(a) + self.nat(b)
            case Call("NMul" | "*", (a, b)):
                return self.nat(a) * self.nat(b)
            case Call("-", (a, b)):
                return self.nat(a) - self.nat(b)
            case Call("NSub", (a, b)):
                self.need.append(self.nat(a) >= self.nat(b))  # lengths are not negative
                return self.nat(a) - self.nat(b)
            case Call("NDiv" | "/", (a, b)):
                return self.division(self.nat(a), self.nat(b))[0]
            case Call("%", (a, b)):
                return self.division(self.nat(a), self.nat(b))[1]
        raise AssertionError(f"{e} is no length")

    def _symbol(self, name: str) -> z3.ArithRef:
        found = z3.Int(name)
        self.assumed.append(found >= 0)
        return found

    def division(self, a: z3.ArithRef, b: z3.ArithRef) -> tuple[z3.ArithRef, z3.ArithRef]:
        """Quotient and remainder of lengths, b > 0: `a == b*q + r, 0 <= r < b`; (k, 0) of a product k * b."""
        a, b = (z3.substitute(x, *self.equal) if self.equal else x for x in (a, b))
        if (k := cancelled(a, b)) is not None:
            self.assumed.append(b >= 1)
            return k, z3.IntVal(0)
        key = (str(z3.simplify(a)), str(z3.simplify(b)))
        if key not in self.divided:
            q, r = z3.Ints(f"q{len(self.divided)} r{len(self.divided)}")
            self.assumed += [b >= 1, a == b * q + r, r >= 0, r < b, z3.Implies(a >= 0, q >= 0)]
            self.assumed += [b * q <= a, a < b * q + b]
            self.divided[key] = q, r
            self.divisors |= {str(v): v for v in _symbols(b)}
        return self.divided[key]

    # ------------------------------------------------------------------------------------ types

    def type(self, e: Any) -> Type:
        """A type as it is written; None for what the rule does not tell."""
        match e:
            case Var(name) if name in self.terms:
                return self.type(self.terms[name])
            case Var(name):
                return self.bound.get(name, ("Var", name))
            case Call("Arr", (n, t)):
                return ("Arr", self.nat(n), self.type(t))
            case Call("Pair", (a, b)):
                return ("Pair", self.type(a), self.type(b))
            case Call("type-of", (x,)):
                return self.infer(x)
        return None

    def same(self, a: Type, b: Type) -> None:
        """Equal types have equal lengths."""
        a, b = self._resolved(a), self._resolved(b)
        if a is not None and b is not None and a[0] == "Var" and a != b and self.need is self.assumed:
            self.bound.setdefault(a[1], b)
        if a is None or b is None:
            return
        if a[0] == b[0] == "Arr":
            if not z3.eq(z3.simplify(a[1]), z3.simplify(b[1])):
                self.need.append(a[1] == b[1])
                if self.need is self.assumed and z3.is_const(a[1]) and z3.is_const(b[1]):
                    self.equal.append((b[1], a[1]))
            self.same(a[2], b[2])
        elif a[0] == b[0] == "Pair":
            self.same(a[1], b[1])
            self.same(a[2], b[2])

    def infer(self, e: Any) -> Type:
        """The type of a program, with what its patterns ask of lengths."""
        if isinstance(e, Var):
            if e.name not in self.types and e.name in self.terms and _is_expr(self.terms[e.name]):
                self.types[e.name] = None  # a cycle tells nothing
                self.types[e.name] = self.infer(self.terms[e.name])
            return self.types.get(e.name)
        assert isinstance(e, Call), e
        if e.name == "Arg":
            return self.type(e.args[0])
        if e.name == "Subst":
            return self.infer(e.args[0])
        c = CONSTRUCTORS[e.name]
        return None if c.scheme is None else self._by_scheme(e, c, dict(zip(c.variables, e.args, strict=True)))

    def _by_scheme(self, e: Call, c: Constructor, args: dict[str, Any]) -> Type:
        """What the type of the pattern says of its parts, and asks of them."""
        assert c.scheme is not None
        lengths: Known = {name: self.nat(args[x]) for name, x in c.lengths.items()}
        types: dict[str, Type] = {}
        if "body" in c.kinds:
            self._body(e)
        elif e.name == "Split" and self.need is self.assumed:
            self._array(e.args[1], None)
        for x, t in c.takes:
            self._told(t, self.infer(args[x]), lengths, types)
        for need in c.scheme.needs:
            self._asked(need, lengths)
        return self._made(c.scheme.gives, lengths, types)

    def _told(self, wanted: Any, t: Type, lengths: Known, types: dict[str, Type]) -> None:
        t = self._resolved(t)
        match wanted:
            case Function():
                self._told(wanted.gives, t, lengths, types)
            case Variable(name):
                types[name] = types.get(name) or t
            case ir.Array(Sym(n), element) if t is not None and t[0] == "Arr":
                if lengths.setdefault(n, t[1]) is not t[1]:
                    self.same(("Arr", lengths[n], None), ("Arr", t[1], None))
                self._told(element, t[2], lengths, types)
            case ir.Tuple((a, b)) if t is not None and t[0] == "Pair":
                self._told(a, t[1], lengths, types)
                self._told(b, t[2], lengths, types)

    def _asked(self, need: Need, lengths: Known) -> None:
        a, b = (self._length(n, lengths) for n in (need.a, need.b))
        if a is not None and b is not None:
            ways = {"<=": lambda: a <= b, "<": lambda: a < b, "divides": lambda: self.division(b, a)[1] == 0}
            self.need.append(ways[need.relation]())

    def _made(self, t: Any, lengths: Known, types: dict[str, Type]) -> Type:
        match t:
            case ir.Array(n, element):
                known = self._length(n, lengths)
                return None if known is None else ("Arr", known, self._made(element, lengths, types))
            case ir.Tuple((a, b)):
                return ("Pair", self._made(a, lengths, types), self._made(b, lengths, types))
        return types.get(t.name)

    def _length(self, n: Any, lengths: Known) -> z3.ArithRef | None:
        match n:
            case int():
                return z3.IntVal(n)
            case SizeOp(op, x, y):
                a, b = self._length(x, lengths), self._length(y, lengths)
                if a is None or b is None:
                    return None
                return self.division(a, b)[0] if op == "/" else {"+": a + b, "-": a - b, "*": a * b}[op]
        return lengths.get(getattr(n, "name", ""))

    def _resolved(self, t: Type) -> Type:
        return self.bound.get(t[1], t) if t is not None and t[0] == "Var" else t

    def _parts(self, t: Type) -> tuple[z3.ArithRef | None, Type]:
        t = self._resolved(t)
        return (t[1], self._resolved(t[2])) if t is not None and t[0] == "Arr" else (None, None)

    def _elements(self, x: Any) -> tuple[z3.ArithRef | None, Type]:
        return self._parts(self.infer(x))

    def _body(self, e: Call) -> None:
        """The argument of a body is of the type of the elements; a fold's is a pair with the accumulator."""
        at = signatures()[e.name].index("body")
        body, x = e.args[at], e.args[-1]
        if e.name == "Map" and self.need is self.assumed:
            for t in list(self._arguments(body))[:1]:
                self._array(x, self.type(t))
        element = self._elements(x)[1]
        if e.name in ("Map", "MapL"):
            for t in self._arguments(body):
                self.same(self.type(t), element)
        elif e.name.startswith("Fold"):
            for t in self._arguments(body):
                self.same(self.type(t), ("Pair", self.infer(e.args[-2]), element))
        self.infer(body)

    def _arguments(self, body: Any) -> Iterator[Any]:
        """The types that a body's argument is written with, in the body itself and not in those inside of it."""
        body = self._known(body)
        if isinstance(body, Call) and body.name == "Arg":
            yield body.args[0]
        elif isinstance(body, Call) and body.name == "Subst":
            yield from self._arguments(body.args[1])
        elif _is_expr(body):
            for kind, a in zip(signatures()[body.name], body.args, strict=True):
                if kind == "expr":
                    yield from self._arguments(a)

    def _array(self, x: Any, element: Type) -> None:
        """The left side takes `x` for an array: if nothing more is known, of some length."""
        known = self._resolved(self.infer(x))
        if known is None and isinstance(x, Var):
            self.types[x.name] = ("Arr", self._symbol(f"|{x.name}|"), element)
        elif known is not None and known[0] == "Var":
            self.bound[known[1]] = ("Arr", self._symbol(f"|{known[1]}|"), element)


def _is_nat(e: Any) -> bool:
    return isinstance(e, Call) and (e.name in declarations()["Nat"] or e.name in "+-*/%")


def _is_expr(e: Any) -> bool:
    return isinstance(e, Call) and e.name in signatures()


def _is_arithmetic(e: Any) -> bool:
    return isinstance(e, Var | Lit) or (_is_nat(e) and all(map(_is_arithmetic, e.args)))


def _symbols(e: z3.ExprRef) -> Iterator[z3.ArithRef]:
    if z3.is_const(e) and e.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        yield e
    for c in e.children():
        yield from _symbols(c)


def cancelled(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef | None:
    """k where `a` is written as the product of k and `b`; None if it is not."""
    factors = list(_factors(z3.simplify(a)))
    for f in _factors(z3.simplify(b)):
        at = next((i for i, g in enumerate(factors) if z3.eq(f, g)), None)
        if at is None:
            return None
        del factors[at]
    return z3.Product(factors) if factors else z3.IntVal(1)


def _factors(e: z3.ArithRef) -> Iterator[z3.ArithRef]:
    if z3.is_mul(e):
        for c in e.children():
            yield from _factors(c)
    else:
        yield e
