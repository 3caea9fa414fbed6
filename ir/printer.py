"""From a program to the nested lists of its text form.

Sharing is kept: what occurs twice is named once by a `let`, at the top of the program, or, where it needs
the argument of one body only, at the top of that body.  The text is linear in the number of nodes.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.layout import Doc
from egglift.ir.length_forms import Atom, Form, Operation, RunTimeLength
from egglift.ir.lengths import Length
from egglift.ir.operators import OPERATORS, named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.syntax import NAME, RESERVED, form_of
from egglift.ir.traverse import bodies, children
from egglift.ir.types import Array, Scalar, Tuple, Type, dims

#: constants of at most this many elements are printed as numbers, larger ones as base64
NUMBERS = 256


def document(e: Expr, elide: bool = False) -> Doc:
    """The text form of `e` as nested lists.  elide: shorten large constants (not readable back)."""
    body = _Printer(e, elide).document()
    lengths = lengths_of(e)
    return ["lengths", [*map(declared, lengths)], body] if lengths else body


def declared(n: RunTimeLength) -> str:
    """`(n 1 none 1 1048576)`: name, least and greatest number, what it is a multiple of, what is liked (`1000/20`)."""
    like = "/".join(map(str, n.like)) if isinstance(n.like, tuple) else str(n.like)
    return f"({n.name} {n.min} {'none' if n.max is None else n.max} {n.multiple} {like})"


def operator_parts(op: Operator) -> tuple[Expr, ...]:
    """What must be printed of an operator: nothing of a named one."""
    if standard(op):
        return ()
    return (op.body,) if op.neutral is None else (op.body, op.neutral)


def standard(op: Operator) -> Type | None:
    """The type of whose values `op` is the named operator, or None if it is a user's."""
    match op.body:
        case p.Apply(_, (p.Get(_, p.Arg(Tuple((Scalar() as t, _)))), *_)) if op.name in OPERATORS:
            return t if OPERATORS[op.name].takes(t) and named(op.name, t) == op else None
    return None


