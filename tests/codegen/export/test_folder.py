"""Folders of exported programs are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import HostProgram, host_program
from egglift.codegen.kernel.imperative import Plan
from egglift.ir.errors import ArgumentError, RecordError
from egglift.ir.types import F32, Array, Tuple


def test_a_folder_is_made_and_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "made"
    write_folder(folder, {"a.h": "1", "a.c": "2"})
    write_folder(folder, {"a.h": "3", "a.c": "4"})
    assert {f.name: f.read_text() for f in folder.iterdir()} == {"a.h": "3", "a.c": "4"}
    assert [f.name for f in folder.parent.iterdir()] == ["made"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("precious")
    with pytest.raises(ArgumentError, match=r"also holds mine.c; export into a folder of its own"):
        write_folder(tmp_path, {"a.h": "1"})
    assert [f.name for f in tmp_path.iterdir()] == ["mine.c"]


def test_what_cannot_be_written_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "made", {"a.h": "1"})
    rename = os.rename

    def full(old: Path, new: Path) -> None:
        if new == tmp_path / "made" and old.name == "new":
            raise OSError(28, "No space left on device")
        rename(old, new)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(RecordError, match="No space left"):
        write_folder(tmp_path / "made", {"a.h": "2"})
    assert (tmp_path / "made" / "a.h").read_text() == "1"
    assert [f.name for f in tmp_path.iterdir()] == ["made"]


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'cobol'; language is one of c99, cpp, python"):
        texts(HostProgram("p", (), (), (), (), ""), "cobol")


@pytest.mark.parametrize("name", ["int", "1st", "a-b", "class", "lambda", ""])
def test_names_that_c_does_not_take_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="cannot begin the names of functions"):
        host_program(name, Plan((), {}, (), (), ()), {}, F32)


def test_parameters_get_names_of_their_own() -> None:
    types = {"class": F32, "x": Tuple((F32, Array(3, F32))), "x_1_length": F32, "λ": F32, "out": F32}
    buffers = dict.fromkeys(types, ())
    p = host_program("p", Plan((), buffers, (), (), ()), types, F32)
    names = [n for a in (*p.inputs, *p.outputs) for n in (a.name, a.length)]
    assert len(set(names)) == len(names) == 14
    assert all(n.isidentifier() and n.isascii() and n != "class" for n in names)
    assert [a.title for a in p.inputs] == ["class", "x[0]", "x[1]", "x_1_length", "λ", "out"]
