"""What a `for` says: its iterator, from where to where it goes, and by which step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NoReturn

from pycparser import c_ast

from egglift.frontend.arithmetic import fits
from egglift.frontend.expressions import Expressions, known
from egglift.frontend.nest import Affine, Apply, CExpr, Loop, form_of, reads_in, shown
from egglift.frontend.places import refused
from egglift.frontend.variables import Variable, assigned, base_type
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class Header:
    """`for (name = first; ...; name += step)`: from the last of `firsts` up to the first of `lasts`, or downwards."""

    name: str
    firsts: tuple[Affine, ...]
    lasts: tuple[Affine, ...]
    step: int
    type: Scalar
    shifted: bool

    @property
    def _fixed(self) -> int | None:
        """How many iterations there are at most, wherever it begins; None where that depends on the beginning."""
        first = self.firsts[0]
        ways = [(last - first).scaled(1 if self.step > 0 else -1) for last in self.lasts]
        known = [w.constant // abs(self.step) + 1 for w in ways if not w.terms]
        return min(known) if known and self._varies and self.shifted and len(self.firsts) == 1 else None

    @property
    def _varies(self) -> bool:
        return len(self.firsts) > 1 or bool(self.firsts[0].terms)

    @property
    def is_even(self) -> bool:
        """Does it begin at a constant, or run for a number of times that is one, or by ones?"""
        return not self._varies or abs(self.step) == 1 or self._fixed is not None

    def loop(self, node: Any) -> Loop | None:
        """The loop; None if it never runs."""
        if (extent := self._fixed) is not None:
            begin = self.firsts[0]
            return Loop(self.name, extent, begin.constant, self.step, node.coord, begin) if extent > 0 else None
        nearest, farthest = (min, max) if self.step > 0 else (max, min)
        first = farthest(f.range[self.step < 0] for f in self.firsts)
        last = nearest(f.range[self.step > 0] for f in self.lasts)
        extent = (last - first) // self.step + 1
        return Loop(self.name, extent, first, self.step, node.coord) if extent > 0 else None

    def form(self, loop: Loop) -> Affine:
        """C's iterator."""
        begin = self.firsts[0] if loop.origin is not None else Affine(loop.begin)
        return begin + Affine(0, ((loop, loop.step),))

    def bounds(self, form: Affine, loop: Loop) -> tuple[Affine, ...]:
        """Where an iterator of this form is within its bounds, if these vary: what is 0 or more."""
        way = 1 if self.step > 0 else -1
        begun = [(form - first).scaled(way) for first in self.firsts if self._varies and loop.origin is None]
        ends = [(last - form).scaled(way) for last in self.lasts if last.terms or loop.origin is not None]
        return tuple(g for g in (*begun, *ends) if g.range[0] < 0)


def header_of(node: Any, x: Expressions, shifted: bool) -> Header:
    """A loop's iterator, its first and last value, its step, and its type; shifted: as Lowering is told."""
    match node.init:
        case c_ast.DeclList(decls=[decl]):
            name, begin, t = decl.name, decl.init, base_type(decl)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID() as v):
            found = x.meaning(v)
            name, begin, t = v.name, node.init.rvalue, found.type if isinstance(found, Variable) else None
        case _:
            refused(node, "a loop begins with one iterator: for (int i = 0; ...)", x.source.file)
    if t is None or not t.is_integer or begin is None:
        refused(node, f"the iterator {name} must be an integer with a beginning", x.source.file)
    if name in assigned(node.stmt, calls=False):
        refused(node, f"the iterator {name} is changed within its loop; use another variable", x.source.file)
    step = _step(node, name, x)
    cond = node.cond
    if not isinstance(cond, c_ast.BinaryOp) or not isinstance(cond.left, c_ast.ID) or cond.left.name != name:
        refused(node, f"a loop ends by its iterator: {name} < ...", x.source.file)
    firsts, ends = _ends(begin, name, step > 0, x), _ends(cond.right, name, step < 0, x)
    ways = {"<": 1, "<=": 1, ">": -1, ">=": -1, "!=": step if abs(step) == 1 else 0}
    if ways.get(cond.op, 0) * step <= 0:
        refused(cond, f"{name} moves by {step}: this condition does not end the loop", x.source.file)
    beyond = Affine(0 if cond.op in ("<=", ">=") else 1 if step > 0 else -1)
    lasts = tuple(end - beyond for end in ends)
    for last, first in product(lasts, firsts):
        way = (last - first).scaled(1 if step > 0 else -1)
        if not fits(last + Affine(step), t) or (cond.op == "!=" and (way.range[0] < -1 or len(ends) + len(firsts) > 2)):
            refused(cond, f"{name} is {t} and moves by {step}: this condition does not end the loop", x.source.file)
    return Header(name, tuple(firsts), lasts, step, t, shifted)


def _ends(node: Any, name: str, largest: bool, x: Expressions) -> list[Affine]:
    """What is meant by the smaller of two bounds, or by the largest: `i < (n < m ? n : m)`."""
    e = x.of(node)
    match e:
        case Apply("where", (Apply("lt" | "le" | "gt" | "ge" as op, (a, b)), yes, no)) if {yes, no} == {a, b}:
            smaller_first = op in ("lt", "le")
            forms = [form_of(a), form_of(b)]
            exact = all(f is not None and fits(f, a.type) for f in forms)
            if exact and ((yes == a) == smaller_first) != largest:
                return [f for f in forms if f is not None]
    form = form_of(e)
    if form is None:
        unknown(node, e, f"a bound of {name}", x)
    assert form is not None
    return [form]


def _step(node: Any, name: str, x: Expressions) -> int:
    match node.next:
        case c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=n)) if n == name:
            return 1
        case c_ast.UnaryOp(op="--" | "p--", expr=c_ast.ID(name=n)) if n == name:
            return -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=n)) if n == name:
            found, sign = known(x.of(node.next.rvalue)), 1 if op == "+=" else -1
        case c_ast.Assignment(
            op="=", lvalue=c_ast.ID(name=n), rvalue=c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID(name=m))
        ) if n == m == name:
            found, sign = known(x.of(node.next.rvalue.right)), 1 if op == "+" else -1
        case _:
            found, sign = None, 1
    if not found:
        refused(node, f"a loop moves its iterator by a known step: {name}++, {name} += 4", x.source.file)
    assert found is not None
    return sign * found


def unknown(node: Any, e: CExpr, what: str, x: Expressions) -> NoReturn:
    """An error at a length or a bound that is not known."""
    given = {v.name for v in x.scope.values() if isinstance(v, Variable) and v.given and not v.shape}
    names = sorted({r.array for r in reads_in(e)} & given)
    advice = f"give sizes={{{', '.join(f'{n!r}: ...' for n in names)}}}" if names else "it must be known beforehand"
    refused(node, f"{what} is {shown(e)}: {advice}", x.source.file)
