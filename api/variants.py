"""The kernels of a program over run-time lengths: traced, each for the lengths that take one way through compilation.

A *variant* is the plan of one low-level program, traced at some lengths (ir/lengths.py): right for all lengths that
meet its conditions.  Where a call's lengths meet those of none, the same steps are traced anew at these lengths.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isqrt

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import Device
from egglift.codegen.device.execute import Executable, Scratch, build
from egglift.codegen.kernel.at_lengths import at_lengths as plan_at
from egglift.codegen.kernel.imperative import Launch, Plan
from egglift.codegen.opencl.names import Names, identifier
from egglift.egraph.schedules.steps import Steps
from egglift.ir.check import type_of
from egglift.ir.deep import deeply
from egglift.ir.errors import EggliftError
from egglift.ir.length_forms import Lengths, RunTimeLength
from egglift.ir.lengths import Tracing
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import at_lengths, lengths_of, traced
from egglift.ir.signature import inputs_of

#: lengths below this are no general ones: tiles may be longer
LARGE = 64


@dataclass(frozen=True)
class Way:
    """How a program over lengths is executed, whatever they are: by steps; None: as it stands."""

    steps: Steps | None
    launch: Launch
    kind: str
    reassociate: bool


@dataclass(frozen=True)
class Variant:
    """A low-level program and its plan, over lengths, right where the conditions of `tracing` hold; built: compiled."""

    tracing: Tracing
    term: Expr
    plan: Plan
    built: Executable | None = None

    def executable(self, values: Lengths) -> Executable:
        """What runs for these lengths."""
        assert self.built is not None
        plan = plan_at(self.plan, values)
        return Executable(self.built.device, plan, self.built.kernels, Scratch(plan.temporaries))


def variant_at(program: Expr, way: Way, values: Lengths, device: Device, strict: bool = False) -> Variant:
    """The program traced at these lengths; as it stands where its steps make nothing of it (`strict`: CodegenError)."""
    from egglift.egraph.schedules.again import made_again  # loads egglog, as the search does

    tracing = _tracing(program, values)
    whole = traced(program, tracing)
    if (steps := way.steps) is not None:
        try:
            term = deeply(lambda: made_again(whole, steps, way.kind, way.reassociate))
            return Variant(tracing, term, compile_term(term, way.launch, device.limits, tracing))
        except (EggliftError, ZeroDivisionError):  # rows of no elements, say, are not cut
            if strict:
                raise
            # what was asked until then is recorded: where it is so again, steps make nothing again
    return Variant(tracing, whole, compile_term(whole, Launch(), device.limits, tracing))


def as_it_stands(program: Expr, values: Lengths, device: Device, launch: Launch) -> Variant:
    """The program traced at these lengths, by no steps, with groups of that size."""
    tracing = _tracing(program, values)
    whole = traced(program, tracing)
    return Variant(tracing, whole, compile_term(whole, launch, device.limits, tracing))


def _tracing(program: Expr, values: Lengths) -> Tracing:
    inputs = frozenset(map(identifier, inputs_of(program)))
    names, lengths = Names(tuple(inputs)), sorted(values, key=lambda n: n.name)
    return Tracing(dict(values), {n.name: names.own(n.name) for n in lengths}, inputs)


def general(lengths: Sequence[RunTimeLength]) -> dict[RunTimeLength, int]:
    """Lengths near those that kernels are chosen for, different ones, that share no divisor with any tile.

    Five sixths: the blocks of a power of two are a power of two as well, and those of most lengths are none.
    """
    found: dict[RunTimeLength, int] = {}
    for n in lengths:
        liked = n.liked // n.multiple * 5 // 6
        primes = (q for q in range(liked, LARGE, -1) if _is_prime(q))
        near = (q * n.multiple for q in primes if n.has(q * n.multiple) and q * n.multiple not in found.values())
        found[n] = next(near, n.liked)
    return found


def _is_prime(q: int) -> bool:
    return q > 1 and all(q % d for d in range(2, isqrt(q) + 1))


@dataclass
class Variants:
    """The variants of a program by one way, as far as they were asked for; they are built when they are first run."""

    program: Expr
    way: Way
    device: Device
    flags: tuple[str, ...] = ()
    known: list[Variant] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __iter__(self) -> Iterator[Variant]:
        return iter(list(self.known))

    def at(self, values: Lengths) -> Variant:
        """The variant for these lengths, built.  BuildError, CodegenError."""
        with self._lock:
            place = next((i for i, v in enumerate(self.known) if v.tracing.hold(values)), None)
            if place is None:
                type_of(self.plain(values))  # where these lengths have no meaning, the message says so in numbers
                self.known.append(variant_at(self.program, self.way, values, self.device))
                place = len(self.known) - 1
            variant = self.known[place]
            if variant.built is None:
                built = build(self.device, plan_at(variant.plan, values), self.flags)
                self.known[place] = variant = Variant(variant.tracing, variant.term, variant.plan, built)
            return variant

    def general(self) -> Variant:
        """The variant for most lengths, not built."""
        with self._lock:
            if not self.known:
                self.known.append(variant_at(self.program, self.way, general(lengths_of(self.program)), self.device))
            return self.known[0]

    def plain(self, values: Lengths) -> Expr:
        """The program with these lengths as numbers."""
        return at_lengths(self.program, values)
