"""The OpenCL kernels of a program, one by one, as code of one's own can launch them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from egglift.codegen.device.arguments import leaf_names
from egglift.codegen.kernel.imperative import Buffer, LengthArgument, Plan
from egglift.ir.patterns import Constant
from egglift.ir.sizes import evaluate
from egglift.ir.types import Type, leaves


@dataclass(frozen=True)
class KernelArgument:
    """A buffer that a kernel is given.  One name is one buffer in all launches of a program.

    name: of an input `x`, or `x[0]`, `x[1]` where it is held as several arrays (as of an array of tuples); of the
    result `out` (`out_` beside an input `out`), or `out[0]`, ...; of what one launch writes for another, its own.
    role: "input", "output" or "temporary".  shape and dtype: the elements, in C order; a bool is a byte, 0 or 1.
    role "counter": a buffer that holds `data` before and after each launch; kernels write it meanwhile.
    role "constant": a buffer that always holds the same, `data`; no input of the program.
    role "length" or "number": no buffer but a number of that dtype, `value`, which a run-time length decides, or the
    launch: of a loop that is launched step by step, the number of the step.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    value: int | None = None
    data: np.ndarray[Any, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def nbytes(self) -> int:
        """The bytes that the buffer must have."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class LaunchedKernel:
    """One launch.  Those of a program run one after the other: each reads what those before it wrote.

    name: of the OpenCL function; source: OpenCL C with that function, complete in itself.  global_size, local_size:
    work-items in all, and in a group, by dimension; no others are right.  arguments: what the function's parameters
    are, in their order; no two may share memory (`restrict`), but where a name stands twice: for different rows.
    """

    name: str
    source: str = field(repr=False)
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[KernelArgument, ...]


def launches_of(
    plan: Plan, inputs: Mapping[str, Type], result: Type, constants: Mapping[str, Constant] = {}
) -> tuple[LaunchedKernel, ...]:
    """The launches of a plan, in order.  constants: what those of its inputs hold that are no inputs of the program."""
    known = {b: _between(b) for b in plan.temporaries}
    out = "out"
    while out in inputs:
        out += "_"
    known |= _arguments(out, "output", result, plan.outputs)
    for name, buffers in plan.inputs.items():
        if name in constants:
            known |= {b: _constant(a, constants[name]) for b, a in _arguments(name, "", inputs[name], buffers).items()}
        else:
            known |= _arguments(name, "input", inputs[name], buffers)
    return tuple(
        LaunchedKernel(
            k.name, k.alone, k.global_size, k.local_size, (*(_given(known, b) for b in given), *map(_length, k.lengths))
        )
        for k, given in ((plan.kernels[i], given) for i, given in plan.steps)
    )


def _between(b: Buffer) -> KernelArgument:
    """What no caller sees."""
    own = KernelArgument(b.name, "temporary", (b.size,), np.dtype(b.scalar.dtype))
    return replace(own, role="counter", data=np.zeros(b.size, own.dtype)) if b.zeroed else own


def _constant(a: KernelArgument, c: Constant) -> KernelArgument:
    return replace(a, role="constant", data=np.frombuffer(c.data, a.dtype).reshape(a.shape))


def _given(known: Mapping[Buffer, KernelArgument], b: Buffer) -> KernelArgument:
    """What stands for a parameter at a launch: a buffer, or a number."""
    return known[b] if b in known else KernelArgument(b.name, "number", (), np.dtype(b.scalar.dtype), b.number)


def _length(a: LengthArgument) -> KernelArgument:
    return KernelArgument(a.name, "length", (), np.dtype(a.type.dtype), a.value)


def _arguments(name: str, role: str, type: Type, buffers: tuple[Buffer, ...]) -> dict[Buffer, KernelArgument]:
    parts = zip(buffers, leaf_names(name, type), leaves(type), strict=True)
    return {
        b: KernelArgument(own, role, tuple(evaluate(n) for n in shape), np.dtype(scalar.dtype))
        for b, own, (shape, scalar) in parts
    }
