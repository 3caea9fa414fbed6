"""What names mean in C: declarations with their types and lengths, and questions about the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from egglift.frontend.arithmetic import type_of_words
from egglift.frontend.nest import Affine as Form
from egglift.frontend.nest import CExpr, Index, Loop, Read, form_of
from egglift.frontend.places import refused
from egglift.ir.types import I64, Scalar


@dataclass(frozen=True, eq=False)
class Variable:
    """A scalar or an array.

    name: of its own; title: C's; shape: a length for each subscript, None where the declaration leaves it open;
    loops: those that it is declared in, of which each iteration has one of its own; tests: conditions around it.
    given: does the caller give it, and see what is written?
    """

    name: str
    title: str
    type: Scalar
    shape: tuple[int | None, ...]
    loops: tuple[Loop, ...]
    tests: int
    given: bool
    at: Any

    def read(self, at: tuple[CExpr, ...], place: Any) -> Read:
        """An element, after the subscripts that say whose it is."""
        own = tuple(Index(Form(0, ((d, 1),)), I64) for d in self.loops)
        return Read(self.name, (*own, *at), self.type, place)


@dataclass(frozen=True)
class Alias:
    """What a pointer stands for: an array, a row of it, or what is behind a place in it.

    offset: what is added to the first subscript that is given.
    """

    variable: Variable
    prefix: tuple[CExpr, ...] = ()
    offset: Form = field(default_factory=lambda: Form(0))

    def at(self, subscripts: Sequence[CExpr]) -> tuple[CExpr, ...] | None:
        """Subscripts of the array; None where what is added to is not affine."""
        if self.offset == Form(0) or not subscripts:
            return (*self.prefix, *subscripts)
        first = form_of(subscripts[0])
        if first is None:
            return None
        return (*self.prefix, Index(first + self.offset, I64), *subscripts[1:])


def base_type(node: Any) -> Scalar | None:
    """The type of a number that a declaration ends in; None for void and what is no number."""
    while isinstance(
        node, c_ast.Decl | c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl | c_ast.TypeDecl | c_ast.Typename
    ):
        node = node.type
    if isinstance(node, c_ast.IdentifierType):
        return type_of_words(list(node.names))
    return None


def parameters_of(function: Any) -> list[Any]:
    """The declarations of a function's parameters."""
    arguments = function.decl.type.args
    return [p for p in arguments.params if isinstance(p, c_ast.Decl)] if arguments else []


def names_used(function: Any, functions: Mapping[str, Any]) -> set[str]:
    """The names that a function, and those that it calls, take from the file: not their parameters."""
    used, seen, work = set[str](), set[str](), [function]
    while work:
        now = work.pop()
        seen.add(now.decl.name)
        names = {n.name for n in all_nodes(now) if isinstance(n, c_ast.ID)}
        used |= names - {p.name for p in parameters_of(now)}
        work += [functions[n] for n in names if n in functions and n not in seen]
    return used


def is_allocation(init: Any) -> bool:
    """`malloc(...)`, also cast."""
    call = init.expr if isinstance(init, c_ast.Cast) else init
    return isinstance(call, c_ast.FuncCall) and isinstance(call.name, c_ast.ID) and call.name.name == "malloc"


def occurrences(node: Any, name: str) -> Iterator[Any]:
    """Where a name stands in a tree, in the order of the text."""
    if isinstance(node, c_ast.ID):
        if node.name == name:
            yield node
        return
    for _, child in node.children() if node is not None else ():
        if isinstance(node, c_ast.FuncCall) and child is node.name:
            continue
        yield from occurrences(child, name)


def assigned(node: Any, calls: bool = True) -> set[str]:
    """The names of variables and arrays that a part of the text writes.  calls: also what functions are passed."""
    found: set[str] = set()
    for n in all_nodes(node):
        match n:
            case c_ast.Assignment():
                found.add(root(n.lvalue))
            case c_ast.UnaryOp(op=op) if op in ("++", "--", "p++", "p--"):
                found.add(root(n.expr))
            case c_ast.FuncCall() if calls:
                found |= {root(a) for a in (n.args.exprs if n.args else ()) if root(a)}
    return found


def root(node: Any) -> str:
    """The variable that an element or a pointer belongs to; "" for what is none."""
    while isinstance(node, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
        node = (
            node.name
            if isinstance(node, c_ast.ArrayRef)
            else node.expr
            if isinstance(node, c_ast.UnaryOp)
            else node.left
        )
    return node.name if isinstance(node, c_ast.ID) else ""


def all_nodes(node: Any) -> Iterator[Any]:
    """All nodes of a tree."""
    if node is not None:
        yield node
        for _, child in node.children():
            yield from all_nodes(child)


def block(node: Any) -> list[Any]:
    """The statements of a body."""
    if isinstance(node, c_ast.Compound):
        return list(node.block_items or [])
    return [] if node is None else [node]


def is_private(loop: Any, name: str) -> bool:
    """Does each iteration of a loop write a scalar before it reads it?"""
    users = [item for item in block(loop.stmt) if any(occurrences(item, name))]
    if any(any(occurrences(part, name)) for part in (loop.init, loop.cond, loop.next) if part is not None):
        return False
    if users and all(isinstance(item, c_ast.For) for item in users):
        return all(is_private(item, name) for item in users)
    first = users[0] if users else None
    if not isinstance(first, c_ast.Assignment) or first.op != "=" or not isinstance(first.lvalue, c_ast.ID):
        return False
    return bool(first.lvalue.name == name) and not any(occurrences(first.rvalue, name))


def loops_that_own(items: list[Any], name: str) -> list[Any]:
    """The loops among statements that may have a variable of their own each, if only they use it; else none."""
    users = [item for item in items if any(occurrences(item, name))]
    own = all(isinstance(item, c_ast.For) and is_private(item, name) for item in users)
    return users if own else []


#: statements that leave the order in which a nest is written, and what to do instead
JUMPS = {
    c_ast.Break: "break ends a loop early: how often it runs is not known; write the condition into what is assigned",
    c_ast.Continue: "continue is not taken; put what follows into an if",
    c_ast.Goto: "goto is not taken; write loops",
    c_ast.While: "while runs for a number of times that is not known; write a for with a known bound",
    c_ast.DoWhile: "do runs for a number of times that is not known; write a for with a known bound",
    c_ast.Switch: "switch is not taken; write if and else",
    c_ast.Label: "labels are not taken; write loops",
}


def refuse_jumps(node: Any, file: str) -> None:
    """An error at what leaves the order of a nest."""
    for n in all_nodes(node):
        if type(n) in JUMPS:
            refused(n, JUMPS[type(n)], file)
