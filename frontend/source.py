"""C text as a tree: comments, constants and includes first, then the parser's.  Errors name file, line and column."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_parser import CParser

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
_DEFINE = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?[ \t]*(.*)")
_WORDS = re.compile(r"\b(restrict|__restrict__|__restrict|inline|__inline__|__inline|__extension__)\b")
_TYPE = re.compile(r"(?:(?:unsigned|signed|char|short|int|long|float|double|\w+_t)\s*)+")


@dataclass(frozen=True)
class Source:
    """A file of C.

    functions: their definitions by name; constants: what `#define` and `enum` name; bare: statements outside of any
    function, a nest with its declarations, or None.
    """

    file: str
    functions: Mapping[str, Any]
    constants: Mapping[str, Any]
    bare: Any = field(default=None)


def refused(node: Any, why: str, file: str = "") -> NoReturn:
    """ProgramError at the place of a node of the tree."""
    raise ProgramError(f"{place(node, file)}: {why}")


def place(node: Any, file: str = "") -> str:
    """`nest.c:3:9`."""
    at = getattr(node, "coord", node)
    return f"{at.file}:{at.line}:{at.column}" if at is not None and at.line else str(file or "C")


def read_source(path_or_text: str | os.PathLike[str]) -> Source:
    """The tree of a file, or of a text that has a line break, a `;` or a `{`."""
    text, file = str(path_or_text), "<text>"
    if isinstance(path_or_text, os.PathLike) or not re.search(r"[;{\n]", text):
        file = str(path_or_text)
        try:
            text = Path(path_or_text).read_text()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise ProgramError(f"cannot read {file}: {reason}") from None
    return _parsed(text, file)


@lru_cache(16)  # a file of many functions is read for each of them
def _parsed(text: str, file: str) -> Source:
    text, constants, types = _without_directives(_without_comments(text), file)
    head = "".join(f"typedef {kind} {name};\n" for name, kind in {**TYPEDEFS, **types}.items())
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
    _resolve_types(tree)
    functions = {f.decl.name: f for f in tree.ext if isinstance(f, c_ast.FuncDef)} if bare is None else {}
    named = {name: _expression(body, file) for name, body in constants.items()}
    return Source(file, functions, {**named, **_enumerators(tree)}, bare)


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


def _without_directives(text: str, file: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The text with directives as empty lines; what they name: expressions, and types."""
    constants: dict[str, str] = {}
    types: dict[str, str] = {}
    lines = text.replace("\\\n", "  ").split("\n")
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped.startswith("#"):
            lines[number] = _WORDS.sub(lambda m: m[0] if m[0] in ("restrict", "inline") else "".ljust(len(m[0])), line)
            continue
        lines[number] = ""
        found = _DEFINE.match(stripped)
        if found and found[2]:
            raise ProgramError(f"{file}:{number + 1}:1: macros with parameters are not expanded; write a function")
        if found and found[3].strip():
            (types if _TYPE.fullmatch(found[3].strip()) else constants)[found[1]] = found[3].strip()
        elif not found and not re.match(r"#\s*(include|pragma|define|undef|endif)", stripped):
            raise ProgramError(
                f"{file}:{number + 1}:1: `{stripped}` is not followed; preprocess the file first (cc -E)"
            )
    return "\n".join(lines), constants, types


def _expression(text: str, file: str) -> Any:
    """The tree of what a `#define` stands for; None where it is no expression, which its use will tell."""
    try:
        return _tree(f"int f(void) {{ return {text}; }}", file).ext[0].body.block_items[0].expr
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
