"""From a program to the steps that several devices take: laws, the cheapest form, and how it is read."""

from __future__ import annotations

from collections.abc import Collection

from egglift.egraph.distribution.extraction import Forms
from egglift.egraph.distribution.steps import Steps, read_steps
from egglift.egraph.rules.phases import DISTRIBUTE
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.patterns import Expr


def distributed(
    program: Expr,
    devices: int,
    *,
    divided: Collection[str] = (),
    reassociate: bool = True,
) -> Steps:
    """The steps that so many devices take to compute `program`; none where no law gives each a part of it.

    divided: inputs that no device may have as a whole.  reassociate: may the order of floating-point operations change?
    """
    found = saturate(program, phases=DISTRIBUTE, reassociate=reassociate)
    return read_steps(Forms(found.graph, devices, divided).best(), found.graph.symbols)
