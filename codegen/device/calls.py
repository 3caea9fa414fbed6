"""Calls of a compiled plan: what does not depend on the arguments is found once, before the first."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from egglift.codegen.device.arguments import host_value, is_on_device, leaves_of, operands, parts_of, placed, result
from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import NdArray, Operand, opencl, refused, reported
from egglift.codegen.device.execute import Enqueued, Executable, number
from egglift.codegen.device.host_memory import HostMemory, is_same
from egglift.codegen.device.outputs import copied, destinations, direct
from egglift.codegen.device.queues import add_reads, add_write, chain_for, is_array
from egglift.codegen.device.staging import LARGE, staging_of
from egglift.codegen.kernel.donation import donations
from egglift.codegen.kernel.imperative import Buffer
from egglift.ir.errors import ArgumentError
from egglift.ir.sizes import evaluate
from egglift.ir.types import BOOL, Scalar, Type, leaves


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array, or a number, that goes in or comes out."""

    shape: tuple[int, ...]
    scalar: Scalar
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    size: int
    #: Python's types of numbers, and NumPy's, of which those of a range are taken as they are
    numbers: tuple[type, ...] = ()
    least: float = 0
    most: float = 0

    @property
    def bytes(self) -> int:
        """How large it is."""
        return self.size * self.scalar.size


@dataclass(frozen=True, slots=True)
class Checked:
    """The arguments of a call: leaves of the inputs by name, those on the device, and what results are written into.

    out: as the caller gave it, None if he gave none; outs: its leaves.
    """

    given: Mapping[str, Sequence[Any]]
    there: list[Any]
    out: Any
    outs: list[Any]

    @property
    def is_out_there(self) -> bool:
        """Are the results to be written into arrays on the device?"""
        return bool(self.outs) and is_array(self.outs[0])


def _leaves(type: Type) -> list[Leaf]:
    found = []
    for lengths, scalar in leaves(type):
        shape = tuple(evaluate(n) for n in lengths)
        strides = tuple(scalar.size * max(1, prod(max(1, n) for n in shape[i + 1 :])) for i in range(len(shape)))
        found.append(Leaf(shape, scalar, np.dtype(scalar.dtype), strides, prod(shape), *_taken_at_once(scalar)))
    return found


def _taken_at_once(scalar: Scalar) -> tuple[tuple[type, ...], float, float]:
    """Numbers that need no look at whether they fit: their types, and between what."""
    if scalar == BOOL or scalar.is_narrow or scalar.is_complex:
        return (), 0, 0
    if scalar.is_integer:
        limits = np.iinfo(scalar.dtype)
        return (int, scalar.dtype.type), int(limits.min), int(limits.max)
    return (int, float, scalar.dtype.type), -(2**53), 2**53


