"""E-graphs of egglog: all that egglift makes are made here, and all commands run here."""

from __future__ import annotations

import logging
from typing import Any

from egglift.egraph.rules.egglog_core import EGraph
from egglift.ir.forks import use
from egglift.ir.native_calls import native_call

#: egglog's own, which say thousands of things of each program: silent unless the caller has set their levels
for _name in ("egglog", "egglog_bridge", "egglog_core_relations"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.WARNING)


def empty() -> EGraph:
    """A new e-graph; ForkError in a process that was forked from one in which egglog was loaded."""
    use("egglog")
    return EGraph()


def run(graph: EGraph, *commands: Any) -> list[Any]:
    """What egglog answers to parsed commands; EggSmolError where it refuses one."""
    with native_call():
        return list(graph.run_program(*commands))
