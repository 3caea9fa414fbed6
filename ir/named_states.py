"""Inputs that stand for what a step of an iteration is given, where bodies inside of the step read it.

iterate n (map (f step_state_0_0 .) xs) s: the body of `iterate` has no argument, but inputs `step_state_0_0`,
`step_state_0_1`, ... for the state, or the components of one that is a tuple, which are not inputs of the program.  The
first number is how many iterations are nested in the body, one in the other: those have names of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import inputs_in, subterms
from egglift.ir.types import Tuple, Type

#: how the names of such inputs begin; no other input's does
PREFIX = "step_state_"


def states_of(t: Type, body: Expr) -> tuple[p.Input, ...]:
    """Inputs for the state of an iteration with that body, or for the components of a state that is a tuple."""
    items = t.items if isinstance(t, Tuple) else (t,)
    return tuple(p.Input(f"{PREFIX}{nested(body)}_{k}", item) for k, item in enumerate(items))


def nested(body: Expr) -> int:
    """How many iterations are in a body, one in the other, at most."""
    return max((1 + nested(t.body) for t in subterms(body) if isinstance(t, p.Iterate)), default=0)


def is_state(x: Expr) -> bool:
    """Does the input stand for the state of an iteration?"""
    return isinstance(x, p.Input) and x.name.startswith(PREFIX)


def reads_states(e: Expr) -> bool:
    """Does it read the state of an iteration by a name?"""
    return any(map(is_state, inputs_in(e)))


def states_in(body: Expr) -> dict[str, int]:
    """By name, which component of its state the body of an iteration reads by inputs; empty where by its argument."""
    if not reads_states(body):
        return {}
    own = f"{PREFIX}{nested(body)}_"
    return {x.name: int(x.name.removeprefix(own)) for x in inputs_in(body) if x.name.startswith(own)}


def bound(inputs: Mapping[str, Any], named: Mapping[str, int], state: Any) -> dict[str, Any]:
    """`inputs` with the components of a state by the names that a body has for them."""
    return {**inputs, **{name: state[k] if isinstance(state, tuple) else state for name, k in named.items()}}
