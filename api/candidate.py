"""Candidates: low-level programs with their numbers, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch, Plan
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.steps import Steps
from egglift.ir.patterns import Expr


@dataclass(frozen=True)
class Part:
    """A program that computes a part of another.

    structure, form and parameters: what was made of it, as of a candidate.
    """

    structure: str
    program: Expr
    form: Expr | None
    parameters: dict[str, int]


@dataclass(frozen=True)
class Candidate:
    """One low-level program equal to the source program.

    structure: its loops, staging and tiles in short, e.g. `1T[l...]`; parameters: tile and launch sizes; form: the
    term as extraction found it, its tile lengths still symbols (None: it has none); account: how it was made of
    stages and schedules, if it was, and steps, how it is made so again over other lengths; parts: those of a program
    that was searched in parts;
    estimate: seconds by the analytic model, and `bound`, what limits it, in a sentence; measured: seconds, None
    unless it was timed; status: "ok", "model" (not measured), or why it cannot be chosen, with `reason`.
    """

    structure: str
    term: Expr
    parameters: dict[str, int]
    launch: Launch
    limits: DeviceLimits
    estimate: float
    bound: str = ""
    measured: float | None = None
    status: str = "model"
    reason: str = ""
    form: Expr | None = field(default=None, repr=False)
    account: Account | None = field(default=None, repr=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)
    steps: Steps | None = field(default=None, repr=False)
    derive: Callable[[Candidate], tuple[str, ...]] | None = field(default=None, repr=False)

    @cached_property
    def plan(self) -> Plan:
        """Its kernels; compiled to OpenCL when first asked for."""
        return compile_term(self.term, self.launch, self.limits)

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws that join the source program and this one (found by ablation when asked for)."""
        return self.derive(self) if self.derive else ()

    @property
    def seconds(self) -> float:
        """Measured if there is a measurement, else estimated; infinite if it cannot be chosen."""
        if self.status not in ("ok", "model"):
            return float("inf")
        return self.measured if self.measured is not None else self.estimate


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that ran, by their times; behind them those that were not measured, and those that cannot be chosen, by
    the model.  A time is not compared with an estimate: the model's scale may be wrong.
    """
    return sorted(candidates, key=_place)


def _place(c: Candidate) -> tuple[bool, bool, float]:
    refused = c.seconds == float("inf")
    return refused, c.measured is None, c.estimate if refused else c.seconds
