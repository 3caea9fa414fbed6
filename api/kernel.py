"""`Kernel`: an optimised program as a callable, which says what it is, why, and how fast."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from egglift.candidate import Candidate
from egglift.codegen.device.arguments import Lies, as_it_lies, is_on_device, operands, placed
from egglift.codegen.device.bound_call import BoundCall
from egglift.codegen.device.calls import Caller
from egglift.codegen.device.device import FAST_MATH, Device, Operand, open_device, opencl
from egglift.codegen.device.execute import Executable, Timing, build
from egglift.codegen.device.held_constants import uploaded
from egglift.codegen.device.queues import chain_for
from egglift.codegen.device.timeline import Span, chrome_trace
from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_plan import LengthPlan
from egglift.codegen.export.host_program import host_program
from egglift.codegen.kernel.donation import without_promises
from egglift.codegen.kernel.imperative import Plan
from egglift.constants import constant
from egglift.costmodel.measurement.expected_results import sample_inputs
from egglift.costmodel.measurement.refused_kernels import named
from egglift.costmodel.records.whole_file import write_whole
from egglift.egraph.schedules.account import Account
from egglift.ir.check import type_of
from egglift.ir.errors import ArgumentError, BuildError, CodegenError, DeviceError, EggliftError, ForkError, RuleError
from egglift.ir.inner_program import held_constants, inner
from egglift.ir.pairs import paired
from egglift.ir.patterns import Constant, Expr
from egglift.ir.plain_numbers import plain
from egglift.ir.run_time_lengths import lengths_of
from egglift.ir.signature import inputs_of
from egglift.launches import LaunchedKernel, launches_of
from egglift.lost_kernel import LostKernel
from egglift.options import Options
from egglift.report import USUAL, duration
from egglift.saved import Saved, read, text_of
from egglift.steps import has_steps, steps_within, time_steps

if TYPE_CHECKING:
    from egglift.egraph.explanation.derivation import Derivation
    from egglift.egraph.explanation.prove import Explanation
    from egglift.inparts import InParts


@dataclass(frozen=True)
class Profiled:
    """What `Kernel.profile` found: `timing` in seconds, and how many bytes of inputs and results it moved."""

    timing: Timing
    bytes: int

    @property
    def seconds(self) -> float:
        """The median time of one call on the device, without transfers and gaps between kernels."""
        return self.timing.seconds

    def timeline(self) -> str:
        """Its kernels one behind the other, as the JSON text that chrome://tracing and Perfetto read."""
        spans, start = [], 0.0
        for name, seconds in self.timing.kernels:
            spans.append(Span(0, name, start, seconds))
            start += seconds
        return chrome_trace(spans, {0: "device"})

    def __str__(self) -> str:
        if not self.timing.kernels:
            return "0 ns on the device: no kernel runs, as the results have no elements"
        rate = self.bytes / self.seconds / 1e9 if self.seconds else 0.0
        bandwidth = f"{rate:.1f}" if rate >= 1 else plain(rate, 2)
        count, spread = len(self.timing.samples), self.timing.spread
        how = f"{count} sample{'s' if count > 1 else ''}" + (f", spread {spread:.1%}" if spread < math.inf else "")
        head = f"{duration(self.seconds)} on the device ({how}); {bandwidth} GB/s of inputs and results"
        rows = [f"  {name:<24} {duration(s):>10} {s / self.seconds:6.1%}" for name, s in self.timing.kernels]
        return "\n".join([head, *rows])


