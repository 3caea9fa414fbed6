"""An egglog e-graph with the book loaded: loaded once per thread, rolled back after each use."""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from egglift.egraph.rules.book import Book, commands_of, preamble
from egglift.egraph.rules.empty import empty, run
from egglift.ir.errors import RuleError
from egglift.ir.forks import use

os.environ.setdefault("RUST_BACKTRACE", "0")  # egglog prints one for every panic otherwise

from egglift.egraph.rules.egglog_core import EggSmolError, EGraph

_KEPT = 4  # engines per thread
_local = threading.local()


@dataclass
class Engine:
    """One egglog e-graph.  Must stay on its thread."""

    egraph: EGraph
    _process: int = field(default_factory=os.getpid, repr=False)

    def __del__(self) -> None:
        """Lets the e-graph live for ever in a forked process: to end it waits for threads that are not there."""
        if os.getpid() != self._process:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.egraph))

    def run(self, text: str) -> list[Any]:
        """Run commands; RuleError where egglog refuses one or types or constants clash."""
        return self.execute(self.egraph.parse_program(text))

    def execute(self, commands: Iterable[Any]) -> list[Any]:
        """Run parsed commands."""
        try:
            return run(self.egraph, *commands)
        except EggSmolError as error:
            raise RuleError(_explained(str(error))) from None

    def add(self, actions: list[str]) -> None:
        """Run actions in small pieces: egglog's parser keeps the whole text with every node."""
        for i in range(0, len(actions), 16):
            self.run("\n".join(actions[i : i + 16]))

    def holds(self, check: str) -> bool:
        """Does a `(check ...)` command succeed?"""
        try:
            run(self.egraph, *self.egraph.parse_program(check))
        except EggSmolError as error:
            if "Check failed" in str(error):
                return False
            raise
        return True

    def rows(self) -> int:
        """Rows of all tables but those that only index the programs put in, or note what laws did."""
        (out,) = self.run("(print-size)")
        return sum(n for name, n in out.sizes if not name.startswith(("slot", "applied")))


def _explained(message: str) -> str:
    if "type clash" in message:
        found = message[message.index("type clash") :].strip()
        return f"{found}: some law equates programs of different types; check the types it writes into Arg"
    if "constant clash" in message:
        found = message[message.index("constant clash") :].strip()
        return f"{found}: some law does not hold for all numbers (x / x = 1 does not for 0); floats are in hex"
    if taken := re.search(r"Shadowing is not allowed, but found (\S+)", message):
        return f"a law cannot be called {taken[1]}: the language or a rule has this name already; rename the law"
    return message


@contextmanager
def engine(book: Book, *, trace: bool = False) -> Iterator[Engine]:
    """The thread's engine with `book` loaded, empty; what is put in is forgotten at the end.

    trace: every rule also notes `(applied "law" e)`.
    """
    use("egglog")  # those that are kept may be of the process that this one was forked from
    kept: OrderedDict[Any, Engine] = _local.__dict__.setdefault("engines", OrderedDict())
    key = (book, trace)
    ready = kept.pop(key, None) or _loaded(book, trace)
    ready.run("(push)")
    yield ready
    ready.run("(pop)")
    kept[key] = ready  # not reached after an error: an engine in an unknown state is not kept
    while len(kept) > _KEPT:
        kept.popitem(last=False)


def _loaded(book: Book, trace: bool) -> Engine:
    made = Engine(empty())
    made.execute(preamble())
    names = " ".join(f"(ruleset {law.name}) (ruleset {law.name}/back)" for law in book.laws)
    made.run(names)
    for law in book.laws:
        made.execute(commands_of(law, trace))
    return made
