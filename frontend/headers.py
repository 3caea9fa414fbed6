"""What a `for` says: its iterator, from where to where it goes, and by which step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from pycparser import c_ast

from egglift.frontend.arithmetic import fits
from egglift.frontend.expressions import Expressions, known
from egglift.frontend.nest import Affine, CExpr, Loop, form_of, reads_in, shown
from egglift.frontend.source import refused
from egglift.frontend.variables import Variable, assigned, base_type
from egglift.ir.types import Scalar


@dataclass(frozen=True)
class Header:
    """`for (name = first; ...; name += step)`, up to `last`, which it need not meet."""

    name: str
    first: Affine
    last: Affine
    step: int
    type: Scalar

    def loop(self, node: Any) -> Loop | None:
        """The loop; None if it never runs."""
        least, most = (self.first, self.last) if self.step > 0 else (self.last, self.first)
        low, high = least.range[0], most.range[1]
        extent = (high - low) // abs(self.step) + 1
        return Loop(self.name, extent, low if self.step > 0 else high, self.step, node.coord) if extent > 0 else None

    def bounds(self, form: Affine) -> tuple[Affine, ...]:
        """Where an iterator of this form is within its bounds, if these vary: what is 0 or more."""
        way = 1 if self.step > 0 else -1
        begun = ((form - self.first).scaled(way),) if self.first.terms else ()
        return (*begun, (self.last - form).scaled(way)) if self.last.terms else begun


def header_of(node: Any, x: Expressions) -> Header:
    """A loop's iterator, its first and last value, its step, and its type."""
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
    first, end = _bound(begin, name, x), _bound(cond.right, name, x)
    ends = {"<": 1, "<=": 1, ">": -1, ">=": -1, "!=": step if abs(step) == 1 else 0}
    if ends.get(cond.op, 0) * step <= 0:
        refused(cond, f"{name} moves by {step}: this condition does not end the loop", x.source.file)
    last = end if cond.op in ("<=", ">=") else end - Affine(1 if step > 0 else -1)
    way = (last - first).scaled(1 if step > 0 else -1)
    if not fits(last + Affine(step), t) or (cond.op == "!=" and way.range[0] < -1):
        refused(cond, f"{name} is {t} and moves by {step}: this condition does not end the loop", x.source.file)
    return Header(name, first, last, step, t)


def _bound(node: Any, name: str, x: Expressions) -> Affine:
    e = x.of(node)
    form = form_of(e)
    if form is None:
        unknown(node, e, f"a bound of {name}", x)
    assert form is not None
    return form


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
