"""A pass over statements: loops that choose among registers are unrolled, as a register has no address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import Loop, Statement
from egglift.codegen.kernel.index import Var
from egglift.codegen.kernel.walk import with_blocks

SHORT = 32  # trips up to which loops over private arrays are unrolled: only then are they registers
UNROLLED = 64  # trips up to which a loop that is to be unrolled is so as a whole


def unroll_register_loops(statements: Sequence[Statement]) -> list[Statement]:
    """`statements` with short loops over elements of private arrays unrolled.

    for (int i0 = 0; i0 < 4; ++i0)   ->   #pragma unroll
      acc0[i0] += x[64*i0 + l0];          for (int i0 = 0; i0 < 4; ++i0)
                                            acc0[i0] += x[64*i0 + l0];
    """
    result: list[Statement] = []
    for s in statements:
        s = with_blocks(s, unroll_register_loops)
        if (
            isinstance(s, Loop)
            and s.until is None
            and s.ends is None
            and s.trips <= SHORT
            and indexes_registers(s.body, s.var)
        ):
            s = replace(s, unroll=True)
        result.append(s)
    return result


def indexes_registers(body: Iterable[Statement], var: Var) -> bool:
    """Does a loop's body choose an element of private memory by the loop's variable?"""
    return any(a.buffer.space == "private" and a.buffer.size > 1 and var in a.at.variables() for a in accesses(body))
