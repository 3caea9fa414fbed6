"""From a low-level program to a plan: kernels in order, and the buffers between them (passes: codegen/passes.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise

from egglift.codegen.emission.builder import Target
from egglift.codegen.emission.emitter import Emitter
from egglift.codegen.emission.layout import laid_out
from egglift.codegen.emission.translator import ROOT
from egglift.codegen.emitted import Emitted, counter
from egglift.codegen.kernel.barriers import in_branches
from egglift.codegen.kernel.distribution import Shape
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, Launch, Plan, ScalarValue, Statement
from egglift.codegen.kernel.index import Index, Var, index, is_simplifying
from egglift.codegen.kernel.reuse import LaunchStep, reused
from egglift.codegen.kernel.views import View, memory, number, volume
from egglift.codegen.opencl.names import Names
from egglift.codegen.opencl.source import used_params
from egglift.codegen.passes import finished, normal_form
from egglift.codegen.terms.assign_levels import assign_levels
from egglift.codegen.terms.components import component_of, component_types, is_read_besides, is_stored
from egglift.codegen.terms.kernel_boundaries import boundaries, closed_nodes, is_launched
from egglift.codegen.terms.launch_sizes import shape_of
from egglift.codegen.terms.launched_loops import LaunchedLoop, launched_loop
from egglift.codegen.terms.legality import check
from egglift.codegen.terms.storing import stored
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.deep import deep, deeply
from egglift.ir.errors import CodegenError
from egglift.ir.lengths import Tracing
from egglift.ir.named_states import Loop, components, is_state, reads_states
from egglift.ir.patterns import Expr, Level
from egglift.ir.text import brief
from egglift.ir.traverse import bodies, children, exchanged, inputs_in, replaced, subterms
from egglift.ir.types import I32, U64, Scalar, Type, leaves

#: programs that nest no more deeply than this are tried without a stack of their own
SHALLOW = 100


def compile_term(
    term: Expr, launch: Launch = Launch(), limits: DeviceLimits = DeviceLimits(), tracing: Tracing | None = None
) -> Plan:
    """The kernels that compute a closed low-level program whose lengths are numbers, or those of a tracing.

    `toGlobal x` of a closed x, and a closed map over groups or global ids that is read, becomes a kernel of its own.
    Raises CodegenError for a program that has no OpenCL on a device with these limits.
    """
    return _plan(term, launch, limits, tracing, is_simplifying())


# the search prices what is compared, measured and shown later: few programs, asked for again and again
@lru_cache(maxsize=256)
def _plan(term: Expr, launch: Launch, limits: DeviceLimits, tracing: Tracing | None, simplifying: bool) -> Plan:
    type_of(term)
    known = _plans(term, limits, tracing, simplifying)
    for plan, shapes in known:
        with suppress(CodegenError):
            if all(shape_of(kernel, launch, limits) == shape for kernel, shape in shapes):
                return plan
    work = deeply if _depth(term) < SHALLOW else deep  # how many frames a level takes is not known: views take more
    names = Names(tuple(tracing.names.values())) if tracing is not None else Names()
    planner = _Planner(launch, limits, tracing, names=names)
    plan = work(lambda: planner.plan(term))
    known.append((plan, planner.shapes))
    return plan


@lru_cache(maxsize=256)
def _plans(
    term: Expr, limits: DeviceLimits, tracing: Tracing | None, simplifying: bool
) -> list[tuple[Plan, list[tuple[Expr, Shape]]]]:
    """The plans of a term so far, with their kernels' terms and how these are launched: all that a launch says."""
    return []


def _unzipped(t: p.Tup) -> Expr | None:
    """The stored array of tuples whose components, each as an array, are `t`: its leaves are written one by one too."""
    found = [component_of(x) for x in t.items]
    first = found[0]
    if first is None or any(
        c is None or c.array is not first.array or c.index != i or not c.is_plain for i, c in enumerate(found)
    ):
        return None
    return first.array if leaves(type_of(first.array)) == leaves(type_of(t)) else None


