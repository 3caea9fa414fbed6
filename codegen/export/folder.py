"""Folders of exported programs, which are there as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from egglift.codegen.export.c_example import cmake, example
from egglift.codegen.export.c_header import header
from egglift.codegen.export.c_source import source
from egglift.codegen.export.cpp import class_header
from egglift.codegen.export.host_program import HostProgram
from egglift.codegen.export.python import module
from egglift.ir.errors import ArgumentError, RecordError

#: the files of a language, with `NAME` in the place of the program's name
Files = Mapping[str, Callable[[HostProgram], str]]
C99: Files = {"NAME.h": header, "NAME.c": source, "NAME_example.c": example, "CMakeLists.txt": cmake}
LANGUAGES: Mapping[str, Files] = {
    "c99": C99,
    "cpp": {**C99, "NAME.hpp": class_header},
    "python": {"NAME.py": module},
}


def texts(p: HostProgram, language: str) -> dict[str, str]:
    """The files of an exported program by name; ArgumentError where there is no such language."""
    if language not in LANGUAGES:
        raise ArgumentError(f"programs are not exported as {language!r}; language is one of {', '.join(LANGUAGES)}")
    return {name.replace("NAME", p.name): text(p) for name, text in LANGUAGES[language].items()}


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Puts a folder with these files at `folder`, in the place of an earlier one with the same files.

    ArgumentError where the folder holds anything else; RecordError where the disk does not take it.  Then what was
    there stays.
    """
    target = folder.absolute()
    try:
        others = sorted({f.name for f in target.iterdir()} - set(files)) if target.exists() else []
        if others:
            raise ArgumentError(f"{folder} also holds {', '.join(others[:3])}; export into a folder of its own")
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            _moved(_written(beside / "new", files), target, beside / "old")
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise RecordError(f"cannot export to {folder}: {error.strerror or error}") from error


def _written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _moved(new: Path, target: Path, old: Path) -> None:
    """`new` to `target`; what is there to `old`, and back where that fails."""
    if not target.exists():
        os.rename(new, target)
        return
    os.rename(target, old)
    try:
        os.rename(new, target)
    except OSError:
        os.rename(old, target)
        raise
