"""Inputs that stand for what a step of a loop is given, where its steps are launched one by one.

iterate n (map (f step_state_0_0 .) xs) s: the body of `iterate` has no argument, but inputs `step_state_0_0`,
`step_state_0_1`, ... for the state, or the components of one that is a tuple, which are not inputs of the program.  So
has that of `fold f z (iota n)`, and of `scanSeq f z (iota n)`, whose last input is the number of the step.  The first
number tells loops in each other apart: it is higher than those of all names in the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from egglift.ir import patterns as p
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, inputs_in, is_closed, subterms
from egglift.ir.types import Tuple, Type

#: how the names of such inputs begin; no other input's does
PREFIX = "step_state_"
#: patterns whose bodies may have names for what they are given
Loop: TypeAlias = p.Iterate | p.Fold | p.ScanSeq


def components(t: Type) -> tuple[Type, ...]:
    """The types of the parts of a state: of a tuple its items."""
    return t.items if isinstance(t, Tuple) else (t,)


def states_of(given: tuple[Type, ...], body: Expr) -> tuple[p.Input, ...]:
    """Inputs for what the body of a loop is given, of these types.

    CodegenError where a loop in the body, of which no step reads its own state, would take these names for its own.
    """
    number = 1 + max((_number(x) for x in inputs_in(body) if is_state(x)), default=-1)
    if any(isinstance(t, Loop) and is_closed(t.body) for t in subterms(body) if not states_in_loop(t)):
        raise CodegenError("a loop within a step reads nothing of its own state: its steps are all the same")
    return tuple(p.Input(f"{PREFIX}{number}_{k}", t) for k, t in enumerate(given))


def is_state(x: Expr) -> bool:
    """Does the input stand for what a step is given?"""
    return isinstance(x, p.Input) and x.name.startswith(PREFIX)


def reads_states(e: Expr) -> bool:
    """Does it read what a step of a loop around it is given by a name?"""
    return bool(_free(e))


def states_in(body: Expr) -> dict[str, int]:
    """By name, which component of what it is given the body of a loop reads by inputs; empty where by its argument."""
    if not is_closed(body) or not (free := _free(body)):
        return {}
    own = f"{PREFIX}{min(free)}_"
    return {x.name: int(x.name.removeprefix(own)) for x in inputs_in(body) if x.name.startswith(own)}


def states_in_loop(t: Expr) -> dict[str, int]:
    """The same of the body of `t`, if that is a loop."""
    return states_in(t.body) if isinstance(t, Loop) else {}


def bound(inputs: Mapping[str, Any], named: Mapping[str, int], state: Any, *number: Any) -> dict[str, Any]:
    """`inputs` with what a step is given by the names that its body has for it: a state, and maybe a number."""
    given = (*(state if isinstance(state, tuple) else (state,)), *number)
    return {**inputs, **{name: given[k] for name, k in named.items()}}


def _number(x: Expr) -> int:
    assert isinstance(x, p.Input)
    return int(x.name.removeprefix(PREFIX).split("_")[0])


def _free(e: Expr) -> frozenset[int]:
    """The first numbers of the names in `e` that are not those of a loop in it.  Kept with it."""
    if not any(map(is_state, inputs_in(e))):
        return frozenset()
    for t in subterms(e):
        if "_free_states" not in t.__dict__:
            t.__dict__["_free_states"] = _own_free(t)
    found: frozenset[int] = e.__dict__["_free_states"]
    return found


def _own_free(t: Expr) -> frozenset[int]:
    """The same of a term whose parts know theirs."""
    if is_state(t):
        return frozenset((_number(t),))
    found = frozenset[int]().union(*(c.__dict__["_free_states"] for c in children(t)))
    for b in bodies(t):
        inner: frozenset[int] = b.__dict__["_free_states"]
        if inner and isinstance(t, Loop) and is_closed(b):
            inner -= {min(inner)}
        found |= inner
    return found