def _in_order(results: Sequence[Expr]) -> list[int]:
    """Results by place, those first that others read; numbers that nobody reads last, as a kernel's last group may go
    on with what is one group's.
    """
    inside = [set(subterms(x)) for x in results]

    def is_last(i: int) -> bool:
        return isinstance(type_of(results[i]), Scalar) and sum(results[i] in terms for terms in inside) == 1

    return sorted(range(len(results)), key=lambda i: (is_last(i), len(inside[i])))


def _depth(term: Expr) -> int:
    """How deeply patterns nest in a term.  Kept with them."""
    stack = [term]
    while stack:
        t = stack[-1]
        parts = (*children(t), *bodies(t))
        if todo := [c for c in parts if "_depth" not in c.__dict__]:
            stack.extend(todo)
        else:
            t.__dict__["_depth"] = 1 + max([c.__dict__["_depth"] for c in parts], default=0)
            stack.pop()
    found: int = term.__dict__["_depth"]
    return found


def _has_scalar_state(term: Expr) -> bool:
    """Is there an iteration of a number?  It is read from memory, where it begins too."""
    return any(isinstance(t, p.Iterate) and isinstance(type_of(t), Scalar) for t in subterms(term))


def _zeros(state: Buffer) -> Expr:
    """What words hold that must be 0."""
    return p.Map(p.Literal(0, U64), p.Iota(state.size, I32), Level("global", 0))


def _numbered(b: Buffer, n: int) -> Buffer:
    """What stands for the number `n` at a launch."""
    return replace(b, values=I32.dtype.type(n).tobytes())


