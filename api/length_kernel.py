"""`LengthKernel`: the kernel of a program over run-time lengths, which a call's shapes say."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log2
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from egglift.candidate import Candidate
from egglift.codegen.device.arguments import Lies
from egglift.codegen.device.bound_call import BoundCall
from egglift.codegen.device.calls import Caller
from egglift.codegen.device.device import FAST_MATH, Device
from egglift.codegen.device.execute import Executable
from egglift.codegen.export.host_plan import LengthPlan
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.records.whole_file import write_whole
from egglift.exported_lengths import length_plans
from egglift.ir.arguments import require_names
from egglift.ir.called_lengths import CalledLengths
from egglift.ir.check import type_of
from egglift.ir.errors import ArgumentError
from egglift.ir.inner_program import inner
from egglift.ir.length_forms import Lengths, RunTimeLength
from egglift.ir.lengths_liked import with_like
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import at_lengths, lengths_of, said
from egglift.kernel import Kernel, Profiled
from egglift.launches import LaunchedKernel
from egglift.options import Options
from egglift.saved import Saved, text_of
from egglift.variants import Variant, Variants, Way, general

if TYPE_CHECKING:
    from egglift.egraph.explanation.derivation import Derivation
    from egglift.egraph.explanation.prove import Explanation
    from egglift.inparts import InParts

#: lengths for which what a call needs besides compiled kernels is kept
KEPT = 16


class LengthKernel(Kernel):
    """An optimised program whose lengths a call says: called, bound and saved like any `Kernel`.

    `source`, `plan` and `term` are those for most lengths, over their names.  `at(n=1000)` is the kernel for one
    length, by the same compiled OpenCL; `specialise(n=1000)` is optimised for that length.  A call whose arguments
    disagree about a length, or leave its range, is an ArgumentError.
    """

    #: `optimize` for a plain program; set where that is defined
    optimised: ClassVar[Callable[[Expr, Device, Options], Kernel]]

    def __init__(
        self,
        program: Expr,
        chosen: Candidate,
        device: Device,
        candidates: Sequence[Candidate],
        options: Options = Options(),
        orders: Mapping[str, Lies] = {},
        others: Sequence[LengthKernel] = (),
    ) -> None:
        super().__init__(program, chosen, device, candidates, options, orders)
        self.others: tuple[LengthKernel, ...] = tuple(others)
        self._called = CalledLengths(program)
        self.lengths = {n.name: n for n in lengths_of(program)}
        self._way = device.kind, options.laws.reassociate
        way = Way(chosen.steps, chosen.launch, *self._way)
        self.variants = Variants(inner(program), way, device, FAST_MATH if options.fast_math else ())
        self._kernels: OrderedDict[tuple[int, ...], Kernel] = OrderedDict()
        self._kept = threading.Lock()

    # ------------------------------------------------------------------------------------ what it is

    @property
    def plan(self) -> Plan:
        """Its kernels and buffers for most lengths; their sizes are expressions over lengths."""
        return self.variants.general().plan

    @property
    def term(self) -> Expr:
        """The chosen low-level program for most lengths."""
        return self.variants.general().term

    @property
    def kernels(self) -> tuple[LaunchedKernel, ...]:
        """Refused: sizes of launches and arrays depend on lengths; `kernel.at(n=1000).kernels` are those for one."""
        given = ", ".join(f"{name}={n.liked}" for name, n in self.lengths.items())
        raise ArgumentError(f"launches depend on {', '.join(self.lengths)}: take kernel.at({given}).kernels")

    def report(self, path: str | PathLike[str]) -> None:
        """Writes its page for the lengths that it was chosen for: see `Kernel.report`."""
        from egglift.egraph.schedules.again import made_again
        from egglift.kernel_page import KernelPage

        program, steps = self.variants.plain({n: n.liked for n in self.lengths.values()}), self.chosen.steps
        term = program if steps is None else made_again(program, steps, *self._way)
        chosen = replace(self.chosen, term=term)
        candidates = [chosen if c is self.chosen else c for c in self.candidates]
        page = KernelPage(program, chosen, candidates, self.device, self.options, self.derivation)
        write_whole(Path(path), page.text())

    def _exported(self) -> Sequence[LengthPlan]:
        """The plans for lengths near those that this kernel and its `others` were chosen for, and for all others."""
        return length_plans([self.variants, *(other.variants for other in self.others)])

    def _text(self) -> str:
        others = tuple(other.chosen for other in self.others)
        return text_of(Saved(self.program, self.chosen, self.options, self._orders, others), self.device)

    @classmethod
    def restored(cls, saved: Saved, device: Device, where: str) -> Self:
        """See `Kernel.restored`; with those for the other lengths that the program likes."""
        kernel = super().restored(saved, device, where)
        programs = [with_like(saved.program, i) for i in range(1, 1 + len(saved.others))]
        parts = [replace(saved, program=e, chosen=c, others=()) for e, c in zip(programs, saved.others, strict=True)]
        kernel.others = tuple(super(LengthKernel, cls).restored(part, device, where) for part in parts)
        return kernel

    def _found_explanation(self, candidate: Candidate) -> Explanation | Derivation | InParts:
        return self.liked._found_explanation(candidate)

    def __repr__(self) -> str:
        lengths = "; ".join(map(said, self.lengths.values()))
        return f"{super().__repr__()[:-1]}, {lengths})"

    @property
    def executable(self) -> Executable:
        """What most lengths run, at some of these; compiled on first use."""
        return self._at(general(list(self.lengths.values()))).executable

    # ------------------------------------------------------------------------------------ one length

    def at(self, **lengths: int) -> Kernel:
        """The kernel for these lengths, by the same OpenCL: its launches, buffers, profile and calls."""
        return self._at(self._numbers(lengths))

    @property
    def liked(self) -> Kernel:
        """The kernel for the lengths that it was chosen for."""
        return self._at({n: n.liked for n in self.lengths.values()})

    def specialise(self, **lengths: int) -> Kernel:
        """A kernel optimised for these lengths alone, as `optimize` makes it of the program with these numbers."""
        values = self._numbers(lengths)
        return LengthKernel.optimised(at_lengths(self.program, values), self.device, self.options)

    def with_constants(self, **numbers: float) -> Self:
        """Refused: a schedule for all lengths is for the inputs that it has."""
        given = ", ".join(f"{name}={n.liked}" for name, n in self.lengths.items())
        raise ArgumentError(
            f"lengths are open ({', '.join(self.lengths)}): write the numbers in the program, "
            f"or take kernel.specialise({given}).with_constants({', '.join(f'{k}={v}' for k, v in numbers.items())})"
        )

    def _numbers(self, given: Mapping[str, int]) -> dict[RunTimeLength, int]:
        if given.keys() != self.lengths.keys():
            raise ArgumentError(
                f"give each length a number: {', '.join(self.lengths)}; got {', '.join(given) or 'none'}"
            )
        for name, n in self.lengths.items():
            if not n.has(given[name]):
                raise ArgumentError(f"{name} is {given[name]}; it may be {said(n)}")
        return {n: given[name] for name, n in self.lengths.items()}

    def _at(self, values: Lengths) -> Kernel:
        choice = self._nearest(values)
        if choice:
            other = self.others[choice - 1]
            return other._at({other.lengths[n.name]: number for n, number in values.items()})
        key = tuple(values[n] for n in self.lengths.values())
        with self._kept:
            if key in self._kernels:
                self._kernels.move_to_end(key)
                return self._kernels[key]
        made = self._made(self.variants.at(values), values)
        with self._kept:
            self._kernels[key] = made
            while len(self._kernels) > KEPT:
                self._kernels.popitem(last=False)
        return made

    def _nearest(self, values: Lengths) -> int:
        """Which of the lengths that kernels were chosen for are nearest to these, as factors: 0 for the first."""

        def far(choice: int) -> float:
            likes = ((n.likes[choice] if len(n.likes) > 1 else n.liked, number) for n, number in values.items())
            return sum(abs(log2(max(number, 1) / max(like, 1))) for like, number in likes)

        return min(range(1 + len(self.others)), key=far)

    def _made(self, variant: Variant, values: Lengths) -> Kernel:
        executable = replace(variant.executable(values), held=self._buffers)
        chosen = replace(self.chosen, term=self.variants.plain(values))
        kernel = Kernel(at_lengths(self.program, values), chosen, self.device, [chosen], self.options)
        kernel.chosen.__dict__["plan"] = executable.plan
        kernel._executables[False, False] = executable
        # not by value, nor with kernels that write inputs: another program would be compiled for each length
        kernel._caller = Caller(executable, kernel._inputs, type_of(kernel.program))
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
        """The program's value on these inputs, whose shapes say the lengths; for the rest see `Kernel.__call__`."""
        given, kernel = self._for(args, named)
        return kernel(*given, queue=queue, wait_for=wait_for, allocator=allocator, out=out)

    def bind(self, /, *args: Any, queue: Any = None, out: Any = None, **named: Any) -> BoundCall:
        """The call with these arguments, and so with their lengths, made ready to be repeated: see `Kernel.bind`."""
        given, kernel = self._for(args, named)
        return kernel.bind(*given, queue=queue, out=out)

    def profile(self, /, *args: Any, **named: Any) -> Profiled:
        """Times the kernels on these inputs, or on a random sample of the lengths that they are chosen for."""
        if not args and not named:
            return self.liked.profile()
        given, kernel = self._for(args, named)
        return kernel.profile(*given)

    def _for(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], Kernel]:
        """The arguments in order, and the kernel for their lengths."""
        given = self._bind(args, named)
        if given.keys() != self._inputs.keys():
            require_names(self._inputs, given)
        return [given[name] for name in self._inputs], self._at(self._called.of(given))
