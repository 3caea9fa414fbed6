"""Time steps: what an iteration does again and again is optimised as a program of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.named_states import states_in, states_of
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import bodies, children, exchanged, inputs_in, replaced, subterms, with_argument
from egglift.ir.types import Array, Tuple, Type


@dataclass(frozen=True)
class Steps:
    """An iteration, and the inputs that stand for what a step is given: its state, or the components of a tuple."""

    whole: p.Iterate
    states: tuple[p.Input, ...]

    @property
    def state(self) -> p.Input:
        """The input for a state that is no tuple."""
        (state,) = self.states
        return state

    @property
    def program(self) -> Expr:
        """One step: `iterate n f x` -> `f state`."""
        return self.of(self.whole)

    def of(self, whole: Expr) -> Expr:
        """The step of an iteration like this one."""
        assert isinstance(whole, p.Iterate)
        if named := states_in(whole.body):
            own: dict[Expr, Expr] = {t: self.states[named[t.name]] for t in inputs_in(whole.body) if t.name in named}
            return exchanged(whole.body, own)
        if isinstance(type_of(whole), Tuple):
            return with_argument(whole.body, p.Tup(self.states))
        return replaced(whole.body, lambda t: self.state if isinstance(t, p.Arg) else None)

    def again(self, step: Expr) -> Expr:
        """The whole iteration with another program for a step, which reads the state by its argument; by names
        (ir/named_states.py) where bodies inside read it."""
        inside = (b for t in subterms(step) for body in bodies(t) for b in subterms(body))
        if any(b in self.states for b in inside):
            named = states_of(type_of(self.whole), step)
            body = exchanged(step, dict(zip(self.states, named, strict=True)))
        else:
            given = dict[Expr, Expr](zip(self.states, _components(type_of(self.whole)), strict=True))
            body = replaced(step, lambda t: given.get(t))
        return p.Iterate(self.whole.count, body, self.whole.x)


def _components(t: Type) -> tuple[Expr, ...]:
    return tuple(p.Get(k, p.Arg(t)) for k in range(len(t.items))) if isinstance(t, Tuple) else (p.Arg(t),)


def time_steps(program: Expr) -> Steps | None:
    """The steps of a program that is an iteration of arrays, or of a tuple of arrays; None for any other program."""
    if not isinstance(program, p.Iterate):
        return None
    t, taken = type_of(program), inputs_of(program)
    items = t.items if isinstance(t, Tuple) else (t,)
    if not all(isinstance(item, Array) for item in items):
        return None
    free = (n for i in count() if (n := f"state{'_' * i}") not in taken)
    return Steps(program, tuple(p.Input(next(free), item) for item in items))


def steps_within(program: Expr) -> Steps | None:
    """The steps of the only iteration of a program outside of all bodies; None where there is none, or another."""
    found = list(_outside(program))
    return time_steps(found[0]) if len(found) == 1 else None


def _outside(program: Expr) -> Iterator[Expr]:
    """The iterations outside of all bodies, the outermost ones."""
    stack, seen = [program], set[Expr]()
    while stack:
        t = stack.pop()
        if t not in seen:
            seen.add(t)
            if isinstance(t, p.Iterate):
                yield t
            else:
                stack.extend(children(t))