class Kernel:
    """An optimised program.  Call it with its inputs, by name, or by position in the order of their names.

    `kernel(x, y)` or `kernel(x=..., y=...)`: NumPy arrays in, NumPy arrays out; where an input is a pyopencl
    array or buffer, the results are pyopencl arrays, not waited for.  Scalars come back as NumPy scalars, tuples as
    tuples, arrays of tuples as tuples of arrays.  Several threads may call it.

    It runs on the queue of the first input, in the order of `inputs`, that is a pyopencl array with a queue of its
    device (else on `device.queue`); results belong to that queue.  Queues may be in order or out of order, and differ:
    the device, not the host, waits for the events that arrays carry, and for what an array's other, ordered queue was
    given before.  Buffers carry no events: they are read after what `device.queue` was given before.

    orders: by input, the order of axes in which kernels take it, where that is another than the caller's: the array
    that is given is transposed, which copies nothing where it lies so in memory; or its layout, with gaps, where
    kernels take the memory that it reaches over.

    program: the source program; plan: its OpenCL, in which complex numbers are pairs of floats; candidates: all that
    were looked at, best first
    (`candidate.best_first`); chosen: the one that runs; device: where it runs.
    """

    def __init__(
        self,
        program: Expr,
        chosen: Candidate,
        device: Device,
        candidates: Sequence[Candidate],
        options: Options = Options(),
        orders: Mapping[str, Lies] = {},
    ) -> None:
        self.program, self.device = program, device
        self.options, self._orders = options, {name: tuple(order) for name, order in orders.items()}
        self.candidates = [replace(c, derive=self._laws) for c in candidates]
        self.chosen = next(mine for mine, c in zip(self.candidates, candidates, strict=True) if c is chosen)
        self._inputs = inputs_of(program)
        self._lock = threading.RLock()
        #: by whether they take numbers by value, and whether arguments may overlap
        self._executables: dict[tuple[bool, bool], Executable] = {}
        self._caller: Caller | None = None
        self._explained: dict[Expr, Explanation | Derivation | InParts] = {}

    # ------------------------------------------------------------------------------------ what it is

    @property
    def _inner(self) -> Expr:
        """The program that its kernels compute: pairs of floats for complex numbers, inputs for large constants."""
        return inner(self.program)

    @property
    def _held(self) -> Mapping[str, Constant]:
        """The large constants, which are buffers on the device."""
        return held_constants(self.program)

    @property
    def _buffers(self) -> Mapping[str, Sequence[Operand]]:
        """Those of the large constants; uploaded when they are first asked for."""
        return uploaded(self.device, self._held)

    @property
    def source(self) -> str:
        """The OpenCL C of all its kernels, in order of execution."""
        return self.plan.source

    @property
    def kernels(self) -> tuple[LaunchedKernel, ...]:
        """Its launches in order, each with `name`, `source`, `global_size`, `local_size` and `arguments`.

        Code of one's own needs nothing else to run it: docs/opencl.md shows how.
        """
        return launches_of(self.plan, inputs_of(self._inner), type_of(self._inner), self._held)

    @property
    def plan(self) -> Plan:
        """Its kernels and buffers."""
        return self.chosen.plan

    @property
    def term(self) -> Expr:
        """The chosen low-level program."""
        return self.chosen.term

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, sorted as Python sorts: the order of positional arguments."""
        return tuple(self._inputs)

    def _laws(self, candidate: Candidate) -> tuple[str, ...]:
        return self._explanation(candidate).laws

    def _explanation(self, candidate: Candidate) -> Explanation | Derivation | InParts | Account:
        """Found once for each candidate: a search that may take seconds.  Schedules bring their account along."""
        if candidate.account is not None:
            return candidate.account
        if candidate.term not in self._explained:
            self._explained[candidate.term] = self._found_explanation(candidate)
        return self._explained[candidate.term]

    def _found_explanation(self, candidate: Candidate) -> Explanation | Derivation | InParts:
        """Its derivation; else a proof for its numbers; else, as some proofs are long, the laws that matched."""
        from egglift.egraph.explanation.derive import derive
        from egglift.egraph.explanation.prove import explain, explored
        from egglift.inparts import explained

        laws = self.options.laws
        if candidate.parts:
            return explained(candidate.parts, laws)
        program, term, form = self._inner, candidate.term, candidate.form
        if form is not None and (steps := time_steps(program)):
            program, term, form = steps.program, steps.of(term), steps.of(form)
        if form is not None:
            with suppress(RuleError):
                return derive(program, form, sizes=candidate.parameters, **laws.of_book)
        try:
            return explain(program, term, rules=laws.rules, reassociate=laws.reassociate)
        except RuleError:
            return explored(program, term, rules=laws.rules, reassociate=laws.reassociate)

    @property
    def derivation(self) -> Explanation | Derivation | InParts | Account:
        """How the chosen program follows from its source, law by law: a text by `str`, and marked in a notebook."""
        return self._explanation(self.chosen)

    def explain(self) -> str:
        """Why this candidate: what bounds it, how it follows from the source program, law by law; and which failed."""
        explanation = self.derivation
        laws = str(explanation) if explanation.laws else "It is the source program as it stands: no law was needed."
        found = self.chosen.form is not None or self.chosen.account is not None
        steps = steps_within(self._inner) if found and has_steps(self.chosen.term) else None
        each = f"Each of {steps.count} steps, from one state to the next.\n" if steps else ""
        held = [f"{n}, {c.type}, is a buffer of {len(c.data)} bytes on the device\n" for n, c in self._held.items()]
        failed = [c for c in self.candidates if c.status not in USUAL]
        others = [f"\nNot chosen, {c.status}: {c.structure}: {c.reason}" for c in failed]
        return f"{self.chosen.bound}\n{''.join(held)}{each}{laws}{''.join(others)}"

    def __repr__(self) -> str:
        names = ", ".join(f"{name}: {t}" for name, t in self._inputs.items())
        return f"Kernel({names} -> {type_of(self.program)} on {self.device.name}, {self.chosen.structure})"

    def taking(self, orders: Mapping[str, Lies]) -> Self:
        """The same for callers whose arrays have other orders of axes than it takes: see `orders`."""
        return self._like(self.program, self.chosen, self.candidates, orders)

    def use(self, i: int) -> Self:
        """The same program by candidate i of `candidates`; ArgumentError where there is none, or it cannot be used."""
        if not 0 <= i < len(self.candidates):
            raise ArgumentError(f"there is no candidate {i}: this kernel has {len(self.candidates)}, from 0 on")
        c = self.candidates[i]
        if c.status not in USUAL:
            raise ArgumentError(f"candidate {i} ({c.structure}) cannot be used: {c.status}: {c.reason}")
        return self._like(self.program, c, self.candidates, self._orders)

    def _like(
        self, program: Expr, chosen: Candidate, candidates: Sequence[Candidate], orders: Mapping[str, Lies]
    ) -> Self:
        return type(self)(program, chosen, self.device, candidates, self.options, orders)

    def with_constants(self, **numbers: float) -> Self:
        """The same kernel with inputs that are numbers as constants in its source: `kernel.with_constants(alpha=2.0)`.

        Nothing is searched again; calls, files and exported programs take the other inputs only.  ArgumentError where
        an input is none of the program's, or an array.
        """
        program, chosen = constant(self.program, self.chosen, numbers)
        return self._like(program, chosen, [chosen], self._orders)

    # ------------------------------------------------------------------------------------ keeping it

    def save(self, path: str | PathLike[str]) -> None:
        """Writes it to a file, as a whole or not at all; `el.load(path)` reads it.  RecordError where the disk is full.

        The file is text: the program, the chosen term with its launch sizes, and the version of egglift.  Where it is
        loaded, it is compiled again.
        """
        write_whole(Path(path), self._text())

    def export(self, folder: str | PathLike[str], language: str = "c99", name: str | None = None) -> None:
        """Writes it as a program that needs OpenCL and not egglift into a folder of its own, whole or not at all.

        language: "c99": a header, a source with the OpenCL in it, an example and CMakeLists.txt; "cpp": a class
        beside these; "python": a file that needs numpy and pyopencl.  name: what its files and functions begin with
        (default: the folder's name).  docs/c.md shows how it is called.  Arrays have the lengths that they have here;
        run-time lengths are parameters of its functions, and their kernels, some tens, are traced now.
        ArgumentError where the name is none in C, or the folder holds other files; RecordError where the disk is full.
        """
        path = Path(folder)
        options = FAST_MATH if self.options.fast_math else ()
        types = inputs_of(self._inner), type_of(self._inner)
        called, lengths = name or path.absolute().name, lengths_of(self._inner)
        program = host_program(called, self._exported(), *types, options, self._held, lengths)
        write_folder(path, texts(program, language))

    def _exported(self) -> Plan | Sequence[LengthPlan]:
        """What an exported program runs: over lengths, the plans that it chooses from."""
        return self.plan

    def report(self, path: str | PathLike[str]) -> None:
        """Writes a page about it: one file of HTML, which opens in any browser and loads nothing else.

        The program as a picture, the derivation, all candidates, the space of sizes, memory and roofline, the OpenCL
        with its laws, and the classes of the e-graph (docs/report.md).  RecordError where the disk is full.
        """
        from egglift.kernel_page import KernelPage

        page = KernelPage(self._inner, self.chosen, self.candidates, self.device, self.options, self.derivation)
        write_whole(Path(path), page.text())

    def _repr_html_(self) -> str:
        from egglift.kernel_page import in_notebook

        return in_notebook(repr(self), self.chosen.bound, self.chosen.measured, self.program, self.source)

    def _text(self) -> str:
        return text_of(Saved(self.program, self.chosen, self.options, self._orders), self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as `save` writes it: another process opens its own device, the one that `optimize` would take."""
        return _restored, (type(self), self._text(), "the pickle")

    def __copy__(self) -> Kernel:
        """Itself, as it does not change."""
        return self

    def __deepcopy__(self, memo: object) -> Kernel:
        """Itself: what is on a device is not copied."""
        return self

    @classmethod
    def restored(cls, saved: Saved, device: Device, where: str) -> Self:
        """What was saved as a kernel again, compiled; DeviceError where this device cannot run it."""
        kernel = cls(saved.program, saved.chosen, device, [saved.chosen], saved.options)
        kernel._orders = {name: tuple(order) for name, order in saved.orders.items()}
        try:
            _ = kernel.executable
        except (BuildError, CodegenError) as error:
            why = f"{where} holds a kernel that {device.name} cannot run: {error}; optimise the program for this device"
            raise DeviceError(why) from error
        return kernel

    # ------------------------------------------------------------------------------------ running it

    def __call__(
        self,
        /,
        *args: Any,
        queue: Any = None,
        wait_for: Sequence[Any] | None = None,
        allocator: Any = None,
        out: Any = None,
        **named: Any,
    ) -> Any:
        """The program's value on these inputs; ArgumentError where they do not fit.

        queue: a pyopencl CommandQueue of this device, where it runs; wait_for: events that it waits for, besides
        those of its arrays; allocator: makes the memory of results on the device, from a number of bytes.

        out: the array that the result is written into, and that is returned: NumPy's, or pyopencl's (then nothing is
        waited for), of the result's dtype and shape, C-contiguous and writable; a tuple of arrays where the results are
        one.  It may be an input too, or share memory with one: the inputs are read as they were before the call.  Where
        each element of an input is read only for the result's element in its place, an input is written in place;
        else the result is computed into memory of its own, and copied; so it is where pyopencl's array begins within a
        buffer.

        These words always mean the call's own: an input of such a name is given by position.
        """
        caller = self._caller or self._prepared()
        if named or len(args) != caller.count:
            args = caller.in_order(self._bind(args, named))
        if self._orders:
            args = self._as_they_lie(args)
        return caller.fitting(args)(args, queue, wait_for or (), allocator, out)

    def bind(self, /, *args: Any, queue: Any = None, out: Any = None, **named: Any) -> BoundCall:
        """The call with these arguments, checked once and made ready to be repeated: `launch = kernel.bind(x, out=z)`.

        `launch()` computes with what the arrays hold at that time, and returns `out`; without `out`, arrays that are
        made now and overwritten by each launch.  Over arrays on the device a launch enqueues the kernels, whose
        arguments are set already, and nothing else; numbers and NumPy arrays beside them are copied to the device
        now, once.  Where all are NumPy arrays, a launch is a call without its checks.  queue, out: as in a call.
        """
        caller = self._caller or self._prepared()
        return BoundCall(caller, self._as_they_lie(caller.in_order(self._bind(args, named))), queue, out)

    def _prepared(self) -> Caller:
        if self.plan.numbers:
            executable, free = self._built(by_value=True), lambda: self._built(True, free=True)
            self._caller = Caller(executable, self._inputs, type_of(self.program), self._caller_by_address, free)
        else:
            self._caller = self._caller_by_address()
        return self._caller

    def _caller_by_address(self) -> Caller:
        return Caller(self.executable, self._inputs, type_of(self.program), None, lambda: self._built(free=True))

    def profile(self, /, *args: Any, **named: Any) -> Profiled:
        """Times the kernels on these inputs; without any, on those that `optimize` had as sample=, or random ones."""
        if args or named:
            values = self._bind(args, named)
            values = dict(zip(values, self._as_they_lie(tuple(values.values()), values), strict=True))
            given = operands(self.device, self._inputs, values)
        else:
            program = paired(self.program)
            sample = sample_inputs(program) | self.options.sample.values(program)
            given = operands(self.device, inputs_of(program), sample)
        chain = chain_for(self.device, _on_device(given), self.device.timer)
        inputs = placed(self.device, given, chain)
        timing = self.executable.time(inputs, chain=chain, least=10, precision=0.005)
        used = [*(b for group in self.plan.inputs.values() for b in group), *self.plan.outputs]
        return Profiled(timing, sum(b.size * b.scalar.size for b in used))

    def _as_they_lie(self, values: Sequence[Any], names: Iterable[str] | None = None) -> tuple[Any, ...]:
        """Arrays with their axes in the order that the kernels take: views, of what is written so in memory."""
        return tuple(
            as_it_lies(name, self._inputs[name], v, self._orders[name]) if name in self._orders else v
            for name, v in zip(names or self.inputs, values, strict=True)
        )

    @property
    def executable(self) -> Executable:
        """The compiled plan; compiled on first use.  ForkError in a process that was forked after OpenCL was used."""
        return self._built()

    def _built(self, by_value: bool = False, free: bool = False) -> Executable:
        opencl()
        with self._lock:
            if (by_value, free) not in self._executables:
                flags = FAST_MATH if self.options.fast_math else ()
                plan = without_promises(self.plan) if free else self.plan
                try:
                    self._executables[by_value, free] = build(self.device, plan, flags, by_value, self._buffers)
                except BuildError as error:
                    raise named(error) from error
            return self._executables[by_value, free]

    def _bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by input name."""
        names = self.inputs
        if len(args) > len(names):
            takes = f"({', '.join(names)})"
            raise ArgumentError(f"{len(args)} arguments given, but the program takes {len(names)}: {takes}")
        given = dict(zip(names, args, strict=False))
        twice = [name for name in named if name in given]
        if twice:
            raise ArgumentError(f"given by position and by name: {', '.join(twice)}")
        return given | dict(named)


def _restored(cls: type[Kernel], text: str, where: str) -> Kernel | LostKernel:
    try:
        device = open_device(None)
    except (DeviceError, ForkError) as error:
        return LostKernel(error)
    return cls.restored(read(text, device, where), device, where)


def _on_device(given: Mapping[str, Sequence[Any]]) -> list[Any]:
    """The pyopencl arrays and buffers among `operands`."""
    return [leaf for leaves in given.values() for leaf in leaves if is_on_device(leaf)]


def kernel_of(program: Expr, device: Device, candidates: Sequence[Candidate], options: Options) -> Kernel:
    """The first of `candidates`, which come best first, as a callable; EggliftError where none of them runs."""
    return Kernel(program, runs(candidates, device), device, candidates, options)


def runs(candidates: Sequence[Candidate], device: Device) -> Candidate:
    """The first of `candidates`, which come best first; EggliftError where none of them runs."""
    if candidates[0].seconds == float("inf"):
        reasons = "; ".join(f"{c.structure}: {c.reason}" for c in candidates[:3])
        raise EggliftError(f"no candidate for this program runs on {device.name}: {reasons}")
    return candidates[0]
