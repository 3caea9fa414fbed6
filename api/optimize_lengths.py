"""Optimising programs over run-time lengths: schedules are chosen at the lengths that the program likes, then traced.

The search sees plain numbers.  What is built, checked and timed are the kernels over lengths, at lengths that share no
divisor with any tile: what serves most calls.
"""

from __future__ import annotations

from dataclasses import replace

from egglift.candidate import Candidate, best_first
from egglift.codegen.device.device import Device
from egglift.codegen.kernel.at_lengths import at_lengths as plan_at
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.called_lengths import CalledLengths
from egglift.ir.errors import ArgumentError, EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import at_lengths, lengths_of, liked
from egglift.options import Options
from egglift.variants import Way, general, variant_at


def candidates_for_lengths(program: Expr, device: Device, profile: Profile, options: Options) -> list[Candidate]:
    """What schedules give for a program over lengths, and the program as it stands, by rising estimate.

    Their plans are those over lengths, at general ones.  CodegenError where the program has no kernels at all.
    """
    from egglift.search import by_schedules, naive  # loads egglog

    CalledLengths(program)  # is every length said by an input?
    if options.laws.rules:
        raise ArgumentError(
            "rules= are for programs whose lengths are numbers; specialise the kernel, or leave them out"
        )
    plain = liked(program)
    found = [c for c in by_schedules(plain, profile, device.limits, options.laws, patterns=False) if c.steps]
    found += naive(plain, profile, device.limits, optional=bool(found))
    return best_first(c for c in (_traced(program, c, device, options) for c in found) if c is not None)


def general_program(program: Expr) -> Expr:
    """The program at the lengths at which candidates are checked and timed."""
    return at_lengths(program, general(lengths_of(program)))


def _traced(program: Expr, c: Candidate, device: Device, options: Options) -> Candidate | None:
    """A candidate whose plan is that over lengths; None where it has none."""
    values = general(lengths_of(program))
    way = Way(c.steps, c.launch, device.kind, options.laws.reassociate)
    try:
        variant = variant_at(program, way, values, device, strict=True)
    except EggliftError:
        return None
    found = replace(c)
    found.__dict__["plan"] = plan_at(variant.plan, values)
    return found
