"""Empty e-graphs of egglog: all that egglift makes are made here."""

from __future__ import annotations

from egglog.bindings import EGraph

from egglift.ir.forks import use


def empty() -> EGraph:
    """A new e-graph; ForkError in a process that was forked from one in which egglog was loaded."""
    use("egglog")
    return EGraph()