class Caller:
    """A plan as a function of the values of its inputs, in their order.  Several threads may call it.

    by_address: makes the same of numbers that are on the device, where `executable` takes numbers by value.
    free: makes the plan compiled without the promise that no arguments overlap, for results in the memory of inputs.
    """

    def __init__(
        self,
        executable: Executable,
        types: Mapping[str, Type],
        type: Type,
        by_address: Callable[[], Caller] | None = None,
        free: Callable[[], Executable] | None = None,
    ) -> None:
        self.executable, self.device, self.plan = executable, executable.device, executable.plan
        self.count, self.types, self.type = len(types), types, type
        self.names = tuple(types)
        numbers = executable.numbers
        self.numbers = {name for name, buffers in self.plan.inputs.items() if numbers.intersection(buffers)}
        self._places = tuple(i for i, name in enumerate(self.names) if name in self.numbers)
        self._by_address, self._free = by_address, free
        self._donations = donations(self.plan) if free else {}
        self._other: Caller | None = None
        self._single = tuple(_leaves(t)[0] if parts_of(t) is None else None for t in types.values())
        self._results = _leaves(type)
        self._is_array = parts_of(type) is None and bool(self._results[0].shape)
        self._host = HostMemory(self.device)
        self._in_place = self._host.is_shared and not self._gives_inputs_back()
        self._arrays = importlib.import_module("pyopencl.array").Array

    def _gives_inputs_back(self) -> bool:
        given = {b for buffers in self.plan.inputs.values() for b in buffers}
        return any(o in given for o in self.plan.outputs)

    def in_order(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values by name as a tuple; ArgumentError where there are too few or too many."""
        if given.keys() != self.types.keys():
            operands(self.device, self.types, given)  # tells what is missing
        return tuple(given[name] for name in self.names)

    def fitting(self, values: Sequence[Any]) -> Caller:
        """Who takes these values: itself, or another where numbers are on the device, and must not be waited for."""
        if self._by_address is not None and any(is_on_device(values[i]) for i in self._places):
            with self.device.lock:
                self._other = self._other or self._by_address()
            return self._other
        return self

    def __call__(
        self, values: Sequence[Any], queue: Any, wait_for: Sequence[Any], allocator: Any, out: Any = None
    ) -> Any:
        """The plan's value on `values`, for the rest see `Kernel.__call__`; ArgumentError where something is amiss."""
        checked = self.checked(values, queue, out, wait_for)
        if checked.there or checked.is_out_there:
            return self._on_device(checked, queue, wait_for, allocator)
        return self.on_host(checked, queue, wait_for)

    def checked(self, values: Sequence[Any], queue: Any, out: Any, wait_for: Sequence[Any] = ()) -> Checked:
        """The arguments of a call, checked; ArgumentError where something is amiss."""
        cl = opencl()
        if queue is not None and not (isinstance(queue, cl.CommandQueue) and queue.context == self.device.context):
            raise ArgumentError(
                f"queue= is the pyopencl CommandQueue of {self.device.name} that a call runs on; "
                f"an input of that name is given by position: ({', '.join(self.names)})"
            )
        if wait_for and not (isinstance(wait_for, Sequence) and all(isinstance(e, cl.Event) for e in wait_for)):
            raise ArgumentError(f"wait_for= is a list of pyopencl Events, and not {wait_for!r}")
        given = {name: self._taken(i, name, values[i]) for i, name in enumerate(self.names)}
        there = [v for vs in given.values() for v in vs if not isinstance(v, np.ndarray)]
        outs = [] if out is None else self._into(out)
        if there and outs and not is_array(outs[0]):
            first = next(name for name, vs in given.items() if not isinstance(vs[0], np.ndarray))
            raise ArgumentError(
                f"input {first} is on the device, and out on the host; give a pyopencl Array, or call without out "
                "and take the result's .get()"
            )
        return Checked(given, there, out, outs)

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
            elif not leaf.shape and kind in leaf.numbers and leaf.least <= value <= leaf.most:
                return (np.array(value, leaf.dtype),)
        return leaves_of(self.device, name, self.types[name], value)

    def _into(self, out: Any) -> list[Any]:
        """The leaves of `out`, checked: at once where it is an array of the result's very type."""
        leaf, kind = self._results[0], type(out)
        known = self._is_array and kind in (np.ndarray, self._arrays)
        if known and out.strides == leaf.strides and out.shape == leaf.shape and out.dtype == leaf.dtype:
            if kind is np.ndarray and out.flags.writeable and out.dtype.isnative:
                return [out]
            if kind is not np.ndarray and not out.offset and out.context == self.device.context:
                return [out]
        return destinations(self.device, self.type, out)

    # ------------------------------------------------------------------------------------ NumPy in, NumPy out

    def on_host(self, checked: Checked, queue: Any, wait_for: Sequence[Any]) -> Any:
        """A call whose arguments are all NumPy's: it waits for the results."""
        queue, outs = queue or self.device.queue, checked.outs
        chain = chain_for(self.device, (), queue, wait_for) if wait_for else Chain(queue)
        if self._in_place:
            found = self._shared(checked.given, chain, outs)
        else:
            found = self._staged(checked.given, chain, outs)
        if outs:
            return checked.out
        if self._is_array:
            return found[0].reshape(self._results[0].shape)
        return result(self.type, found, host_value)

    def _shared(self, given: Mapping[str, Sequence[NdArray]], chain: Chain, outs: Sequence[NdArray]) -> list[NdArray]:
        """In the host's own memory: nothing is copied that kernels can read where it is."""
        host, table, numbers = self._host, dict[Buffer, Operand](), self.executable.numbers
        arrays = dict[Buffer, NdArray]()
        for name, group in self.plan.inputs.items():
            if name not in given:
                table.update(zip(group, self.executable.held[name], strict=True))
                continue
            for b, v in zip(group, given[name], strict=True):
                if b in numbers:
                    table[b] = number(v)
                else:
                    arrays[b] = np.ascontiguousarray(v)
        donated = self._donated(arrays, outs) if outs and self._donations else {}
        rest = {b: v for b, v in arrays.items() if b not in donated} if donated else arrays
        table.update(zip(rest, host.readable([*rest.values()]), strict=True))
        memory = [host.writable(a, [*rest.values()]) for a in outs] or [host.result(r.bytes) for r in self._results]
        for o, m in zip(self.plan.outputs, memory, strict=True):
            table[o] = host.wrapped(m, written=True) if m.nbytes else self.device.allocate(0)
        table.update({b: table[o] for b, o in donated.items()})
        try:
            self._launched(chain, table, self._free() if donated and self._free else self.executable)
            host.seen(chain, [(table[o], m.nbytes) for o, m in zip(self.plan.outputs, memory, strict=True)])
        except opencl().Error as error:
            raise refused(f"{self.device.name} did not finish a call", error) from error
        for m, a in zip(memory, outs, strict=False):
            if not np.may_share_memory(m, a):
                np.copyto(a, m.view(a.dtype).reshape(a.shape))
        return [m.view(leaf.dtype) for m, leaf in zip(memory, self._results, strict=True)]

    def _staged(self, given: Mapping[str, Sequence[NdArray]], chain: Chain, outs: Sequence[NdArray]) -> list[NdArray]:
        """In the device's own memory: what is large goes there and comes back through memory that is pinned."""
        staging = staging_of(self.device)
        there = {n: [staging.upload(chain, v) if v.nbytes >= LARGE else v for v in vs] for n, vs in given.items()}
        made, found = self.executable.enqueue(there, chain), list[NdArray]()
        for i, (leaf, e) in enumerate(zip(self._results, made, strict=True)):
            into = outs[i].reshape(-1) if outs else None
            if leaf.bytes < LARGE or leaf.scalar == BOOL:
                into = self.device.download(chain, e.buffer, leaf.scalar, leaf.size, into=into)
            else:
                into = self._host.result(leaf.bytes).view(leaf.dtype) if into is None else into
                staging.download(chain, e.buffer, into.view(np.uint8))
            found.append(into)
        if not any(leaf.size for leaf in self._results):
            self.device.finish(chain)  # inputs may be changed when a call has returned
        return found

    def _donated(self, arrays: Mapping[Buffer, NdArray], outs: Sequence[NdArray]) -> dict[Buffer, Buffer]:
        """Inputs whose memory a result is written into, in place: for each, the result."""
        found = dict[Buffer, Buffer]()
        for o, a in zip(self.plan.outputs, outs, strict=True):
            same = [b for b, v in arrays.items() if is_same(v, a)]
            others = [v for b, v in arrays.items() if b not in same]
            if same and set(same) <= self._donations.get(o, frozenset()) and self._host.writes_into(a, others):
                found |= dict.fromkeys(same, o)
        return found

    def _launched(self, chain: Chain, table: dict[Buffer, Operand], executable: Executable) -> list[Any]:
        with self.device.lock:
            table |= executable.scratch(chain)
            return executable.launch(chain, table)

    # ------------------------------------------------------------------------------------ on the device

    def _on_device(self, checked: Checked, queue: Any, wait_for: Sequence[Any], allocator: Any) -> Any:
        """Nothing is waited for: results are arrays that carry events."""
        there, outs = checked.there, checked.outs
        before = [list(a.events) for a in outs]
        chain = chain_for(self.device, there, queue, wait_for, written=outs)
        inputs = placed(self.device, checked.given, chain)
        executable, into = self.destined(inputs, outs)
        found = executable.enqueue(inputs, chain, allocator=allocator, into=into)
        for a, f in zip(outs, found, strict=False):
            if f.buffer is not a.base_data or a.offset:
                copied(self.device, chain, f.buffer, a)
        self.written(outs, chain, before)  # before the reads, whose event other readers need not wait for
        add_reads(self.device, there, chain)
        return checked.out if outs else self.arrays(found, chain.queue, allocator)

    def destined(
        self, inputs: Mapping[str, Sequence[Operand]], outs: Sequence[Any]
    ) -> tuple[Executable, list[Operand | None]]:
        """What computes results into `outs`, and for each the buffer that it is written to; None: one of its own."""
        given = [b for bs in inputs.values() for b in bs]
        into = [direct(a, given) for a in outs]
        if None not in into or self._free is None:
            return self.executable, into
        buffers = self.plan.inputs.items()
        taken = [(b, g) for name, bs in buffers if name in inputs for b, g in zip(bs, inputs[name], strict=True)]
        for i, (o, a) in enumerate(zip(self.plan.outputs, outs, strict=True)):
            if into[i] is None and a.size and not a.offset:
                same = frozenset(b for b, g in taken if g is a.base_data)
                others = [g for g in given if g is not a.base_data]
                if same and same <= self._donations.get(o, frozenset()) and direct(a, others) is not None:
                    into[i] = a.base_data
        donated = any(b is g for b in into if b is not None for g in given)
        return (self._free() if donated else self.executable), into

    def written(self, outs: Sequence[Any], chain: Chain, before: Sequence[Sequence[Any]]) -> None:
        """Has the arrays that `chain` writes carry its event.  before: what each carried, which `chain` waited for."""
        if outs and chain.last is not None:
            with reported(f"{self.device.name} did not take its launches"):
                chain.queue.flush()
            for a, events in zip(outs, before, strict=True):
                add_write(a, chain.last, events)

    def arrays(self, found: Sequence[Enqueued], queue: Any, allocator: Any = None) -> Any:
        """The result as pyopencl arrays of a queue."""
        made = iter(self._results)

        def array(f: Enqueued, *_: Any) -> Any:
            leaf = next(made)
            events = [] if f.event is None else [f.event]
            own = {"_context": self.device.context, "_queue": queue, "_size": leaf.size, "_fast": True}
            rest = {"allocator": allocator, "data": f.buffer, "strides": leaf.strides, "events": events}
            return self._arrays(None, leaf.shape, leaf.dtype, **rest, **own)

        return result(self.type, list(found), array)

    def arrays_of(self, buffers: Sequence[Operand], queue: Any) -> tuple[Any, list[Any]]:
        """The result as pyopencl arrays over `buffers`, one for each leaf; and its leaves."""
        whole = self.arrays([Enqueued(b, None) for b in buffers], queue)
        return whole, destinations(self.device, self.type, whole)

    def empty(self) -> Any:
        """NumPy arrays for the result, aligned for kernels."""
        return result(self.type, [self._host.result(leaf.bytes).view(leaf.dtype) for leaf in self._results], _shaped)


def _shaped(flat: NdArray, shape: tuple[int, ...], _: Scalar) -> NdArray:
    return flat.reshape(shape)
