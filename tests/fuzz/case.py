"""A program on its inputs, and how it fails."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from egglift.costmodel.measurement.expected_results import NdArray, agree, flatten
from egglift.ir.check import type_of
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.types import leaves
from tests.fuzz.data import random_inputs

#: tile sizes that are tried beside those that the search proposes
SIZES = (1, 2, 3, 4, 5, 7, 8, 16)


@dataclass(frozen=True)
class Failure:
    """What went wrong: in which stage, how, and with what (terms, kernels)."""

    stage: str
    reason: str
    detail: str = ""


@dataclass
class Case:
    """A program on its inputs: what it computes by the interpreter, and what is counted while it is checked."""

    program: Expr
    style: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def rng(self) -> Random:
        return Random(self.seed)

    @cached_property
    def inputs(self) -> dict[str, Any]:
        return random_inputs(self.program, self.style, self.seed)

    @cached_property
    def narrow(self) -> list[NdArray]:
        """The result, leaf by leaf, in the program's own types."""
        return flatten(evaluate(self.program, self.inputs))

    @cached_property
    def wide(self) -> list[NdArray]:
        """The result with floats in float64."""
        return flatten(evaluate(self.program, self.inputs, wide=True))

    @cached_property
    def steady(self) -> bool:
        """Is the result known well enough to be compared?  Exactly, or for rounded functions to the last few digits."""
        scalars = [s for _, s in leaves(type_of(self.program))]
        if self.style == "smooth":
            return all(agree(w, n, s) is None for w, n, s in zip(self.wide, self.narrow, scalars))
        return all(np.array_equal(w, n, equal_nan=n.dtype.kind == "f") for w, n in zip(self.wide, self.narrow))

    def disagreement(self, actual: list[NdArray]) -> str | None:
        """Where a result is not the program's; a result that rounding changes is not compared."""
        scalars = [s for _, s in leaves(type_of(self.program))]
        for i, (wide, narrow, got, s) in enumerate(zip(self.wide, self.narrow, actual, scalars, strict=True)):
            problem = agree(wide, got, s)
            if problem and agree(narrow, got, s):
                if self.steady:
                    return f"result {i}: {problem}"
                self.counts["not compared: rounding decides"] += 1
        return None
