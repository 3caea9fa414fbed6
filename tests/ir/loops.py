"""Programs with a loop, and what stands for it, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.types import dims


def the_loop(program: Expr) -> Any:
    """The loop of a program that has one."""
    return next(t for t in subterms(program) if isinstance(t, p.Fold | p.ScanSeq | p.Iterate))


def random_inputs(program: Expr) -> dict[str, Any]:
    """Inputs between 0 and 1."""
    rng = np.random.default_rng(3)
    types = {t.name: t.type for t in subterms(program) if isinstance(t, p.Input)}
    return {name: rng.random([int(n) for n in dims(t)]).astype(np.float32) for name, t in sorted(types.items())}


def alike(one: Expr, other: Expr) -> bool:
    """Have two programs the same value?"""
    given = random_inputs(p.Tup((one, other)))
    pairs = zip(*(leaves(evaluate(e, given)) for e in (one, other)), strict=True)
    return all(np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-4, 1e-5) for a, b in pairs)


def leaves(value: Any) -> list[Any]:
    """The arrays of a value."""
    return [a for part in value for a in leaves(part)] if isinstance(value, tuple) else [value]
