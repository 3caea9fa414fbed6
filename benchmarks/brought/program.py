"""A program that a user brings, with what it means in NumPy and in torch, and its inputs at three scales."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from benchmarks.demo import difference
from benchmarks.programs.catalogue import Size
from egglift.ir.lifting import as_program
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate
from egglift.ir.types import leaves

Scale: TypeAlias = Literal["small", "cpu", "gpu"]
Inputs: TypeAlias = dict[str, Any]


def normal(program: Any, rng: np.random.Generator) -> Inputs:
    """For every input array of a program, numbers of the normal distribution, in its type."""
    found = {}
    for name, t in inputs_of(as_program(program)).items():
        ((shape, scalar),) = leaves(t)
        found[name] = rng.standard_normal([evaluate(n) for n in shape], np.float32).astype(scalar.dtype)
    return found


def positive(program: Any, rng: np.random.Generator) -> Inputs:
    """The same without signs, and none of them near 0."""
    return {name: np.abs(value) + np.float32(0.1) for name, value in normal(program, rng).items()}


class Timed(Protocol):
    """What is timed beside its peers: a program for every size, with what it means in NumPy and in torch."""

    @property
    def name(self) -> str:
        """What it is called by."""

    @property
    def program(self) -> Callable[..., Any]:
        """`program(*size)`."""

    @property
    def numpy(self) -> Callable[..., Any]:
        """`numpy(**inputs)`: what it means, in NumPy."""

    def size(self, scale: Scale) -> Size:
        """The lengths that the program is made for at a scale."""

    def inputs(self, scale: Scale) -> Inputs:
        """Random arguments at a scale, always the same."""

    def in_torch(self, torch: Any, **inputs: Any) -> Any:
        """What the program means, in torch."""

    def difference(self, program: Any, expected: Any, actual: Any) -> str | None:
        """None where results of `program(*size)` are as expected, else how they differ."""


class Sizes(NamedTuple):
    """The lengths of a program at each scale: for tests, and such that a CPU or a GPU has something to do."""

    small: Size
    cpu: Size
    gpu: Size


@dataclass(frozen=True)
class Brought:
    """A program for every size: `program(*size)` takes the inputs that `numpy(**inputs)` and `torch` take, by name.

    torch: a function of torch and tensors; None where NumPy's is spelt alike.  draw: values for a program's inputs.
    """

    program: Callable[..., Any]
    sizes: Sizes
    numpy: Callable[..., Any]
    torch: Callable[..., Any] | None = None
    draw: Callable[[Any, np.random.Generator], Inputs] = normal

    @property
    def name(self) -> str:
        """The name of the function that makes the program."""
        return self.program.__name__

    def size(self, scale: Scale) -> Size:
        """The lengths that the program is made for at a scale."""
        return {"small": self.sizes.small, "cpu": self.sizes.cpu, "gpu": self.sizes.gpu}[scale]

    def inputs(self, scale: Scale, seed: int = 0) -> Inputs:
        """Random arguments at a scale, the same for the same seed."""
        return self.draw(self.program(*self.size(scale)), np.random.default_rng(seed))

    def in_torch(self, torch: Any, **inputs: Any) -> Any:
        """What the program means, in torch."""
        return self.torch(torch, **inputs) if self.torch else self.numpy(**inputs)

    def difference(self, program: Any, expected: Any, actual: Any) -> str | None:
        """None where results are as expected but for the order of operations, else how they differ."""
        return difference(program, expected, actual)
