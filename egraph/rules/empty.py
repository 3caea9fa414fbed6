"""Empty e-graphs of egglog: all that egglift makes are made here."""

from __future__ import annotations

import logging

from egglog.bindings import EGraph

from egglift.ir.forks import use

#: egglog's own, which say thousands of things of each program: silent unless the caller has set their levels
for _name in ("egglog", "egglog_bridge", "egglog_core_relations"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.WARNING)


def empty() -> EGraph:
    """A new e-graph; ForkError in a process that was forked from one in which egglog was loaded."""
    use("egglog")
    return EGraph()
