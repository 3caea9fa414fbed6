"""Calls of a compiled plan: what does not depend on the arguments is found once, before the first."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from egglift.codegen.device.arguments import host_value, leaves_of, operands, parts_of, placed, result
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import NdArray, Operand, opencl, refused
from egglift.codegen.device.execute import Executable
from egglift.codegen.device.host_memory import fresh, is_shared, readable, seen, wrapped
from egglift.codegen.device.queues import add_reads, chain_for
from egglift.codegen.kernel.imperative import Buffer
from egglift.ir.errors import ArgumentError
from egglift.ir.sizes import evaluate
from egglift.ir.types import Scalar, Type, leaves


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array, or a number, that goes in or comes out."""

    shape: tuple[int, ...]
    scalar: Scalar
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    size: int

    @property
    def bytes(self) -> int:
        """How large it is."""
        return self.size * self.scalar.size


def _leaves(type: Type) -> list[Leaf]:
    found = []
    for lengths, scalar in leaves(type):
        shape = tuple(evaluate(n) for n in lengths)
        strides = tuple(scalar.size * max(1, prod(max(1, n) for n in shape[i + 1 :])) for i in range(len(shape)))
        found.append(Leaf(shape, scalar, np.dtype(scalar.dtype), strides, prod(shape)))
    return found


class Caller:
    """A plan as a function of the values of its inputs, in their order.  Several threads may call it."""

    def __init__(self, executable: Executable, types: Mapping[str, Type], type: Type) -> None:
        self.executable, self.device, self.plan = executable, executable.device, executable.plan
        self.count, self._types, self._type = len(types), types, type
        self._names = tuple(types)
        self._single = tuple(_leaves(t)[0] if parts_of(t) is None else None for t in types.values())
        self._results = _leaves(type)
        self._in_place = is_shared(self.device) and not self._gives_inputs_back()
        self._arrays = importlib.import_module("pyopencl.array").Array

    def _gives_inputs_back(self) -> bool:
        given = {b for buffers in self.plan.inputs.values() for b in buffers}
        return any(o in given for o in self.plan.outputs)

    def in_order(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values by name as a tuple; ArgumentError where there are too few or too many."""
        if given.keys() != self._types.keys():
            operands(self.device, self._types, given)  # tells what is missing
        return tuple(given[name] for name in self._names)

    def __call__(self, values: Sequence[Any], queue: Any, wait_for: Sequence[Any], allocator: Any) -> Any:
        """The plan's value on `values`, for the rest see `Kernel.__call__`; ArgumentError where something is amiss."""
        cl = opencl()
        if queue is not None and not (isinstance(queue, cl.CommandQueue) and queue.context == self.device.context):
            raise ArgumentError(
                f"queue= is the pyopencl CommandQueue of {self.device.name} that a call runs on; "
                f"an input of that name is given by position: ({', '.join(self._names)})"
            )
        given = {name: self._taken(i, name, values[i]) for i, name in enumerate(self._names)}
        there = [v for vs in given.values() for v in vs if not isinstance(v, np.ndarray)]
        if there:
            return self._on_device(given, there, queue, wait_for, allocator)
        chain = chain_for(self.device, (), queue, wait_for)
        found = self._shared(given, chain) if self._in_place else self.executable.run(given, chain=chain)
        return result(self._type, found, host_value)

    def _taken(self, place: int, name: str, value: Any) -> Sequence[Operand]:
        """The leaves of an input's value."""
        leaf, kind = self._single[place], type(value)
        if leaf is not None:
            if kind is np.ndarray:
                if value.dtype == leaf.dtype and value.shape == leaf.shape and value.dtype.isnative:
                    return (value,)
            elif kind is self._arrays and value.strides == leaf.strides and not value.offset:
                same = value.dtype == leaf.dtype and value.shape == leaf.shape
                if same and value.context == self.device.context:
                    return (value,)
            elif kind is float and leaf.dtype == np.float64:
                return (np.array(value),)
        return leaves_of(self.device, name, self._types[name], value)

    # ------------------------------------------------------------------------------------ NumPy in, NumPy out

    def _shared(self, given: Mapping[str, Sequence[NdArray]], chain: Chain) -> list[NdArray]:
        """In the host's own memory: nothing is copied that is aligned."""
        buffers = [b for name in self.plan.inputs for b in self.plan.inputs[name]]
        arrays = [np.ascontiguousarray(v) for name in self.plan.inputs for v in given[name]]
        table = dict(zip(buffers, readable(self.device, arrays), strict=True))
        memory = [fresh(leaf.bytes) for leaf in self._results]
        for o, m in zip(self.plan.outputs, memory, strict=True):
            table[o] = wrapped(self.device, m, written=True) if m.nbytes else self.device.allocate(0)
        try:
            self._launched(chain, table)
            for o, m in zip(self.plan.outputs, memory, strict=True):
                if m.nbytes:
                    seen(chain.queue, table[o], m.nbytes, chain.after)
        except opencl().Error as error:
            raise refused(f"{self.device.name} did not finish a call", error) from error
        return [m.view(leaf.dtype) for m, leaf in zip(memory, self._results, strict=True)]

    def _launched(self, chain: Chain, table: dict[Buffer, Operand]) -> list[Any]:
        with self.device.lock:
            table |= self.executable.scratch(chain)
            return self.executable.launch(chain, table)

    # ------------------------------------------------------------------------------------ on the device

    def _on_device(
        self, given: Mapping[str, Any], there: list[Any], queue: Any, wait_for: Sequence[Any], allocator: Any
    ) -> Any:
        """Nothing is waited for: results are arrays that carry events."""
        chain = chain_for(self.device, there, queue, wait_for)
        found = self.executable.enqueue(placed(self.device, given, chain), chain, allocator=allocator)
        add_reads(self.device, there, chain)
        made = iter(self._results)

        def array(f: Any, *_: Any) -> Any:
            leaf = next(made)
            events = [] if f.event is None else [f.event]
            own = {"_context": self.device.context, "_queue": chain.queue, "_size": leaf.size, "_fast": True}
            rest = {"allocator": allocator, "data": f.buffer, "strides": leaf.strides, "events": events}
            return self._arrays(None, leaf.shape, leaf.dtype, **rest, **own)

        return result(self._type, found, array)