@dataclass
class _Planner:
    """Kernels and buffers of the plan under construction."""

    launch: Launch
    limits: DeviceLimits
    tracing: Tracing | None = None
    kernels: list[Emitted] = field(default_factory=list)
    steps: list[LaunchStep] = field(default_factory=list)
    memory: dict[str, tuple[Type, tuple[Buffer, ...]]] = field(default_factory=dict)  # by name of its Input
    temporaries: list[Buffer] = field(default_factory=list)
    computed: dict[Expr, p.Input] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    levels: dict[tuple[Expr, str], Expr] = field(default_factory=dict)  # what assign_levels has found
    executed: bool = False  # has somebody chosen who executes what?
    apart: int = 0  # steps before this one have their own turns: no kernel goes on with what comes after
    counter: Buffer | None = None
    #: stand for rows of buffers at a step: the whole, and the number of the row
    rows: dict[Buffer, tuple[Buffer, Buffer]] = field(default_factory=dict)
    layouts: dict[Expr, dict[int, Expr]] = field(default_factory=dict)  # of components of what a kernel writes
    launch_numbers: dict[Buffer, Var] = field(default_factory=dict)  # what stands for numbers that launches say
    numbers: list[Buffer] = field(default_factory=list)  # those of the steps under construction
    shapes: list[tuple[Expr, Shape]] = field(default_factory=list)  # how kernels are launched, by their terms

    def plan(self, term: Expr) -> Plan:
        for t in sorted((t for t in inputs_in(term) if not is_state(t)), key=lambda t: t.name):
            is_number = isinstance(t.type, Scalar) and not t.type.is_narrow and not _has_scalar_state(term)
            own = self.names.own(t.name)
            self.memory[t.name] = (t.type, self._buffers(own, t.type, given=True, aligned=False, is_number=is_number))
        given = {name: buffers for name, (_, buffers) in self.memory.items()}
        outputs = self._buffers(self.names.own("out"), type_of(term), aligned=False)
        self.executed = any(isinstance(t, p.Map) and t.level is not None for t in subterms(term))
        self._compute(assign_levels(normal_form(term), self.levels), outputs)
        steps, temporaries = reused(self.steps, self.temporaries)
        defined = set[str]()
        kernels = [k.printed(f"k{i}", defined, self.limits, self.tracing) for i, k in enumerate(self.kernels)]
        return Plan(tuple(kernels), given, temporaries, outputs, steps)

    def _buffers(
        self, name: str, type: Type, *, given: bool = False, aligned: bool = True, is_number: bool = False
    ) -> tuple[Buffer, ...]:
        """Global buffers for a value, in leaf order; `name` is theirs."""
        parts = leaves(type)
        sizes = [math.prod(map(number, shape)) for shape, _ in parts]
        names = [name] if len(parts) == 1 else [self.names.own(f"{name}_{k}") for k in range(len(parts))]
        return tuple(
            Buffer(own, "global", scalar, size, given=given, aligned=aligned, is_number=is_number)
            for own, size, (_, scalar) in zip(names, sizes, parts, strict=True)
        )

    # ------------------------------------------------------------------------------------ kernels

    def _compute(self, term: Expr, outputs: tuple[Buffer, ...]) -> None:
        """Add what writes the value of `term` to `outputs`."""
        layouts = dict[int, Expr]()
        while is_stored(term):
            layouts, term = self.layouts.get(term, layouts), term.x
        if volume(type_of(term)) == 0:
            return
        if isinstance(term, p.Tup) and (zipped := _unzipped(term)) is not None:
            return self._compute(zipped, outputs)
        if isinstance(term, p.Tup) and any(is_stored(x) or component_of(x) for x in term.items):
            return self._results(term, outputs)
        if is_launched(term):
            assert isinstance(term, Loop)
            return self._launches(launched_loop(term), outputs)
        inner = self._split(term)
        if layouts:
            self.layouts[inner] = layouts
        self._kernel(inner, outputs)

    def _results(self, term: p.Tup, outputs: tuple[Buffer, ...]) -> None:
        """Add what writes each result of several by itself."""
        ends = list(accumulate(len(leaves(type_of(x))) for x in term.items))
        parts = {i: outputs[start:end] for i, (start, end) in enumerate(pairwise([0, *ends]))}
        done = set[int]()
        for i in _in_order(term.items):
            x, buffers = term.items[i], parts[i]
            if i in done:
                continue
            if (part := component_of(x)) and part.array not in self.computed:
                done |= self._in_components(part.array, term, parts)
            elif x in self.computed:
                self._kernel(self.computed[x], buffers)
            else:
                self._result(x, buffers)

    def _result(self, x: Expr, buffers: tuple[Buffer, ...]) -> None:
        """Add what writes a result, from where others read it."""
        self._compute(assign_levels(x, self.levels), buffers)
        if is_stored(x):
            name = self.names.numbered("result")
            self.memory[name] = (type_of(x), buffers)
            self.computed[x] = p.Input(name, type_of(x))

    def _in_components(self, array: p.To, term: p.Tup, parts: Mapping[int, tuple[Buffer, ...]]) -> set[int]:
        """Add what computes a stored array of tuples of which results are components, and say which: each component is
        written where it is wanted, those that are no results to temporaries."""
        buffers = list(self._buffers(self.names.numbered("tmp"), type_of(array)))
        kept, results, layouts = {id(b) for b in buffers}, set[int](), dict[int, Expr]()
        for i, x in enumerate(term.items):
            part = component_of(x)
            if part is None or part.array is not array or id(buffers[part.leaves][0]) not in kept:
                continue
            if part.is_plain or not is_read_besides(part, [y for y in term.items if y is not x]):
                buffers[part.leaves] = parts[i]
                results.add(i)
                layouts |= {} if part.is_plain else {part.index: part.layout}
        self.temporaries.extend(b for b in buffers if id(b) in kept)
        self.layouts[array] = layouts
        self._result(array, tuple(buffers))
        return results

    def _split(self, term: Expr) -> Expr:
        """`term` with the results of other kernels as inputs; those kernels are added."""
        found = {t: self._stored(t) for t in boundaries(term)}
        return exchanged(term, found) if found else term

    def _stored(self, t: Expr) -> p.Input:
        """The value of a closed term as computed by kernels of its own, once."""
        if t not in self.computed:
            temporary = self._temporary(type_of(t))
            self._compute(assign_levels(t, self.levels), self.memory[temporary.name][1])
            self.computed[t] = temporary
        return self.computed[t]

    def _temporary(self, type: Type) -> p.Input:
        name = self.names.numbered("tmp")
        buffers = self._buffers(name, type)
        self.temporaries.extend(buffers)
        self.memory[name] = (type, buffers)
        return p.Input(name, type)

    def _kernel(self, term: Expr, outputs: tuple[Buffer, ...]) -> None:
        """Add what writes the value of `term` to `outputs`: a kernel, or what the last group of the one before does."""
        check(term)
        shape = shape_of(term, self.launch, self.limits)
        self.shapes.append((term, shape))
        if self._is_gone_on_with(term, outputs, shape):
            return
        made = self._emitted(term, outputs, shape)
        for state in made.states:
            self._cleared(state)
        self.kernels.append(made)
        self.steps.append((len(self.kernels) - 1, made.params))

    def _is_gone_on_with(self, term: Expr, outputs: tuple[Buffer, ...], shape: Shape) -> bool:
        """Has the kernel before become one that does this too?  Its launch is the last one then."""
        if not self.limits.device_fence or len(self.steps) == self.apart:
            return False
        before = self.kernels[-1]
        as_one = before.shape_to_go_on(shape) if self.steps[-1] == (len(self.kernels) - 1, before.params) else None
        if as_one is None:
            return False
        own = self.counter or counter(self.names.numbered("done"))
        both = None
        with suppress(CodegenError):  # so many work-items may have no code for it
            both = before.going_on(self._emitted(term, outputs, as_one, before.local_names), own, self.limits)
        if both is None:
            return False
        if own in both.params and self.counter is None:
            self.counter = own
            self.temporaries.append(own)
        self.kernels[-1], self.steps[-1] = both, (len(self.kernels) - 1, both.params)
        return True

    def _emitted(
        self, term: Expr, outputs: tuple[Buffer, ...], shape: Shape, local_names: tuple[str, ...] = ()
    ) -> Emitted:
        """The kernel that writes the value of `term` to `outputs`.

        local_names: of local arrays that are there already.
        """
        emitter = self._emitter(term, outputs, shape, local_names)
        self.memory.update({state.name: (type_of(_zeros(state)), (state,)) for state in emitter.states})
        body = finished(emitter, emitter.blocks[0].statements)
        if not self.limits.branch_barriers and in_branches(body):
            raise CodegenError(
                f"{brief(term)}: work-items wait for each other in a branch of a loop, which this device's compiler "
                "gets wrong; choose tiles that divide the lengths, or mapSeq instead of mapLocal there"
            )
        params, memory = self._params(emitter, body, outputs), (emitter.local_bytes, emitter.private_bytes)
        names, states = tuple(b.name for b in emitter.locals), tuple(emitter.states)
        written = frozenset((*map(self._whole, outputs), *states))
        return Emitted(shape, params, written, body, *memory, names, states)

    def _cleared(self, state: Buffer) -> None:
        """Add the kernel that makes words 0."""
        self.temporaries.append(state)
        self._kernel(_zeros(state), (state,))

    def _emitter(self, term: Expr, outputs: tuple[Buffer, ...], shape: Shape, local_names: tuple[str, ...]) -> Emitter:
        """The translation of a kernel's term: an emitter with its statements."""
        taken = tuple(b.name for _, buffers in self.memory.values() for b in buffers)
        taken += tuple(b.name for b in (*outputs, *map(self._whole, outputs), *self.numbers))
        taken += (*local_names, *(self.tracing.names.values() if self.tracing else ()))
        emitter = Emitter(shape, self.limits, taken)
        emitter.constant_names = self.names
        read = {t.name: self.memory[t.name] for t in inputs_in(term)}
        load = self._loading(emitter)
        emitter.inputs = {name: memory(t, iter(bs), load) for name, (t, bs) in read.items()}
        emitter.prepare(closed_nodes(term), ROOT)
        target = self._target(type_of(term), self.layouts.get(term, {}), outputs, load)
        emitter.emit(term, Target(target, "global"), ROOT)
        return emitter

    def _target(
        self, t: Type, layouts: Mapping[int, Expr], outputs: tuple[Buffer, ...], load: Callable[..., ScalarValue]
    ) -> View:
        """Where a kernel's value goes: components that have a layout, as these are wanted."""
        rest = iter(outputs)
        if not layouts:
            return memory(t, rest, load)
        plain = component_types(t)
        bodies = [layouts.get(i, p.Arg(own)) for i, own in enumerate(plain)]
        return laid_out(bodies, [memory(type_of(body), rest, load) for body in bodies], t)

    def _loading(self, emitter: Emitter) -> Callable[[Buffer, Index], ScalarValue]:
        """How an element of a buffer is read, which may be a row of another at this step, or a number."""

        def load(b: Buffer, at: Index) -> ScalarValue:
            if b in self.launch_numbers:
                return emitter.number(index(self.launch_numbers[b]), b.scalar)
            if b in self.rows:
                whole, number = self.rows[b]
                return emitter.load(whole, index(self.launch_numbers[number]) * b.size + at)
            return emitter.load(b, at)

        return load

    def _params(self, emitter: Emitter, body: tuple[Statement, ...], outputs: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
        """What a kernel is given: inputs and temporaries in the plan's order, then outputs."""
        results = [self._whole(b) for b in outputs]
        order = [self._whole(b) for _, buffers in self.memory.values() for b in buffers] + results
        used = sorted(used_params(emitter.params, body), key=lambda b: (b in results, order.index(b)))
        return (*used, *self.numbers)

    # ------------------------------------------------------------------------------------ loops by launches

    def _launches(self, t: LaunchedLoop, outputs: tuple[Buffer, ...]) -> None:
        """The kernels of a step, launched again and again, from one buffer to another in turn; what a scan keeps is
        written to its row of the result, where the next step reads it."""
        if t.count == 0:
            return self._compute(assign_levels(t.start, self.levels), outputs)
        start = t.start if isinstance(t.start, p.Input) else self._stored(assign_levels(t.start, self.levels))
        source = self.memory[start.name][1]
        body = self._split(t.step) if not t.names else self._without_invariants(t.step)
        rows = dict(zip(t.results, outputs, strict=True)) if t.kept else {}
        step, before = (self._number(stem, t.count) for stem in ("step", "before"))
        state = self._state(type_of(start), source, body)
        self._name_components(state, t.names, step)
        params = [self._read(b, before, k in rows) for k, b in zip(t.states, self.memory[state.name][1], strict=True)]
        new = self._new(t, rows, step, outputs)
        first = self.apart = len(self.steps)
        around = len(self.numbers)
        self.numbers += [step, before] if rows else [step] if t.counts else []
        self._compute(self._step(t, body, state), new)
        del self.numbers[around:]
        steps = self.steps[first:]
        del self.steps[first:]
        written = self._written(t, rows, new, outputs)
        for i in range(t.count):
            given = {b: to[i] for b, to in written.items()}
            for b, k, begin in zip(params, t.states, source, strict=True):
                given[b] = written[self._whole(new[k])][i - 1] if i else begin
            given |= {step: _numbered(step, i), before: _numbered(before, max(i - 1, 0))}
            self.steps.extend((k, tuple(given.get(b, b) for b in used)) for k, used in steps)
        self.apart = len(self.steps)

    def _step(self, t: LaunchedLoop, body: Expr, state: p.Input) -> Expr:
        """What is computed at each step, by whom."""
        step = replaced(body, lambda e: state if isinstance(e, p.Arg) else None)
        if not self.executed:
            step = stored(step)
        return assign_levels(step, self.levels) if t.counts else step

    def _number(self, stem: str, count: int) -> Buffer:
        """Stands for a number below `count` that a launch says."""
        b = Buffer(self.names.numbered(stem), "number", I32, 1)
        self.launch_numbers[b] = Var(b.name, count, "launch")
        return b

    def _read(self, b: Buffer, before: Buffer, in_rows: bool) -> Buffer:
        """The parameter by which a step reads a leaf of the state: of what a scan keeps, the row before."""
        if not in_rows:
            return b
        whole = replace(b, size=b.size * self.launch_numbers[before].count, aligned=False)
        self.rows[b] = whole, before
        return whole

    def _new(
        self, t: LaunchedLoop, rows: Mapping[int, Buffer], step: Buffer, outputs: tuple[Buffer, ...]
    ) -> tuple[Buffer, ...]:
        """Where a step's value goes: what a scan keeps, to rows of the result."""
        if not t.kept:
            return outputs
        new = self._buffers(self.names.numbered("next"), type_of(t.step))
        self.rows |= {new[k]: (whole, step) for k, whole in rows.items()}
        return new

    def _written(
        self, t: LaunchedLoop, rows: Mapping[int, Buffer], new: tuple[Buffer, ...], outputs: tuple[Buffer, ...]
    ) -> dict[Buffer, list[Buffer]]:
        """For each parameter that a step's value is written to, what that is at each step."""
        last = 0 if t.kept else 1  # steps whose values are the result
        between = [self._buffers(self.names.numbered("tmp"), type_of(t.step)) for _ in range(min(t.count - last, 2))]
        self.temporaries.extend(b for turn in between for k, b in enumerate(turn) if k not in rows)

        def place(k: int, i: int) -> Buffer:
            return between[i % 2][k] if i < t.count - last else outputs[k]

        return {
            rows.get(k, b): [rows[k] if k in rows else place(k, i) for i in range(t.count)] for k, b in enumerate(new)
        }

    def _whole(self, b: Buffer) -> Buffer:
        """The buffer that a row is of; any other buffer itself."""
        return self.rows[b][0] if b in self.rows else b

    def _state(self, type: Type, source: tuple[Buffer, ...], body: Expr) -> p.Input:
        """Stands for the argument of an iteration's body: named like the start, unless that is read too."""
        state = p.Input(self.names.numbered("state"), type)
        read = {b.name for t in inputs_in(body) if t.name in self.memory for b in self.memory[t.name][1]}
        names = [self.names.own(b.name) if b.name in read else b.name for b in source]
        self.memory[state.name] = (
            type,
            tuple(replace(b, name=own) for own, b in zip(names, source, strict=True)),
        )
        return state

    def _name_components(self, state: p.Input, named: Mapping[str, int], step: Buffer) -> None:
        """What the body of a loop calls the components of its state, and the number of a step, is where these are."""
        items = components(state.type)
        ends = list(accumulate(len(leaves(item)) for item in items))
        for name, k in named.items():
            if k == len(items):
                self.memory[name] = (I32, (step,))
            else:
                self.memory[name] = (items[k], self.memory[state.name][1][ends[k] - len(leaves(items[k])) : ends[k]])

    def _without_invariants(self, body: Expr) -> Expr:
        """A body that has names for its state, with what depends on none of these computed before all steps."""
        found, stack = dict[Expr, Expr](), [body]
        while stack:
            for t in boundaries(stack.pop()):
                if not reads_states(t):
                    found[t] = self._stored(t)
                elif isinstance(t, p.To):
                    stack.append(t.x)
        return exchanged(body, found) if found else body
