"""Time steps: what an iteration of the whole program does again and again is optimised as a program of its own."""

from __future__ import annotations

from dataclasses import dataclass

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import bodies, replaced, subterms
from egglift.ir.types import Array


@dataclass(frozen=True)
class Steps:
    """An iteration, and the input that stands for what a step is given."""

    whole: p.Iterate
    state: p.Input

    @property
    def program(self) -> Expr:
        """One step: `iterate n f x` -> `f state`."""
        return self.of(self.whole)

    def of(self, whole: Expr) -> Expr:
        """The step of an iteration like this one."""
        assert isinstance(whole, p.Iterate)
        return replaced(whole.body, lambda t: self.state if isinstance(t, p.Arg) else None)

    def again(self, step: Expr) -> Expr | None:
        """The whole iteration with another program for a step; None if that reads the state inside of other bodies."""
        inside = (b for t in subterms(step) for body in bodies(t) for b in subterms(body))
        if any(b == self.state for b in inside):
            return None
        body = replaced(step, lambda t: p.Arg(self.state.type) if t == self.state else None)
        return p.Iterate(self.whole.count, body, self.whole.x)


def time_steps(program: Expr) -> Steps | None:
    """The steps of a program that is an iteration of arrays; None for any other program."""
    if not isinstance(program, p.Iterate) or not isinstance(type_of(program), Array):
        return None
    taken = inputs_of(program)
    name = next(n for i in range(len(taken) + 1) if (n := "state" + "_" * i) not in taken)
    return Steps(program, p.Input(name, type_of(program)))
