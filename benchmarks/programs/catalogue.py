"""The programs as data: every module of NAMES with its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.programs import NAMES


@dataclass(frozen=True)
class Entry:
    """A program for every length: `program(n)`, `inputs(n, rng)` and `reference(**inputs)`."""

    name: str
    program: Callable[[int], Any]
    inputs: Callable[[int, np.random.Generator], dict[str, Any]]
    reference: Callable[..., Any]
    lengths: tuple[int, ...]


def entries() -> Iterator[Entry]:
    """Every program, and of those with variants each: `integer_sums-u8`."""
    for name in NAMES:
        module = import_module(f"benchmarks.programs.{name}")
        variants = getattr(module, "VARIANTS", ())
        functions = (module.program, module.inputs, module.reference)
        if not variants:
            yield Entry(name, *functions, module.LENGTHS)
        for variant in variants:
            program, inputs, reference = (partial(f, type=variant) for f in functions)
            yield Entry(f"{name}-{variant}", program, inputs, reference, module.LENGTHS)


def entry(name: str) -> Entry:
    """The program of that name."""
    return next(e for e in entries() if e.name == name)
