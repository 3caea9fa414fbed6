"""Indices over run-time lengths are proved for all lengths that meet what was asked of them when they were simplified.

As in test_index_proofs.py, where lengths are numbers: the simplified index is what it stands for, lies within the
bounds that it states, and divides nothing negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import z3

from egglift.codegen.kernel.index import Index, Var, index
from egglift.codegen.kernel.views import mirrored, wrapped
from egglift.ir.length_forms import RunTimeLength
from egglift.ir.lengths import Tracing
from tests.smt import (
    Proofs,
    clamped,
    conditions_of,
    counterexample,
    integer,
    meaning,
    promises,
    ranges,
    variable,
)

N, M = RunTimeLength("n"), RunTimeLength("m", multiple=4)


@dataclass
class Lengths:
    """Lengths, and the variables below them."""

    n: int
    m: int
    known: list[Var] = field(default_factory=list)

    def var(self, name: str, count: int, role: str = "loop") -> tuple[Index, z3.ArithRef]:
        """A variable, as an index and for the solver."""
        self.known.append(Var(name, count, role))
        return index(self.known[-1]), variable(self.known[-1])


#: from lengths to an index, and what it stands for
Case = Callable[[Lengths], tuple[Index, z3.ArithRef]]


def _element_of_row(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (i, p), (j, q) = of.var("i", 12), of.var("j", of.n)
    return (i * of.n + j) % of.n + (i * of.n + j) // of.n * 100, q + p * 100


def _element_of_tile(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (g, p), (i, q) = of.var("g", -(-of.n // 32), "global"), of.var("i", 32)
    return (g * 32 + i).clamp(of.n), clamped(p * 32 + q, integer(of.n))


def _block_of_tile(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (g, p), (i, q) = of.var("g", -(-of.n // 32), "global"), of.var("i", 32)
    return (g * 32 + i) // 32 * 7 + (g * 32 + i) % 32, p * 7 + q


def _rest(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (i, q) = of.var("i", of.n - of.n // 16 * 16)
    at = i + of.n // 16 * 16
    return at.clamp(of.n) // 16, (q + integer(of.n // 16 * 16)) / 16


def _quarter(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (i, p) = of.var("i", of.m)
    return i // 4 * 4 + i % 4 + (i + of.m) // 4, p + (p + integer(of.m)) / 4


def _mirrored(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (i, p) = of.var("i", of.n + 2)
    return mirrored(i - 1, of.n), z3.If(p == 0, 0, z3.If(p == integer(of.n) + 1, integer(of.n) - 1, p - 1))


def _wrapped(of: Lengths) -> tuple[Index, z3.ArithRef]:
    (i, p) = of.var("i", of.n + 2)
    return wrapped(i - 1, of.n), z3.If(p == 0, integer(of.n) - 1, z3.If(p == integer(of.n) + 1, 0, p - 1))


CASES: dict[str, Case] = {
    "element of a tile": _element_of_tile,
    "block of a tile": _block_of_tile,
    "rest": _rest,
    "quarter": _quarter,
    "mirrored": _mirrored,
    "wrapped": _wrapped,
}


@pytest.mark.parametrize("sizes", [(1019, 4 * 997), (1024, 64)], ids=["between", "multiples"])
@pytest.mark.parametrize("name", CASES)
def test_indices_are_proved_for_all_lengths(name: str, sizes: tuple[int, int]) -> None:
    tracing = Tracing(dict(zip((N, M), sizes, strict=True)))
    of = Lengths(tracing.length(N), tracing.length(M))
    found, wanted = CASES[name](of)
    low, high = found.range
    mine = meaning(found)
    within = [integer(low) <= mine, mine <= integer(high)]
    given = [*conditions_of(tracing), *ranges(frozenset(of.known))]
    Proofs().prove([mine == wanted, *within, *promises(found)], *given)


def test_rows_are_taken_apart_for_all_lengths() -> None:
    tracing = Tracing({N: 1009, M: 4 * 997})
    found, wanted = _element_of_row(Lengths(tracing.length(N), tracing.length(M)))
    given = [*conditions_of(tracing), *ranges(found.variables())]
    Proofs().prove([meaning(found) == wanted], *given)


def test_what_was_asked_is_needed() -> None:
    tracing = Tracing({N: 1024, M: 64})
    found, wanted = _element_of_tile(Lengths(tracing.length(N), tracing.length(M)))
    assert counterexample(meaning(found) == wanted, z3.Int("n") >= 1, *ranges(found.variables())) is not None
