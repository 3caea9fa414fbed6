"""Inputs that stand for what a step of an iteration is given, where bodies inside of the step read it.

iterate n (map (f step_state_0_0 .) xs) s: the body of `iterate` has no argument, but inputs `step_state_0_0`,
`step_state_0_1`, ... for the state, or the components of one that is a tuple, which are not inputs of the program.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.traverse import inputs_in
from egglift.ir.types import Tuple, Type

#: how the names of such inputs begin; no other input's does
PREFIX = "step_state_"


def states_of(t: Type, taken: Collection[str]) -> tuple[p.Input, ...]:
    """Inputs for a state, or for the components of one that is a tuple, whose names are not `taken`."""
    first = next(i for i in range(len(taken) + 1) if not any(name.startswith(f"{PREFIX}{i}_") for name in taken))
    items = t.items if isinstance(t, Tuple) else (t,)
    return tuple(p.Input(f"{PREFIX}{first}_{k}", item) for k, item in enumerate(items))


def is_state(x: Expr) -> bool:
    """Does the input stand for the state of an iteration?"""
    return isinstance(x, p.Input) and x.name.startswith(PREFIX)


def states_in(body: Expr) -> dict[str, int]:
    """By name, which component of its state the body of an iteration reads by inputs; empty where by its argument."""
    return {x.name: int(x.name.rpartition("_")[2]) for x in inputs_in(body) if is_state(x)}


def bound(inputs: Mapping[str, Any], named: Mapping[str, int], state: Any) -> dict[str, Any]:
    """`inputs` with the components of a state by the names that a body has for them."""
    return {**inputs, **{name: state[k] if isinstance(state, tuple) else state for name, k in named.items()}}
