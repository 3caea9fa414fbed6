"""Programs from files: the text form, and Python files."""

from __future__ import annotations

import runpy
from pathlib import Path

from egglift.ir.errors import EggliftError, ProgramError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.text import loads


def load_program(spec: str) -> Expr:
    """The program that `spec` names.

    `FILE` is a program's text (what `egglift.ir.text.dumps` writes) or a Python file whose variable `program`
    is one; `FILE.py:NAME` takes another variable.  A Python file is run.  ProgramError says what is missing.
    """
    file, _, name = spec.rpartition(":") if ".py:" in spec else (spec, "", "")
    path = Path(file)
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise ProgramError(f"cannot read {file}: {reason}") from None
    if path.suffix == ".py":
        return _from_python(path, name or "program")
    try:
        return loads(text)
    except ProgramError as error:
        raise ProgramError(f"{file}: {error}") from None


def _from_python(path: Path, name: str) -> Expr:
    try:
        variables = runpy.run_path(str(path))
    except EggliftError:
        raise
    except Exception as error:
        raise ProgramError(f"{path} fails when it is run: {type(error).__name__}: {error}") from error
    if name not in variables:
        raise ProgramError(f"{path} has no variable {name}; name another one: {path}:NAME")
    value = variables[name]
    if callable(value) and not hasattr(value, "expr"):
        raise ProgramError(f"{path}:{name} is a function; assign its result to a variable and name that")
    return as_program(value)
