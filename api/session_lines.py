"""`egglift session`: a kernel derived by hand at the command line, or by a file of the same lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from egglift.costmodel.records.whole_file import write_whole
from egglift.ir.errors import EggliftError, ProgramError
from egglift.kernel import Kernel
from egglift.programs import load_program
from egglift.report import duration
from egglift.session import Session

HELP = """apply LAW [at PLACE] [TILE=N ...]   one step; places are counted from 0
laws [LAW]                          what applies, and the model's price afterwards
undo | pin NAME | back NAME         take a step back; keep a program, and go on from it
show | kernel                       the program; its OpenCL
measure                             time it, after its result was compared with the interpreter's
finish [SECONDS]                    the best kernel that the search finds from here on
save FILE                           the steps, to be run again: --script FILE
help | quit"""


def add(command: argparse.ArgumentParser, size: Callable[[str], Any]) -> None:
    """The arguments of `egglift session`."""
    command.add_argument("program", metavar="PROGRAM", help="a program's text, a Python file, or a loop nest in C")
    command.add_argument("--device", help="a part of a device's name (default: EGGLIFT_DEVICE, the first GPU, PoCL)")
    command.add_argument("--size", type=size, action="append", default=[], metavar="NAME=N", help="a length in C")
    command.add_argument("--script", type=Path, metavar="FILE", help="take the lines from a file, and stop at an error")


def run(arguments: argparse.Namespace) -> int:
    """Runs `egglift session`: lines from a file or from standard input; an error in a script ends it."""
    session = Session(load_program(arguments.program, dict(arguments.size)), arguments.device)
    if arguments.script is not None:
        for number, line in enumerate(_lines(arguments.script), 1):
            try:
                _answer(session, line)
            except EggliftError as error:
                raise type(error)(f"{arguments.script}:{number}: {error}") from None
    else:
        _converse(session)
    if arguments.json:
        print(json.dumps({"script": session.script, "seconds": session.seconds, "program": str(session.program)}))
    return 0


def _lines(path: Path) -> Iterable[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ProgramError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no text'}") from None


def _converse(session: Session) -> None:
    print(session)
    print("help says what can be done here.")
    for line in _typed():
        try:
            if line.strip() == "quit":
                return
            _answer(session, line)
        except EggliftError as error:
            print(f"{error}")


def _typed() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            print("> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        yield line


def _answer(session: Session, line: str) -> None:
    """Does what a line says, and prints what comes of it."""
    match line.split():
        case ["laws", *law]:
            for possible in session.possible(*law[:1]):
                print(possible)
        case ["show"]:
            print(session)
        case ["kernel"]:
            print(session.kernel().source)
        case ["measure"]:
            print(f"{duration(session.measure())} measured; equal to the interpreter's result")
        case ["finish", *seconds]:
            _show(session.finish(budget=float(seconds[0]) if seconds else None))
        case ["save", file]:
            write_whole(Path(file), session.script)
        case ["help"]:
            print(HELP)
        case []:
            return
        case _:
            before = len(session.steps)
            session.do(line)
            if len(session.steps) != before:
                price = session.state.why if session.seconds is None else f"{duration(session.seconds)} by the model"
                print(f"{len(session.steps)} steps; {price}")


def _show(kernel: Kernel) -> None:
    print(kernel.source)
    measured = kernel.chosen.measured
    print(f"{kernel.chosen.structure}: {duration(measured if measured is not None else kernel.chosen.estimate)}")
