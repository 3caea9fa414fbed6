"""A kernel written by hand: its file, how it is launched, and the program that it computes.

It runs as egglift's own kernels do, as a `Plan`: the same queue, the same clock, outputs poisoned before the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.brought.program import Inputs, Scale, Sizes
from benchmarks.programs.catalogue import Size
from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Buffer, LengthArgument, Plan, PlannedKernel
from egglift.costmodel.measurement.expected_results import flatten
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.sizes import evaluate
from egglift.ir.types import F32, I32, leaves

FILES = Path(__file__).parent / "kernels"
#: arrays by the names of buffers
Arrays: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A program for every size, with inputs and its meaning in NumPy: what kernels by hand and egglift's compute.

    bytes, operations: what a size moves at least, and the arithmetic that it takes (None: too little to matter).
    """

    name: str
    program: Callable[..., Any]
    inputs: Callable[..., Inputs]
    reference: Callable[..., Any]
    sizes: Sizes
    bytes: Callable[..., int]
    operations: Callable[..., int] | None = None

    def size(self, scale: Scale) -> Size:
        """The lengths at a scale."""
        return {"small": self.sizes.small, "cpu": self.sizes.cpu, "gpu": self.sizes.gpu}[scale]


@dataclass(frozen=True)
class Call:
    """A launch: which function of the file, its buffers by name, then its numbers; work-items in all and of a group."""

    kernel: str
    buffers: tuple[str, ...]
    numbers: tuple[int, ...]
    items: tuple[int, ...]
    group: tuple[int, ...]


@dataclass(frozen=True)
class Way:
    """One way to launch a kernel: macros that its file is compiled with, calls in order, elements of temporaries."""

    macros: Mapping[str, int | str]
    calls: tuple[Call, ...]
    temporaries: Mapping[str, int] = field(default_factory=dict)


def as_they_are(inputs: Inputs) -> Arrays:
    """The inputs by name; the parts of an array of tuples are `name_0`, `name_1`, ..."""
    found: Arrays = {}
    for name, value in inputs.items():
        parts = flatten(value)
        found |= {name: parts[0]} if len(parts) == 1 else {f"{name}_{i}": part for i, part in enumerate(parts)}
    return found


@dataclass(frozen=True)
class ByHand:
    """A kernel by hand for a subject.

    files: of `kernels`, one behind the other.  ways: for a size and a device, the ways to launch it that are tried.
    layout: the inputs as the kernel wants them to lie.  derived: the same kernel as a low-level term, for a size.
    The results are the buffers `out_0`, `out_1`, ...
    """

    name: str
    subject: Subject
    files: tuple[str, ...]
    ways: Callable[[Size, Device], Sequence[Way]]
    layout: Callable[[Inputs], Arrays] = as_they_are
    derived: Callable[[Size], Expr] | None = None

    def source(self, macros: Mapping[str, int | str]) -> str:
        """The text that is compiled."""
        lines = [f"#define {name} {value}" for name, value in macros.items()]
        return "\n".join([*lines, *((FILES / f"{file}.cl").read_text() for file in self.files)])

    def plan(self, way: Way, size: Size, arrays: Arrays) -> Plan:
        """The launches as a plan that takes `arrays`."""
        shapes = leaves(type_of(as_program(self.subject.program(*size))))
        buffers = {name: _buffer(name, array) for name, array in arrays.items()}
        outputs = {f"out_{i}": _result(f"out_{i}", *leaf) for i, leaf in enumerate(shapes)}
        between = {name: Buffer(name, "global", F32, count) for name, count in way.temporaries.items()}
        known = buffers | outputs | between
        source, kernels, steps = self.source(way.macros), [], []
        for i, call in enumerate(way.calls):
            given = tuple(known[name] for name in call.buffers)
            lengths = tuple(LengthArgument(f"n{j}", n, I32) for j, n in enumerate(call.numbers))
            text = source if i == 0 else ""  # one program has all functions
            kernels.append(PlannedKernel(call.kernel, text, given, call.items, call.group, (), lengths=lengths))
            steps.append((i, given))
        return Plan(
            tuple(kernels),
            {name: (buffer,) for name, buffer in buffers.items()},
            tuple(between.values()),
            tuple(outputs.values()),
            tuple(steps),
        )


def _buffer(name: str, array: Any) -> Buffer:
    return Buffer(name, "global", I32 if array.dtype == np.int32 else F32, array.size)


def _result(name: str, shape: Sequence[Any], scalar: Any) -> Buffer:
    return Buffer(name, "global", scalar, int(np.prod([evaluate(n) for n in shape], dtype=np.int64)))


def covering(items: int, group: int) -> int:
    """The least multiple of a group's work-items that has so many."""
    return -(-items // group) * group
