"""A plan over run-time lengths, for some of these lengths: sizes of buffers and launches, and numbers for kernels."""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.length_forms import Lengths
from egglift.ir.lengths import Length


def at_lengths(plan: Plan, values: Lengths) -> Plan:
    """The plan with plain numbers.  Its kernels' texts are the same: one compiled program serves all lengths.

    n * 4 bytes, (n + 63) / 64 groups, n   ->   4000 bytes, 16 groups, 1000
    """
    known: dict[Buffer, Buffer] = {}

    def number(n: int) -> int:
        return n.form.number(values) if isinstance(n, Length) else n

    def buffers(given: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        for b in given:
            if b not in known:
                known[b] = replace(b, size=number(b.size))
        return tuple(known[b] for b in given)

    def kernel(k: PlannedKernel) -> PlannedKernel:
        lengths = tuple(replace(a, value=number(a.value)) for a in k.lengths)
        sizes = tuple(map(number, k.global_size))
        return replace(k, params=buffers(k.params), global_size=sizes, lengths=lengths)

    return Plan(
        tuple(map(kernel, plan.kernels)),
        {name: buffers(given) for name, given in plan.inputs.items()},
        buffers(plan.temporaries),
        buffers(plan.outputs),
        tuple((i, buffers(given)) for i, given in plan.steps),
    )
