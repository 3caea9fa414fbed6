"""Programs from files: the text form, Python files, and loop nests in C."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from egglift.frontend.programs import from_c
from egglift.ir.errors import EggliftError, ProgramError
from egglift.ir.lifting import as_program
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr

LONGEST = 64 << 20  # bytes of a program's file


def load_program(spec: str, sizes: Mapping[str, Any] | None = None) -> Expr:
    """The program that `spec` names.

    `FILE` is a program's text (what `egglift.ir.text.dumps` writes) or a Python file whose variable `program`
    is one; `FILE.py:NAME` takes another variable.  A Python file is run; a text never is, and a pipe is waited for.
    `FILE.c` is a function or a loop nest in C, `FILE.c:NAME` one of several functions; sizes: as for `el.from_c`.
    ProgramError says what is missing.
    """
    file, _, name = spec.rpartition(":") if ".py:" in spec or ".c:" in spec else (spec, "", "")
    path = Path(file)
    text = _read(path)
    if path.suffix == ".c":
        return as_program(from_c(path, name or None, sizes))
    if sizes:
        raise ProgramError(f"{file} has its lengths written in it; sizes are for loop nests in C")
    if path.suffix == ".py":
        return _from_python(path, name or "program")
    try:
        return loads(text)
    except ProgramError as error:
        raise ProgramError(f"{file}: {error}") from None


def _read(path: Path) -> str:
    """The text of a file that need not be one: a device never ends."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
        text = data.decode("utf-8-sig") if len(data) <= LONGEST else None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or "not a text file"
        raise ProgramError(f"cannot read {path}: {reason}") from None
    if text is None:
        raise ProgramError(f"cannot read {path}: it has more than {LONGEST >> 20} MB; large constants should be inputs")
    return text


def _from_python(path: Path, name: str) -> Expr:
    try:
        variables = runpy.run_path(str(path))
    except EggliftError:
        raise
    except (Exception, SystemExit) as error:
        raise ProgramError(f"{path} fails when it is run: {type(error).__name__}: {error}") from error
    if name not in variables:
        raise ProgramError(f"{path} has no variable {name}; name another one: {path}:NAME")
    value = variables[name]
    if callable(value) and not hasattr(value, "expr"):
        raise ProgramError(f"{path}:{name} is a function; assign its result to a variable and name that")
    return as_program(value)
