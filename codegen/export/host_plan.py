"""Plans as a host launches them: what is compiled, and for each plan its sizes and launches, numbers or expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from egglift.codegen.export.length_texts import Size, size_of, times
from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.lengths import Condition


@dataclass(frozen=True)
class LengthPlan:
    """A plan, over lengths, that is right where its conditions hold.

    choice: it was chosen for lengths near these, by their place among those of the program; None: it is for all lengths
    that no other plan is for.
    """

    plan: Plan
    conditions: tuple[Condition, ...] = ()
    choice: int | None = 0


@dataclass(frozen=True)
class HostKernel:
    """A kernel: how many buffers it takes, work-items in a group, local memory; numbers: the bytes of each."""

    name: str
    buffers: int
    local_size: tuple[int, ...]
    local_bytes: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class HostSource:
    """OpenCL that is compiled together, and its kernels."""

    text: str
    kernels: tuple[HostKernel, ...]


@dataclass(frozen=True)
class HostPlan:
    """A plan: the place of its source; for each kernel its work-items and numbers; launches.

    temporaries: the bytes of each; steps: launches in order, each a kernel's place and a buffer for each parameter, or,
    where that is no buffer's number, a number that the launch says, behind those of all buffers.
    """

    source: int
    conditions: tuple[Condition, ...]
    choice: int | None
    temporaries: tuple[Size, ...]
    global_sizes: tuple[tuple[Size, ...], ...]
    numbers: tuple[tuple[Size, ...], ...]
    steps: tuple[tuple[int, tuple[int, ...]], ...]


def host_plans(
    plans: Sequence[LengthPlan], inputs: Sequence[str], held: Sequence[str]
) -> tuple[tuple[HostSource, ...], tuple[HostPlan, ...]]:
    """Plans with the sources that they are compiled from: equal sources once.

    Buffers are numbered: inputs, outputs, as many temporaries as any plan has, held constants, and what groups count
    themselves in, which is 0 between all launches.
    """
    most = max(len(_between(p.plan)) for p in plans)
    sources: dict[HostSource, int] = {}
    made = []
    for p in plans:
        source = HostSource(p.plan.source, tuple(map(_kernel, p.plan.kernels)))
        number = _numbered(p.plan, inputs, held, most)
        buffers = sum(len(p.plan.inputs[n]) for n in inputs) + len(p.plan.outputs) + most + len(held)
        made.append(_host_plan(p, sources.setdefault(source, len(sources)), number, buffers))
    return tuple(sources), tuple(made)


def _numbered(plan: Plan, inputs: Sequence[str], held: Sequence[str], most: int) -> Mapping[Buffer, int]:
    given = [*(b for n in inputs for b in plan.inputs[n]), *plan.outputs, *_between(plan)]
    first = len(given) - len(_between(plan)) + most
    constants = [b for n in held for b in plan.inputs.get(n, ())]
    counters = dict.fromkeys((b for b in plan.temporaries if b.zeroed), first + len(held))
    return {b: i for i, b in enumerate(given)} | {b: first + i for i, b in enumerate(constants)} | counters


def _between(plan: Plan) -> list[Buffer]:
    """The buffers between kernels in which there may be anything."""
    return [b for b in plan.temporaries if not b.zeroed]


def _host_plan(p: LengthPlan, source: int, number: Mapping[Buffer, int], buffers: int) -> HostPlan:
    plan = p.plan
    return HostPlan(
        source,
        p.conditions,
        p.choice,
        tuple(times(size_of(b.size), b.scalar.size) for b in _between(plan)),
        tuple(tuple(map(size_of, k.global_size)) for k in plan.kernels),
        tuple(tuple(size_of(a.value) for a in k.lengths) for k in plan.kernels),
        tuple((k, tuple(number[b] if b in number else buffers + b.number for b in used)) for k, used in plan.steps),
    )


def _kernel(k: PlannedKernel) -> HostKernel:
    return HostKernel(k.name, len(k.params), k.local_size, k.local_bytes, tuple(a.type.size for a in k.lengths))
