"""`egglift check-rules`: does every law of the book, or of a file, hold on random instances of its own text?"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from egglift.egraph.graph.engine import engine
from egglift.egraph.rules.book import Book, Law, book, laws_of_file
from egglift.egraph.soundness.check_laws import Verdict, check_law, share
from egglift.ir.errors import RuleError
from egglift.programs import load_program
from egglift.rulecoverage import coverage, shown

DEEP = 10_000


@dataclass(frozen=True)
class Report:
    """What was found of one law.  error: why it could not be tested, else empty."""

    law: str
    verdict: Verdict | None
    error: str = ""

    @property
    def sound(self) -> bool:
        return self.verdict is not None and self.verdict.sound

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        if self.verdict is None:
            return f"not exercised: {self.error}"
        if self.verdict.wrong:
            return "WRONG"
        silent = [str(rule) for rule, fired in self.verdict.fired.items() if not fired]
        if silent:
            return f"not exercised: rule {', '.join(silent)} never fired"
        return "sound" if self.verdict.compared else "not exercised: nothing was compared"

    def __str__(self) -> str:
        """A line, and the counter-example below it if there is one."""
        if self.verdict is None:
            return f"{self.law:24} {self.word}"
        v = self.verdict
        fired = sum(v.fired.values())
        line = f"{v.law:24} {v.instances:6} instances {fired:6} fired {v.compared:7} compared  {self.word}"
        return f"{line}\n{v.wrong}" if v.wrong else line

    def json(self) -> dict[str, Any]:
        """The same as plain data."""
        v = self.verdict
        names = ("instances", "fired", "compared", "void")
        counts = {} if v is None else {name: getattr(v, name) for name in names}
        wrong = str(v.wrong) if v and v.wrong else None
        return {"law": self.law, "sound": self.sound, "verdict": self.word, **counts, "counterexample": wrong}


def add(command: argparse.ArgumentParser) -> None:
    """The arguments of `egglift check-rules`."""
    command.add_argument("file", nargs="?", type=Path, metavar="FILE.egg", help="laws of your own (default: the book)")
    command.add_argument("--law", action="append", default=[], metavar="NAME", help="only this law; may be repeated")
    command.add_argument("--instances", type=int, default=100, metavar="N", help="of each law (default: 100)")
    command.add_argument("--deep", action="store_true", help=f"{DEEP} instances of each law")
    command.add_argument(
        "--with-book", action="store_true", help="then also rewrite by all laws of the book what a law has made"
    )
    command.add_argument(
        "--coverage", nargs="+", metavar="PROGRAM", help="no test: which laws fire when these programs are explored"
    )
    command.add_argument("--seed", type=int, default=0, help="the same seed gives the same result (default: 0)")
    command.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one for each core)")


def run(arguments: argparse.Namespace) -> int:
    """Runs `egglift check-rules`; 0: all are sound, 1: a law is wrong or was not exercised, or fires on no program."""
    whole, laws = chosen(arguments.file, arguments.law)
    if arguments.coverage:
        fired = coverage({spec: load_program(spec) for spec in arguments.coverage}, whole, laws)
        print(shown(fired, len(arguments.coverage), arguments.json))
        return 0 if all(fired.values()) else 1
    count = DEEP if arguments.deep else arguments.instances
    if count < 1 or arguments.jobs < 1:
        raise RuleError("there must be at least one instance of each law, and one process: --instances 100 --jobs 2")
    reports = []
    for report in check_rules(laws, count, arguments.seed, arguments.jobs, arguments.with_book):
        reports.append(report)
        if not arguments.json:
            print(report, flush=True)
    if arguments.json:
        print(json.dumps([r.json() for r in reports], indent=2))
    else:
        print(f"{sum(r.sound for r in reports)} of {len(reports)} laws are sound")
    return 0 if all(r.sound for r in reports) else 1


def chosen(file: Path | None, names: Sequence[str]) -> tuple[Book, list[Law]]:
    """The whole book, a file's laws included, and the laws to test; RuleError where the file, or a name, is wrong."""
    whole = book()
    if file is not None:
        mine = laws_of_file(file)
        whole = whole.extended(mine)
        with engine(whole):  # do the laws go together with the book?
            pass
        names = names or [law.name for law in mine]
    return whole, [whole[name] for name in names or whole.names]


def check_rules(
    laws: Sequence[Law], instances: int, seed: int = 0, jobs: int = 1, with_book: bool = False
) -> Iterator[Report]:
    """The report of each law, in order, tested in `jobs` processes; alone, or together with egglift's book.

    Never with other laws of a user's: what one of them breaks is not the fault of the next.
    """
    test = partial(_report, instances=instances, seed=seed, with_book=with_book)
    if min(jobs, len(laws)) == 1:
        yield from map(test, laws)
        return
    context = multiprocessing.get_context("spawn")  # an e-graph does not survive a fork
    with ProcessPoolExecutor(min(jobs, len(laws)), mp_context=context) as pool:
        yield from pool.map(test, laws)


def _report(law: Law, instances: int, seed: int, with_book: bool) -> Report:
    """Tests one law; its rules share the instances."""
    whole = None
    if with_book:
        whole = book() if law.name in book().names else book().extended([law])
    try:
        return Report(law.name, check_law(law, each=share(law, instances), seed=seed, whole=whole))
    except RuleError as error:
        return Report(law.name, None, str(error))
