"""Macros in a tree of C: what they stand for is put in their place, where the text would be read so, too.

#define SQUARE(x) ((x) * (x))        SQUARE(a + b)   ->   (a + b) * (a + b)
#define SIZE 2 + 3                   2 * SIZE        is refused: C reads 2 * 2 + 3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from pycparser import c_ast

from egglift.frontend.directives import Macro
from egglift.frontend.places import refused
from egglift.frontend.variables import all_nodes

#: how tightly operators bind
LEVELS = {
    op: level
    for level, ops in enumerate(["||", "&&", "|", "^", "&", "==,!=", "<,<=,>,>=", "<<,>>", "+,-", "*,/,%"], 2)
    for op in ops.split(",")
}
TERNARY, UNARY, CLOSED = 1, 20, 30


class Expansion:
    """Expands the macros of a file.  parse: an expression's text as a tree, None where it is none."""

    def __init__(self, macros: Mapping[str, Macro], parse: Callable[[str], Any], file: str) -> None:
        self._macros, self._parse, self._file = macros, parse, file
        self._closed: dict[int, Any] = {}  # what stands in parentheses in the text
        self._within: list[str] = []

    def tree(self, node: Any) -> None:
        """Replaces all uses below a node."""
        for child, put, need in _places(node):
            if isinstance(child, c_ast.Decl | c_ast.Typedef) and child.name in self._macros:
                refused(child, f"{child.name} is a macro ({self._macros[child.name].place}), too", self._file)
            found = self._expanded(child)
            if found is child:
                self.tree(child)
                continue
            if self._level(found) < need:
                macro = self._macros[_name(child)]
                why = f"what stands around it takes `{macro.text}` apart: write ({macro.text}) at {macro.place}"
                refused(child, f"{macro.name}: {why}", self._file)
            put(found)

    def _level(self, e: Any) -> int:
        if id(e) in self._closed:
            return CLOSED
        match e:
            case c_ast.BinaryOp():
                return LEVELS[e.op]
            case c_ast.TernaryOp():
                return TERNARY
            case c_ast.Assignment() | c_ast.ExprList():
                return 0
            case c_ast.UnaryOp() | c_ast.Cast():
                return UNARY
        return CLOSED

    def _expanded(self, node: Any) -> Any:
        """What a use stands for; any other node is itself."""
        macro = self._macros.get(_name(node))
        if macro is None or (macro.parameters is None) != isinstance(node, c_ast.ID):
            return node
        if macro.name in self._within:
            refused(node, f"{macro.name} ({macro.place}) stands for itself", self._file)
        body = self._parse(macro.text)
        if body is None:
            refused(node, f"`{macro.text}` ({macro.place}) is no expression; write a function", self._file)
        holder = c_ast.Return(deepcopy(body))
        for n in all_nodes(holder):
            n.coord = node.coord
        self._within.append(macro.name)
        if macro.parameters is not None:
            self._substitute(holder, dict(zip(macro.parameters, self._arguments(node, macro), strict=True)), macro)
        self.tree(holder)
        self._within.pop()
        if _in_parentheses(macro.text):
            self._closed[id(holder.expr)] = holder.expr
        return holder.expr

    def _arguments(self, node: Any, macro: Macro) -> list[Any]:
        given = list(node.args.exprs) if node.args else []
        if macro.parameters is None or len(given) != len(macro.parameters):
            refused(node, f"{macro.name} takes {len(macro.parameters or ())} arguments, got {len(given)}", self._file)
        holder = c_ast.ExprList(given)
        within, self._within = self._within, self._within[:-1]
        self.tree(holder)
        self._within = within
        return holder.exprs  # type: ignore[no-any-return]

    def _substitute(self, node: Any, arguments: Mapping[str, Any], macro: Macro) -> None:
        for child, put, need in _places(node):
            if not isinstance(child, c_ast.ID) or child.name not in arguments:
                self._substitute(child, arguments, macro)
                continue
            argument = arguments[child.name]
            if self._level(argument) < need and not _always_in_parentheses(child.name, macro.text):
                why = f"`{macro.text}` takes its argument {child.name} apart: write ({child.name}) at {macro.place}"
                refused(argument, f"{macro.name}: {why}", self._file)
            put(argument)


def _name(node: Any) -> str:
    """The macro that a node may be a use of."""
    node = node.name if isinstance(node, c_ast.FuncCall) else node
    return node.name if isinstance(node, c_ast.ID) else ""


def _places(node: Any) -> Iterator[tuple[Any, Callable[[Any], None], int]]:
    """The children of a node, how each is replaced, and how tightly it must bind to be read as one."""
    for name in node.__slots__[:-2]:
        value = getattr(node, name)
        if isinstance(value, c_ast.Node):
            yield value, lambda new, name=name: setattr(node, name, new), _need(node, name)  # type: ignore[misc]
        elif isinstance(value, list):
            for k, child in enumerate(value):
                if isinstance(child, c_ast.Node):
                    yield child, lambda new, value=value, k=k: value.__setitem__(k, new), TERNARY  # type: ignore[misc]


def _need(parent: Any, name: str) -> int:
    match parent:
        case c_ast.BinaryOp():
            return LEVELS[parent.op] + (name == "right")
        case c_ast.UnaryOp():
            return CLOSED if parent.op.startswith("p") else UNARY
        case c_ast.Cast() if name == "expr":
            return UNARY
        case c_ast.ArrayRef() | c_ast.FuncCall() | c_ast.StructRef() if name == "name":
            return CLOSED
        case c_ast.TernaryOp() if name == "cond":
            return TERNARY + 1
        case c_ast.Assignment() if name == "lvalue":
            return UNARY
    return TERNARY


def _in_parentheses(text: str) -> bool:
    """Does a text begin with a parenthesis that its end closes?"""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return k == len(text) - 1 and letter == ")"
    return False


def _always_in_parentheses(name: str, text: str) -> bool:
    return len(re.findall(rf"\(\s*{name}\s*\)", text)) == len(re.findall(rf"\b{name}\b", text))
