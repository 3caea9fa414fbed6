"""C text as a tree: comments, constants and includes first, then the parser's.  Errors name file, line and column."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser

from egglift.frontend.continues import without_continues
from egglift.frontend.directives import Directives
from egglift.frontend.macros import Expansion
from egglift.ir.errors import ProgramError

#: what headers would declare
TYPEDEFS = {
    "size_t": "unsigned long",
    "ptrdiff_t": "long",
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long",
}
_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


@dataclass(frozen=True)
class Source:
    """A file of C.

    functions: their definitions by name; variables: what is declared outside of them; constants: what `enum` names;
    bare: statements outside of any function, a nest with its declarations, or None.
    """

    file: str
    functions: Mapping[str, Any]
    variables: tuple[Any, ...]
    constants: Mapping[str, Any]
    bare: Any = field(default=None)


def read_source(path_or_text: str | os.PathLike[str], given: Collection[str] = ()) -> Source:
    """The tree of a file, or of a text that has a line break, a `;` or a `{`.

    given: names of numbers that are known already: `#ifndef N` then leaves out what follows.
    """
    text, file = str(path_or_text), "<text>"
    if isinstance(path_or_text, os.PathLike) or not re.search(r"[;{\n]", text):
        file = str(path_or_text)
        try:
            text = Path(path_or_text).read_text()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ProgramError(f"cannot read {file}: {reason}") from None
    directives = Directives(file)
    directives.read(_without_comments(text), given)
    return _parsed(directives, file)


def _parsed(directives: Directives, file: str) -> Source:
    text = directives.text
    head = "".join(f"typedef {kind} {name};\n" for name, kind in {**TYPEDEFS, **directives.types}.items())
    mark = f'# 1 "{file}"\n'
    try:
        tree = _tree(head + mark + text, file)
        bare = None
    except ProgramError as error:
        if _has_function(text):
            raise
        try:
            tree = _tree(f"{head}void nest(void) {{\n{mark}{text}\n}}", file)
        except ProgramError:
            raise error from None
        bare = tree.ext[-1].body
    Expansion(directives.macros, lambda text: _expression(head, text, file), file).tree(tree)
    without_continues(tree)
    _resolve_types(tree)
    functions = {f.decl.name: f for f in tree.ext if isinstance(f, c_ast.FuncDef)} if bare is None else {}
    variables = [d for d in tree.ext if isinstance(d, c_ast.Decl) and d.name and not _is_prototype(d)]
    return Source(file, functions, tuple(variables), _enumerators(tree), bare)


def _is_prototype(decl: Any) -> bool:
    return isinstance(decl.type, c_ast.FuncDecl)


def _resolve_types(tree: Any) -> None:
    """Has every type say what it is, not by which name it is known."""
    known: dict[str, list[str]] = {}

    class Visitor(c_ast.NodeVisitor):  # type: ignore[misc]
        def visit_Typedef(self, node: Any) -> None:
            self.generic_visit(node)
            if isinstance(node.type, c_ast.TypeDecl) and isinstance(node.type.type, c_ast.IdentifierType):
                known[node.name] = list(node.type.type.names)

        def visit_IdentifierType(self, node: Any) -> None:
            node.names = [w for name in node.names for w in known.get(name, [name])]

    Visitor().visit(tree)


def _tree(text: str, file: str) -> Any:
    try:
        return CParser().parse(text, file)
    except Exception as error:  # its own error, which versions name differently
        if type(error).__name__ not in ("ParseError", "AssertionError"):
            raise
        raise ProgramError(f"{error}: this is no C that is taken here") from None


def _has_function(text: str) -> bool:
    return (
        re.search(r"\w\s*\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*\{", re.sub(r"\b(for|if|while|switch)\b", ";", text))
        is not None
    )


def _without_comments(text: str) -> str:
    """Comments as blanks: lines and columns stay."""

    def blank(m: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0]

    return _SKIPPED.sub(blank, text)


def _expression(head: str, text: str, file: str) -> Any:
    """The tree of what a macro stands for; None where it is no expression, which its use will tell."""
    try:
        return _tree(f"{head}int f(void) {{ return {text}; }}", file).ext[-1].body.block_items[0].expr
    except ProgramError:
        return None


def _enumerators(tree: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}

    class Visitor(c_ast.NodeVisitor):  # type: ignore[misc]
        def visit_Enumerator(self, node: Any) -> None:
            if node.value is not None:
                found[node.name] = node.value
                return
            before = next(reversed(found.values()), None)
            one = c_ast.Constant("int", "1")
            found[node.name] = c_ast.Constant("int", "0") if before is None else c_ast.BinaryOp("+", before, one)

    Visitor().visit(tree)
    return found
