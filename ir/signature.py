"""What a program takes: its inputs, in the order of their names."""

from __future__ import annotations

from egglift.ir.errors import ProgramError
from egglift.ir.named_states import is_state
from egglift.ir.patterns import Expr, Input
from egglift.ir.traverse import bodies, children
from egglift.ir.types import Type


def inputs_of(e: Expr) -> dict[str, Type]:
    """The inputs of `e` by name, sorted by name as Python sorts: the order of positional arguments, in kernels too.

    No other order can be foreseen: how a program is written is not kept, and equal programs read their inputs in
    different orders.  ProgramError where one name has two types.  Kept with the node: each call of a kernel asks.
    """
    known: dict[str, Type] | None = e.__dict__.get("_input_types")
    if known is None:
        known = e.__dict__["_input_types"] = _inputs(e)
    return dict(known)


def _inputs(e: Expr) -> dict[str, Type]:
    found: dict[str, Type] = {}
    seen: set[Expr] = set()
    stack = [e]
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if isinstance(t, Input) and not is_state(t) and (other := found.setdefault(t.name, t.type)) != t.type:
            raise ProgramError(f"two inputs are named {t.name}, of types {other} and {t.type}; rename one")
        stack.extend(reversed((*children(t), *bodies(t))))
    return dict(sorted(found.items()))
