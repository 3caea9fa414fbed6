"""Inputs that a user gives for candidates to be checked and timed with, in place of those that are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from egglift.costmodel.measurement.expected_results import HostValue, flatten, unflatten
from egglift.ir.arguments import convert
from egglift.ir.errors import ArgumentError
from egglift.ir.inner_program import held_constants
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate
from egglift.ir.types import leaves


@dataclass(frozen=True)
class Sample:
    """Values of some inputs, or of all: by name, the bytes of each leaf, row by row.

    A complex number's bytes are those of its two parts, so that they are the bytes of the inner program's input too.
    """

    data: tuple[tuple[str, tuple[bytes, ...]], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, program: Expr, given: Mapping[str, Any] | None) -> Sample:
        """What is given for inputs of `program`, checked as in a call, and its large constants; None: nothing is given.

        ArgumentError where one is no input, or does not fit its type; and for lengths that are not known yet.
        """
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            raise ArgumentError(f'sample has inputs by name, as {{"x": array}}, and is not {type(given).__name__}')
        if lengths_of(program):
            raise ArgumentError("sample is for programs whose lengths are numbers: like= says for which to choose")
        types = inputs_of(program)
        if unknown := [name for name in given if name not in types]:
            raise ArgumentError(f"sample: unknown: {', '.join(unknown)}; the program takes {', '.join(types)}")
        values = convert({name: types[name] for name in given}, given)
        found = {name: tuple(x.tobytes() for x in flatten(value)) for name, value in values.items()}
        found |= {name: (c.data,) for name, c in held_constants(program).items()}
        return cls(tuple(sorted(found.items())))

    def values(self, program: Expr) -> dict[str, HostValue]:
        """The values for the inputs of the inner program, as `sample_inputs` has them."""
        types, found = inputs_of(program), dict[str, HostValue]()
        for name, data in self.data:
            if name in types:
                numbers = [np.frombuffer(part, t.dtype) for (_, t), part in zip(leaves(types[name]), data, strict=True)]
                shapes = [[evaluate(n) for n in shape] for shape, _ in leaves(types[name])]
                parts = (x.reshape(shape) for x, shape in zip(numbers, shapes, strict=True))
                found[name] = unflatten(types[name], parts)
        return found

    @cached_property
    def mark(self) -> str:
        """What tells it from others in keys of records; "" of none."""
        digest = sha256()
        for name, data in self.data:
            digest.update(repr((name, *map(len, data))).encode())
            for part in data:
                digest.update(part)
        return digest.hexdigest()[:16] if self.data else ""