def scopes(e: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """(sub-expressions in the scope of e's own Arg, expressions that open scopes of their own)."""
    return children(e), operator_parts(e.op) if isinstance(e, p.Reduce | p.Scan) else bodies(e)


@dataclass
class _Facts:
    """Of every node: in which body it occurs, how often, and the type of the argument it depends on."""

    order: list[Expr] = field(default_factory=list)  # parts before wholes
    uses: dict[Expr, int] = field(default_factory=dict)
    as_body: set[Expr] = field(default_factory=set)
    argument: dict[Expr, Type | None] = field(default_factory=dict)
    owner: dict[Expr, Expr | None] = field(default_factory=dict)  # its body; None: several


def _facts(root: Expr) -> _Facts:
    facts = _Facts(order=list(_parts_first(root)))
    facts.uses[root] = 1
    for e in facts.order:
        inside, opened = scopes(e)
        for part in (*inside, *opened):
            facts.uses[part] = facts.uses.get(part, 0) + 1
        facts.as_body.update(opened[:1])
        types = (e.type,) if isinstance(e, p.Arg) else (facts.argument[c] for c in inside)
        facts.argument[e] = next((t for t in types if t is not None), None)
    facts.owner[root] = root
    for e in reversed(facts.order):
        inside, opened = scopes(e)
        for part in inside:
            owner = facts.owner[e]
            facts.owner[part] = owner if facts.owner.get(part, owner) is owner else None
        for part in opened:
            facts.owner[part] = part if facts.owner.get(part, part) is part else None
    return facts


def _parts_first(root: Expr) -> Iterator[Expr]:
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        e, done = stack.pop()
        if done:
            yield e
        elif e not in seen:
            seen.add(e)
            inside, opened = scopes(e)
            stack.append((e, True))
            stack.extend((part, False) for part in reversed((*inside, *opened)))


def _is_atom(e: Expr) -> bool:
    """Is `e` shorter than a name for it would be worth: a literal, or a short path into the argument?"""
    for _ in range(3):
        if isinstance(e, p.Get | p.At):
            e = e.x
    return isinstance(e, p.Arg | p.Literal)


class _Printer:
    """Names what is shared, then fills in the lists from the top down."""

    def __init__(self, root: Expr, elide: bool) -> None:
        self.root, self.elide, self.facts = root, elide, _facts(root)
        self.names: dict[Expr, str] = {}
        self.top: list[Expr] = []  # named at the top of the program
        self.local: dict[Expr, list[Expr]] = {}  # named at the top of a body
        self.work: list[tuple[Expr, Type | None, list[Doc], int]] = []
        self._choose_names()

    def _choose_names(self) -> None:
        facts = self.facts
        taken = {e.name for e in facts.order if isinstance(e, p.Input)} | RESERVED
        counts = {"t": 0, "f": 0}
        for e in facts.order:
            if facts.uses[e] < 2 or _is_atom(e) or e is self.root:
                continue
            self.names[e] = self._name(e, taken, counts)
            owner = facts.owner[e]
            if facts.argument[e] is None or owner is None or owner in (e, self.root):
                self.top.append(e)
            else:
                self.local.setdefault(owner, []).append(e)

    def _name(self, e: Expr, taken: set[str], counts: dict[str, int]) -> str:
        if isinstance(e, p.Input) and NAME.fullmatch(e.name):
            free = e.name not in RESERVED and e.name not in self.names.values()
            if free:
                return e.name
        letter = "f" if e in self.facts.as_body else "t"
        while True:
            counts[letter] += 1
            if (name := f"{letter}{counts[letter]}") not in taken:
                return name

    def document(self) -> Doc:
        holder: list[Doc] = [""]
        self.work.append((self.root, None, holder, 0))
        body = self._fill(holder)[0]
        if not self.top:
            return body
        bindings: list[Doc] = []
        for e in self.top:
            bindings.append([self.names[e], self._fill_definition(e)])
        return ["let", bindings, body]

    def _fill_definition(self, e: Expr) -> Doc:
        holder: list[Doc] = [""]
        self._define(e, None, holder, 0)
        return self._fill(holder)[0]

    def _fill(self, holder: list[Doc]) -> list[Doc]:
        while self.work:
            e, argument, out, i = self.work.pop()
            if e in self.names:
                out[i] = self.names[e]
            else:
                self._define(e, argument, out, i)
        return holder

    def _define(self, e: Expr, argument: Type | None, out: list[Doc], i: int) -> None:
        """Writes `e` into `out[i]`; what it consists of is left as work."""
        needs = self.facts.argument[e]
        if isinstance(e, p.Arg):
            out[i] = "arg" if e.type == argument else ["arg", type_text(e.type)]
            return
        if needs is not None and needs != argument:
            fn: list[Doc] = ["fn", type_text(needs), ""]
            out[i] = fn
            out, i, argument = fn, 2, needs
        if bound := self.local.get(e):
            bindings: list[Doc] = []
            let: list[Doc] = ["let", bindings, ""]
            out[i] = let
            out, i = let, 2
            for b in bound:
                binding: list[Doc] = [self.names[b], ""]
                bindings.append(binding)
                self._define(b, argument, binding, 1)
        self._node(e, argument, out, i)

    def _node(self, e: Expr, argument: Type | None, out: list[Doc], i: int) -> None:
        if isinstance(e, p.Literal) and isinstance(e.value, Length):
            out[i] = ["length", size_text(e.value), type_text(e.type)]
            return
        if isinstance(e, p.Literal):
            out[i] = literal_text(e.value, e.type)
            return
        if isinstance(e, p.Constant):
            out[i] = self._constant(e)
            return
        form = form_of(e)
        doc: list[Doc] = [form.head]
        out[i] = doc
        for name, kind in form.slots:
            self._slot(getattr(e, name), kind, argument, doc)

    def _slot(self, value: Any, kind: str, argument: Type | None, doc: list[Doc]) -> None:
        match kind:
            case "expr" | "body" | "optional" | "exprs":
                for part in value if kind == "exprs" else (value,):
                    if part is not None:
                        doc.append("")
                        self.work.append((part, None if kind == "body" else argument, doc, len(doc) - 1))
            case "operator":
                self._operator(value, doc)
            case "size":
                doc.append(size_text(value))
            case "type" | "scalar":
                doc.append(type_text(value))
            case "name":
                doc.append(name_text(value))
            case _:
                doc.append(str(value))

    def _operator(self, op: Operator, doc: list[Doc]) -> None:
        if (t := standard(op)) is not None:
            doc.append(f"{op.name}:{type_text(t)}")
            return
        claims = [c for c in ("associative", "commutative") if getattr(op, c)]
        parts: list[Doc] = ["operator", json.dumps(op.name), *claims]
        doc.append(parts)
        for part in operator_parts(op):
            parts.append("")
            self.work.append((part, None, parts, len(parts) - 1))

    def _constant(self, e: p.Constant) -> Doc:
        head: list[Doc] = ["constant", type_text(e.type)]
        numbers = _numbers(e)
        if numbers is not None:
            return [*head, *numbers]
        text = base64.b64encode(e.data).decode()
        return [*head, "base64", f'"{text[:24]}..."' if self.elide and len(text) > 64 else f'"{text}"']


def _numbers(e: p.Constant) -> list[str] | None:
    """The elements of a small constant as text, if that text reads back as the same bytes."""
    shape, t = dims(e.type), e.type
    while isinstance(t, Array):
        t = t.element
    if not isinstance(t, Scalar) or not all(isinstance(n, int) for n in shape):
        return None
    count = prod(n for n in shape if isinstance(n, int))
    if count > NUMBERS or count * t.size != len(e.data):
        return None
    with np.printoptions(legacy=False):  # one program has one text
        texts = [str(v).lower() for v in np.frombuffer(e.data, t.dtype)]
    values = [v == "true" if t.name == "bool" else int(v) if t.is_integer else float(v) for v in texts]
    return texts if np.array(values, t.dtype).tobytes() == e.data else None


# ---------------------------------------------------------------------------------------- atoms


def type_text(t: Type) -> str:
    """`f32`, `[f32]8`, `(f32, [i32](n*4))`."""
    match t:
        case Array(n, element):
            return f"[{type_text(element)}]{size_text(n)}"
        case Tuple(items):
            return f"({', '.join(map(type_text, items))})"
    return t.name


def size_text(s: Size) -> str:
    """`8`, `p0`, `((n/p0)*p0)`."""
    match s:
        case Sym(name):
            return name_text(name)
        case SizeOp(op, a, b):
            return f"({size_text(a)}{op}{size_text(b)})"
        case Length():
            return _form_text(s.form)
    return str(s)


def _form_text(form: Form) -> str:
    """An expression over lengths, each operation in parentheses."""
    found = ""
    for product, k in form.terms:
        text = str(abs(k)) if abs(k) != 1 or not product else ""
        for a in product:
            text = f"({text}*{_atom_text(a)})" if text else _atom_text(a)
        found = f"({found or '0'}-{text})" if k < 0 else f"({found}+{text})" if found else text
    return found or "0"


def _atom_text(a: Atom) -> str:
    match a:
        case RunTimeLength(name, multiple=m):
            return name if m == 1 else f"({name}/{m})"
        case Operation("//", x, y):
            return f"({_form_text(x)}/{_form_text(y)})"
        case Operation("%", x, y):
            whole, by = _form_text(x), _form_text(y)
            return f"({whole}-(({whole}/{by})*{by}))"
    raise AssertionError(a)


def name_text(name: str) -> str:
    """A name, in quotes where it is not a plain one."""
    return name if NAME.fullmatch(name) and name not in RESERVED else json.dumps(name)


def literal_text(value: bool | int | float, t: Scalar) -> str:
    """`1.5:f32`, `3:i8`, `true`, `-inf:f64`."""
    text = repr(value).lower()
    return text if isinstance(value, bool) and t.name == "bool" else f"{text}:{t.name}"


_PLACEHOLDER = re.compile(r"%\d+$")


def plain_name(name: str) -> str:
    """An input's name as a reader knows it: a lambda's parameter without its number."""
    return _PLACEHOLDER.sub("", name)
