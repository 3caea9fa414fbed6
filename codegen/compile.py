"""From a low-level program to a plan: kernels, in order, and the buffers between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.emitter import Emitter
from egglift.codegen.emission.register_accumulators import settle
from egglift.codegen.emission.translator import ROOT
from egglift.codegen.kernel.barriers import in_branches, with_barriers
from egglift.codegen.kernel.imperative import Buffer, Kernel, Launch, Limits, Plan
from egglift.codegen.kernel.unroll_limit import limited
from egglift.codegen.kernel.views import memory, number, volume
from egglift.codegen.opencl.names import Names
from egglift.codegen.opencl.source import kernel_source, used_params
from egglift.codegen.terms import analysis
from egglift.codegen.terms.launch_sizes import shape_of
from egglift.codegen.terms.legality import check
from egglift.codegen.terms.normal_form import simplified, with_levels
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.deep import deep, deeply
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children, is_closed, rebuild, replaced, subterms
from egglift.ir.types import Type, leaves

Step = tuple[int, tuple[Buffer, ...]]
#: programs that nest no more deeply than this are tried without a stack of their own
SHALLOW = 100
#: closed values that are read and take more steps than this are computed once, in a kernel of their own
SMALL = 256


def compile_term(term: Expr, launch: Launch = Launch(), limits: Limits = Limits()) -> Plan:
    """The kernels that compute a closed low-level program whose lengths are numbers.

    `toGlobal x` of a closed x, and a closed map over groups or global ids that is read, becomes a kernel of its own.
    Raises CodegenError for a program that has no OpenCL on a device with these limits.
    """
    return _plan(term, launch, limits)


# the search prices what is compared, measured and shown later: few programs, asked for again and again
@lru_cache(maxsize=256)
def _plan(term: Expr, launch: Launch, limits: Limits) -> Plan:
    type_of(term)
    work = deeply if _depth(term) < SHALLOW else deep  # how many frames a level takes is not known: views take more
    return work(lambda: _Planner(launch, limits).plan(term))


def _depth(term: Expr) -> int:
    depth: dict[Expr, int] = {}
    for t in subterms(term):
        depth[t] = 1 + max((depth[c] for c in (*children(t), *bodies(t))), default=0)
    return depth[term]


@dataclass
class _Planner:
    """Kernels and buffers of the plan under construction."""

    launch: Launch
    limits: Limits
    kernels: list[Kernel] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    memory: dict[str, tuple[Type, tuple[Buffer, ...]]] = field(default_factory=dict)  # by name of its Input
    temporaries: list[Buffer] = field(default_factory=list)
    computed: dict[Expr, p.Input] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    defined: set[str] = field(default_factory=set)
    levels: dict[tuple[Expr, str], Expr] = field(default_factory=dict)  # what with_levels has found

    def plan(self, term: Expr) -> Plan:
        inputs = [t for t in subterms(term) if isinstance(t, p.Input)]
        for t in inputs:
            self.memory[t.name] = (t.type, self._buffers(self.names.own(t.name), t.type))
        given = {name: buffers for name, (_, buffers) in self.memory.items()}
        outputs = self._buffers(self.names.own("out"), type_of(term))
        self._compute(with_levels(simplified(term), self.levels), outputs)
        return Plan(tuple(self.kernels), given, tuple(self.temporaries), outputs, tuple(self.steps))

    def _buffers(self, name: str, type: Type) -> tuple[Buffer, ...]:
        """Global buffers for a value, in leaf order; `name` is theirs."""
        parts = leaves(type)
        sizes = [math.prod(map(number, shape)) for shape, _ in parts]
        names = [name] if len(parts) == 1 else [self.names.own(f"{name}_{k}") for k in range(len(parts))]
        return tuple(
            Buffer(own, "global", scalar, size) for own, size, (_, scalar) in zip(names, sizes, parts, strict=True)
        )

    # ------------------------------------------------------------------------------------ kernels

    def _compute(self, term: Expr, outputs: tuple[Buffer, ...]) -> None:
        """Add what writes the value of `term` to `outputs`."""
        while isinstance(term, p.To) and term.space == "global":
            term = term.x
        if volume(type_of(term)) == 0:
            return
        if _is_launched(term):
            assert isinstance(term, p.Iterate)
            return self._iterate(term, outputs)
        inner = self._split(term)
        self._kernel(inner, outputs)

    def _split(self, term: Expr) -> Expr:
        """`term` with the results of other kernels as inputs; those kernels are added."""
        found = {t: self._stored(t) for t in _boundaries(term)}
        return _replaced(term, found) if found else term

    def _stored(self, t: Expr) -> p.Input:
        """The value of a closed term as computed by kernels of its own, once."""
        if t not in self.computed:
            temporary = self._temporary(type_of(t))
            self._compute(with_levels(t, self.levels), self.memory[temporary.name][1])
            self.computed[t] = temporary
        return self.computed[t]

    def _temporary(self, type: Type) -> p.Input:
        name = self.names.numbered("tmp")
        buffers = self._buffers(name, type)
        self.temporaries.extend(buffers)
        self.memory[name] = (type, buffers)
        return p.Input(name, type)

    def _kernel(self, term: Expr, outputs: tuple[Buffer, ...]) -> None:
        check(term)
        shape = shape_of(term, self.launch, self.limits)
        taken = tuple(b.name for _, buffers in self.memory.values() for b in buffers)
        emitter = Emitter(shape, self.limits, taken + tuple(b.name for b in outputs))
        emitter.constant_names = self.names
        read = {t.name: self.memory[t.name] for t in subterms(term) if isinstance(t, p.Input)}
        emitter.inputs = {name: memory(t, iter(bs), emitter.load) for name, (t, bs) in read.items()}
        emitter.prepare(_closed_nodes(term), ROOT)
        target = Target(memory(type_of(term), iter(outputs), emitter.load), "global")
        emitter.emit(term, target, ROOT)
        body = limited(with_barriers(settle(emitter, emitter.blocks[0].statements), shape.group_items))
        if not self.limits.branch_barriers and in_branches(body):
            raise CodegenError(
                f"{brief(term)}: work-items wait for each other in a branch of a loop, which this device's compiler "
                "gets wrong; choose tiles that divide the lengths, or mapSeq instead of mapLocal there"
            )
        params = used_params(emitter.params, body)
        order = [b for _, buffers in self.memory.values() for b in buffers] + list(outputs)
        params = tuple(sorted(params, key=lambda b: (b in outputs, order.index(b))))
        name = f"k{len(self.kernels)}"
        source = kernel_source(name, shape, params, frozenset(outputs), body, self.defined, self.limits.warp == 1)
        dims = max([d for d in range(3) if shape.local[d] * shape.groups[d] > 1], default=0) + 1
        sizes = tuple(shape.local[d] * shape.groups[d] for d in range(dims))
        self.kernels.append(
            Kernel(
                name,
                source,
                params,
                sizes,
                shape.local[:dims],
                body,
                emitter.local_bytes,
                emitter.private_bytes,
            )
        )
        self.steps.append((len(self.kernels) - 1, params))

    # ------------------------------------------------------------------------------------ iteration by launches

    def _iterate(self, t: p.Iterate, outputs: tuple[Buffer, ...]) -> None:
        """`count` launches of the body's kernels, from one buffer to another in turn."""
        count, type = number(t.count), type_of(t)
        if count == 0:
            return self._compute(with_levels(t.x, self.levels), outputs)
        start = t.x if isinstance(t.x, p.Input) else self._stored(with_levels(t.x, self.levels))
        source = self.memory[start.name][1]
        body = self._split(t.body)
        between = [self._temporary(type) for _ in range(min(count - 1, 2))]
        turn = [self.memory[b.name][1] for b in between]
        chain = [source, *(turn[i % 2] for i in range(count - 1)), outputs]
        state = self._state(type, source, body)
        first = len(self.steps)
        self._compute(replaced(body, lambda e: state if isinstance(e, p.Arg) else None), outputs)
        steps = self.steps[first:]
        del self.steps[first:]
        for before, after in pairwise(chain):
            given = dict(zip(self.memory[state.name][1], before)) | dict(zip(outputs, after))
            self.steps.extend((k, tuple(given.get(b, b) for b in params)) for k, params in steps)

    def _state(self, type: Type, source: tuple[Buffer, ...], body: Expr) -> p.Input:
        """Stands for the argument of an iteration's body: named like the start, unless that is read too."""
        state = p.Input(self.names.numbered("state"), type)
        read = {b.name for t in subterms(body) if isinstance(t, p.Input) for b in self.memory[t.name][1]}
        names = [self.names.own(b.name) if b.name in read else b.name for b in source]
        self.memory[state.name] = (
            type,
            tuple(Buffer(name, "global", b.scalar, b.size) for name, b in zip(names, source, strict=True)),
        )
        return state


