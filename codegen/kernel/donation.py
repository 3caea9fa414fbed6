"""Which inputs of a plan may be given up for its results: `kernel(x, out=x)` without memory of its own."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from egglift.codegen.kernel.accesses import Access, accesses
from egglift.codegen.kernel.imperative import Buffer, If, Plan, PlannedKernel, Store
from egglift.codegen.kernel.index import Var
from egglift.codegen.kernel.walk import walk


def donations(plan: Plan) -> dict[Buffer, frozenset[Buffer]]:
    """For each result the inputs whose memory it may be written into.

    One kernel writes the result, each element once, and after it no kernel reads the input.  In that kernel an element
    of the input is read only where the result's element of the same place is computed, before that is written.
    """
    given = [b for buffers in plan.inputs.values() for b in buffers]
    found = {o: frozenset(b for b in given if _may_be(plan, b, o)) for o in plan.outputs if o not in given}
    return {o: inputs for o, inputs in found.items() if inputs}


def without_promises(plan: Plan) -> Plan:
    """The plan with kernels that do not promise their compiler that no arguments overlap."""

    def free(text: str) -> str:
        return text.replace("* restrict ", "* ")

    kernels = tuple(
        replace(k, source=free(k.source), whole=free(k.whole), by_value=free(k.by_value)) for k in plan.kernels
    )
    return replace(plan, kernels=kernels)


def _may_be(plan: Plan, given: Buffer, result: Buffer) -> bool:
    if (given.scalar, given.size) != (result.scalar, result.size):
        return False
    users = [i for i, (_, used) in enumerate(plan.steps) if result in used]
    if len(users) != 1 or any(given in used for _, used in plan.steps[users[0] + 1 :]):
        return False
    index, used = plan.steps[users[0]]
    kernel = plan.kernels[index]
    names = {b: p for p, b in zip(kernel.params, used, strict=True)}
    if kernel.last is not None and not {names.get(given), names[result]}.isdisjoint(kernel.last.params):
        return False
    return used.count(result) == 1 and used.count(given) <= 1 and _in_place(kernel, names.get(given), names[result])


def _in_place(kernel: PlannedKernel, given: Buffer | None, result: Buffer) -> bool:
    """Does a kernel read of `given` only the place of `result` that it then writes, and write each place once?"""
    if any(isinstance(s, If) and any(_writes(t, result) for t in walk((s,))) for s in walk(kernel.body)):
        return False
    found = accesses(kernel.body)
    written = [a for a in found if a.buffer is result]
    if len(written) != 1 or not written[0].write or not _once(kernel, written[0]):
        return False
    (store,) = written
    return all(_is_before(a, store) for a in found if a.buffer is given)


def _writes(s: object, buffer: Buffer) -> bool:
    return isinstance(s, Store) and s.buffer is buffer


def _is_before(read: Access, store: Access) -> bool:
    """Is it the same place, in the same turn of the same loops, and earlier?"""
    together = read.block == store.block and read.position < store.position
    return not read.write and together and read.at == store.at and read.lane == store.lane


def _once(kernel: PlannedKernel, store: Access) -> bool:
    """Is each element written once?  All are, so it is enough that there are as many writes as elements."""
    s = store.statement
    if not isinstance(s, Store) or s.atomic or any(loop.until for loop in store.path):
        return False
    variables = [v for v, _ in store.at.terms]
    if not all(isinstance(v, Var) and type(v.count) is int for v in variables):  # not Length: known when it is called
        return False
    counts = {v: v.count for v in variables if isinstance(v, Var)}
    inner = {loop.var for loop in store.path} | ({store.lane} if store.lane else set())
    outer = prod(n for v, n in counts.items() if v not in inner)
    size = prod(counts.values())
    return inner <= set(counts) and outer == prod(kernel.global_size) and size == store.buffer.size
