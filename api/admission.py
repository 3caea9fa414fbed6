"""What a device can run at all: found out before the search, which takes seconds, not after it."""

from __future__ import annotations

from math import prod

from egglift.codegen.device.device import Device
from egglift.ir.check import type_of
from egglift.ir.errors import DeviceError, ProgramError, ShapeError
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.text import brief
from egglift.ir.traverse import subterms
from egglift.ir.types import F64, Array, Scalar, Tuple, Type, leaves

#: nodes of a program, bodies included, shared ones counted once: up to so many it is optimised in about a minute
MOST_NODES = 20_000


def admit(program: Expr, device: Device) -> None:
    """Raises an error if `device` can run no form of `program`.

    ProgramError: it has more than MOST_NODES nodes.  ShapeError: a length is still a symbol.  DeviceError: it has no
    f64 that the program uses, or cannot hold the program's inputs and result.
    """
    count = sum(1 for _ in subterms(program))
    if count > MOST_NODES:
        remedy = "write it as arrays and maps, or optimise it in parts"
        raise ProgramError(f"{brief(program)} has {count} nodes, and no more than {MOST_NODES} are optimised; {remedy}")
    lacks = [] if device.limits.float64 else [F64]
    known: dict[Type, frozenset[Scalar]] = {}
    for e in subterms(program):
        t = type_of(e)
        if t not in known:
            _require_numbers(e, t)
            known[t] = frozenset(scalar for _, scalar in leaves(t))
        for scalar in lacks:
            if scalar in known[t]:
                remedy = "cast the program's values to f32, or choose another device"
                raise DeviceError(f"{device.name} has no {scalar}, which {brief(e)} is made of; {remedy}")
    _require_room(program, device)


def _require_numbers(e: Expr, t: Type) -> None:
    match t:
        case Array(n, element):
            if not isinstance(n, int):
                raise ShapeError(f"{brief(e)}: the length {n} is no number yet; write one")
            _require_numbers(e, element)
        case Tuple(items):
            for item in items:
                _require_numbers(e, item)


def _require_room(program: Expr, device: Device) -> None:
    """The buffers of inputs and result, one by one and together."""
    named = [*((f"input {name}", t) for name, t in inputs_of(program).items()), ("the result", type_of(program))]
    total = 0
    for name, t in named:
        for shape, scalar in leaves(t):
            size = prod(n for n in shape if isinstance(n, int)) * scalar.size
            total += size
            if size > device.info.buffer:
                most = f"{device.name} has buffers of {device.info.buffer} at most"
                raise DeviceError(f"{name} takes {size} bytes, but {most}")
    if total > device.info.memory:
        raise DeviceError(f"inputs and result take {total} bytes together, but {device.name} has {device.info.memory}")