# ---------------------------------------------------------------------------------------- where kernels end


def _is_launched(t: Expr) -> bool:
    """Is `t` an iteration of the whole grid?"""
    return isinstance(t, p.Iterate) and analysis.shares_grid(t.body)


def _boundaries(term: Expr) -> list[Expr]:
    """The closed parts of a kernel's term that kernels of their own compute, outermost ones only."""
    parallel = analysis.shares_grid(term)
    found: dict[Expr, None] = {}
    seen: set[tuple[Expr, bool, bool]] = set()
    stack = [(term, True, False)]  # a term, is it in result position, is it in a body
    while stack:
        t, result, inside = stack.pop()
        if (t, result, inside) in seen:
            continue
        seen.add((t, result, inside))
        if is_closed(t) and (_is_launched(t) or (not result and _is_boundary(t, parallel, inside))):
            found[t] = None
            continue
        parts = analysis.result_parts(t, "global") if result and analysis.computes(t) else ()
        stack.extend((b, False, True) for b in reversed(bodies(t)))
        stack.extend((c, c in parts, inside) for c in reversed(children(t)))
    return list(found)


def _is_boundary(t: Expr, parallel: bool, inside: bool) -> bool:
    """Is the closed `t`, which is read, computed in a kernel of its own?  inside: it is read again and again."""
    match t:
        case p.To(space, _):
            return space == "global"
        case p.Map(_, _, level) if level is not None and level.kind in analysis.GRID:
            return True
        case p.Map(body, x, None):
            loops = any(analysis.is_computing(e) for e in subterms(body))
            return inside and loops and volume(type_of(x)) > SMALL
        case p.Map():
            return volume(type_of(t)) > SMALL and not analysis.shares_items(t)
        case p.Fold() | p.Tree() | p.Iterate():
            return volume(type_of(t)) > SMALL or (parallel and _work(t) > SMALL)
        case _:
            return False


def _work(t: Expr) -> int:
    """How many scalars a loop reads, roughly."""
    assert isinstance(t, p.Fold | p.Tree | p.Iterate)
    n = number(t.count) if isinstance(t, p.Iterate) else 1
    return max(n, 1) * volume(type_of(t.x))


def _replaced(term: Expr, new: dict[Expr, p.Input]) -> Expr:
    memo: dict[Expr, Expr] = dict(new)

    def go(t: Expr) -> Expr:
        if t not in memo:
            memo[t] = rebuild(t, go, go)
        return memo[t]

    return go(term)


def _closed_nodes(term: Expr) -> tuple[Expr, ...]:
    """What the kernel's term and its bodies compute without any argument, in order: evaluated once, at the start."""
    found: dict[Expr, None] = dict.fromkeys(analysis.entry_nodes(term, "global"))
    for t in subterms(term):
        for body in bodies(t):
            for part in _closed_parts(body):
                found.update(dict.fromkeys(analysis.read_nodes(part)))
    return tuple(found)


def _closed_parts(body: Expr) -> list[Expr]:
    """The largest closed sub-terms in the scope of a body."""
    found, seen, stack = [], set(), [body]
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if is_closed(t):
            found.append(t)
        else:
            stack.extend(children(t))
    return found
