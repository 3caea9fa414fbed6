"""The runs of a stage: every nest of loops that the laws of rules/schedule.egg make of the plain one.

A class of runs is a set of loops still to come, so an e-graph of some thousand nodes holds all orders of all cuts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

from egglift.egraph.rules.egglog_core import EGraph
from egglift.egraph.rules.empty import empty, run
from egglift.egraph.schedules.schedule import RESULT


@dataclass(frozen=True)
class Axis:
    """A dimension of a stage as the laws see it: the how-many-th, reduced or parallel, and how often it may be cut."""

    number: int
    reduced: bool
    cuts: int
    commutes: bool = True


@dataclass(frozen=True)
class Digit:
    """Blocks of the i-th cut of an axis; `rest`: what is left of it inside, after i cuts."""

    axis: int
    cut: int
    rest: bool


#: a node of a run: a loop over a digit, or what is read of an operand kept, around another class
Node: TypeAlias = tuple[Digit | int, int]


@dataclass(frozen=True)
class Runs:
    """A saturated e-graph of runs: the nodes of every class, the class of the whole, and how many rows there are."""

    nodes: Mapping[int, tuple[Node, ...]]
    root: int
    rows: int

    def after(self, c: int, step: Digit | int) -> int | None:
        """The class of what is left of a run in class `c` after a step; None if no member begins with it."""
        return next((child for what, child in self.nodes[c] if what == step), None)


@lru_cache(maxsize=128)
def runs_of(axes: tuple[Axis, ...], operands: int) -> Runs:
    """All runs over these axes, the parallel ones outermost to begin with, that the laws make.

    What a run keeps is one of its operands, by number, or RESULT.
    """
    graph = empty()
    run(graph, *graph.parse_program(_laws()))
    run(graph, *graph.parse_program(_facts(axes, operands)))
    run(graph, *graph.parse_program(_SATURATE))
    return _read(graph)


_LOOPS = "(saturate (run digits) (run split) (run interchange) (run reorder-reduction))"
_SATURATE = f"(run-schedule {_LOOPS} (run keep) (run keep-result))"


@lru_cache(maxsize=1)
def _laws() -> str:
    return files("egglift.egraph.rules").joinpath("schedule.egg").read_text()


def _facts(axes: Sequence[Axis], operands: int) -> str:
    facts, run = [], "(Point)"
    for a in reversed(axes):
        dim = f"({'Reduced' if a.reduced else 'Parallel'} {a.number})"
        run = f"(Loop (Rest {dim} 0) {run})"
        facts += [f"(cuttable {dim} {i})" for i in range(a.cuts)]
        facts += [f"(commutes {dim})"] if a.reduced and a.commutes else []
    facts += [f"(operand {i})" for i in range(operands)]
    facts += [] if any(a.reduced for a in axes) else [f"(result {RESULT})"]
    return "\n".join([*facts, f"(root {run})"])


def _read(graph: EGraph) -> Runs:
    tables = graph.freeze().functions
    number = graph.value_to_i64
    dims = {row.output: number(row.inputs[0]) for op in ("Parallel", "Reduced") for row in tables[op].rows}
    digits: dict[Any, Digit] = {}
    for op in ("Blocks", "Rest"):
        for row in tables[op].rows:
            digits[row.output] = Digit(dims[row.inputs[0]], number(row.inputs[1]), op == "Rest")
    ids: dict[Any, int] = {}
    nodes: dict[int, list[Node]] = defaultdict(list)
    for op in ("Loop", "Keep"):
        for row in tables[op].rows:
            what = digits[row.inputs[0]] if op == "Loop" else number(row.inputs[0])
            child = ids.setdefault(row.inputs[1], len(ids))
            nodes[ids.setdefault(row.output, len(ids))].append((what, child))
    root = ids[tables["root"].rows[0].inputs[0]]
    rows = sum(len(t.rows) for t in tables.values())
    frozen = {c: tuple(sorted(enodes, key=str)) for c, enodes in nodes.items()}
    return Runs({c: frozen.get(c, ()) for c in ids.values()}, root, rows)
