"""Programs into the e-graph: tuples made binary, then one egglog action per node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from egglift.egraph.rules.constructors import ARITHMETIC, SPELLINGS
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError
from egglift.ir.outer_product import factors
from egglift.ir.patterns import Expr, Level, Operator
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.traverse import rebuild, subterms
from egglift.ir.types import Array, Scalar, Tuple, Type

LEVELS = {kind: kind.capitalize() for kind in p.LEVELS}


# ---------------------------------------------------------------------------------------- binary tuples


def binary_type(t: Type) -> Type:
    """Tuples nested to the right: `(a, b, c)` -> `(a, (b, c))`."""
    match t:
        case Scalar():
            return t
        case Array(n, element):
            return Array(n, binary_type(element))
        case Tuple(items):
            first, *rest = map(binary_type, items)
            return Tuple((first, rest[0] if len(rest) == 1 else binary_type(Tuple(tuple(rest)))))


def binary(e: Expr) -> Expr:
    """`e` with tuples of two only: `<a, b, c>` -> `<a, <b, c>>`, `zip a b c` -> `zip a (zip b c)`."""
    memo: dict[Expr, Expr] = {}
    for t in subterms(e):
        memo[t] = _binary_node(t, memo)
    return memo[e]


def cancelled(e: Expr) -> Expr:
    """`e` without views that undo each other: `transpose (transpose x)`, `join (split n x)`, `split n (join x)`.

    Laws say so too, but of `join (split n (join x))` one subsumes the outer join while another makes it the inner one.
    """
    memo: dict[Expr, Expr] = {}
    for t in subterms(e):
        match new := rebuild(t, memo.__getitem__, memo.__getitem__):
            case p.Transpose(p.Transpose(x)) | p.Join(p.Split(_, x)):
                memo[t] = x
            case p.Split(x=p.Join(x)) if type_of(new) == type_of(x):
                memo[t] = x
            case _:
                memo[t] = new
    return memo[e]


def _binary_node(t: Expr, memo: dict[Expr, Expr]) -> Expr:
    match t:
        case p.Tup(items):
            return _nested(p.Tup, tuple(memo[i] for i in items))
        case p.Zip(arrays):
            return _nested(p.Zip, tuple(memo[a] for a in arrays))
        case p.Get(i, x):
            return _component(i, _width(t), memo[x])
        case p.Reduce(op, init, x) | p.Scan(op, init, x):
            return type(t)(binary_operator(op, memo[op.body]), memo[init], memo[x])
    new = rebuild(t, memo.__getitem__, memo.__getitem__)
    changes = {
        f.name: binary_type(getattr(new, f.name))
        for f in fields(new)
        if isinstance(getattr(new, f.name), Array | Tuple)
    }
    return replace(new, **changes) if changes else new  # type: ignore[arg-type]


def binary_operator(op: Operator, body: Expr | None = None) -> Operator:
    """An operator over binary tuples."""
    neutral = None if op.neutral is None else binary(op.neutral)
    return replace(op, body=body or binary(op.body), neutral=neutral)


def _nested(make: Any, items: tuple[Expr, ...]) -> Expr:
    whole = items[-1]
    for item in reversed(items[:-1]):
        whole = make((item, whole))
    return whole


def _width(get: p.Get) -> int:
    t = type_of(get.x)
    assert isinstance(t, Tuple)
    return len(t.items)


def _component(i: int, width: int, x: Expr) -> Expr:
    """Component i of `width`, in nested pairs."""
    for _ in range(i):
        x = p.Get(1, x)
    return x if i == width - 1 else p.Get(0, x)


# ---------------------------------------------------------------------------------------- actions


@dataclass
class Encoder:
    """Collects egglog actions that build programs; node i is `(slot i)`.  Shared nodes are built once.

    constants: literal arrays by their names in the e-graph.  operators: those of reductions, by number.
    tiles: symbols in the programs that are tile lengths of the e-graph, as (kind, the array that it cuts).
    """

    actions: list[str] = field(default_factory=list)
    constants: dict[str, p.Constant] = field(default_factory=dict)
    operators: list[Operator] = field(default_factory=list)
    tiles: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    slots: dict[Expr, int] = field(default_factory=dict)
    types: dict[Type, int] = field(default_factory=dict)

    def add(self, e: Expr) -> int:
        """The slot of `e`, a program over binary tuples."""
        for t in subterms(e):
            if t not in self.slots:
                self._node(t)
        return self.slots[e]

    def _node(self, t: Expr) -> None:
        text = " ".join(self._call(t))
        self.slots[t] = len(self.slots)
        self.actions.append(f"(set (slot {self.slots[t]}) ({text}))")
        if isinstance(t, p.Reduce | p.Scan):
            self.claim(t.op)
        if isinstance(t, p.Constant) and (vectors := factors(t)):
            u, v = (f"(slot {self.add(x)})" for x in vectors)
            self.actions.append(f"(outer-product (slot {self.slots[t]}) {u} {v})")

    def claim(self, op: Operator) -> None:
        """What an operator over binary tuples claims, as relations on its body."""
        if op in self.operators:
            return
        body = f"(slot {self.add(op.body)})"
        self.operators.append(op)
        self.actions.append(f"(operator {body} {len(self.operators) - 1})")
        if op.associative:
            self.actions.append(f"(associative {body})")
        if op.commutative:
            self.actions.append(f"(commutative {body})")
        if op.neutral is not None:
            self.actions.append(f"(neutral {body} (slot {self.add(op.neutral)}))")

    def type(self, t: Type) -> str:
        """The text of a type; each is built once."""
        if t not in self.types:
            match t:
                case Scalar(name):
                    text = f'(Scalar "{name}")'
                case Array(n, element):
                    text = f"(Arr {self.size(n)} {self.type(element)})"
                case Tuple((a, b)):
                    text = f"(Pair {self.type(a)} {self.type(b)})"
                case _:
                    raise AssertionError(t)
            self.types[t] = len(self.types)
            self.actions.append(f"(set (slot-type {self.types[t]}) {text})")
        return f"(slot-type {self.types[t]})"

    def size(self, n: Size) -> str:
        """The text of a length."""
        match n:
            case int():
                return f"(Num {n})"
            case Sym(name) if name in self.tiles:
                kind, array = self.tiles[name]
                return f"(Tile {quoted(kind)} (slot {self.add(array)}))"
            case Sym(name):
                return f"(Size {quoted(name)})"
            case SizeOp(op, a, b):
                return f"({ARITHMETIC[op]} {self.size(a)} {self.size(b)})"

    def _call(self, t: Expr) -> Iterator[str]:
        """A constructor and its arguments."""
        try:
            form = SPELLINGS.form_of(t)
        except KeyError:
            raise ProgramError(f"{type(t).__name__} has no encoding in the e-graph") from None
        yield form.head
        for name, kind in form.slots:
            value = getattr(t, name)
            match kind:
                case "expr" | "optional" | "body":
                    yield self._slot(value)
                case "exprs":
                    yield from map(self._slot, value)
                case "operator":
                    yield self._slot(value.body)
                case "size":
                    yield self.size(value)
                case "type" | "scalar":
                    yield self.type(value)
                case "level":
                    yield level_text(value)
                case _:
                    yield quoted(self._text(t, value))

    def _slot(self, t: Expr) -> str:
        return f"(slot {self.slots[t]})"

    def _text(self, t: Expr, value: Any) -> str:
        """What stands for a number, a name or the elements of a literal array."""
        match t:
            case p.Literal(_, type_):
                return literal_text(value, type_)
            case p.Constant():
                name = f"c{len(self.constants)}"
                self.constants[name] = t
                return name
        return str(value)


def level_text(level: Level) -> str:
    """`(Local 0)`, `(Seq)`, ..."""
    name = LEVELS[level.kind]
    return f"({name} {level.dim})" if level.kind in ("global", "workgroup", "local") else f"({name})"


def literal_text(value: bool | int | float, t: Scalar) -> str:
    """A number as text that loses nothing: integers in full, floats in hexadecimal."""
    return float(value).hex() if t.is_float else str(value)


def literal_value(text: str, t: Scalar) -> bool | int | float:
    """The inverse of `literal_text`."""
    if t.is_float:
        return float.fromhex(text)
    return text == "True" if t.name == "bool" else int(text)


def quoted(text: str) -> str:
    """An egglog string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
