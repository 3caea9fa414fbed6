"""The physical floor of a program on a device: what no kernel can undercut, by the rates that were measured.

The larger of two times: that of moving every input and every output once, at the bandwidth of the smallest cache that
holds them all between calls, else of memory (a copy's); and that of the arithmetic, at the rate of multiply-adds, each
of which is two operations.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.carried import traffic
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import F32, Scalar, leaves


@dataclass(frozen=True)
class Floor:
    """Seconds, and what takes them: "memory", "cache" or "operations"."""

    seconds: float
    bound: str


def floor(program: Expr, profile: Profile, operations: int | None) -> Floor:
    """The floor of a program of so much arithmetic; None: what it moves is what takes the time."""
    moved = traffic(program)
    holding = next((c for c in profile.caches if moved <= c.bytes), None)
    found = Floor(moved / holding.bandwidth, "cache") if holding else Floor(moved / profile.bandwidth, "memory")
    if operations:
        arithmetic = Floor(operations / rate(profile, scalar(program)), "operations")
        found = max(found, arithmetic, key=lambda f: f.seconds)
    return found


def rate(profile: Profile, of: Scalar = F32) -> float:
    """Operations of that type per second, where each instruction is a multiply-add in every lane of a register."""
    lanes = 1 if profile.kind == "gpu" else max(1, profile.simd_bytes // of.size)
    return 2 * profile.issue_rate * lanes / profile.type_costs.get(of.name, 1.0)


def scalar(program: Expr) -> Scalar:
    """The type that a program computes in: the narrowest floating-point type of its inputs, f32 where there is none."""
    found = [s for t in inputs_of(program).values() for _, s in leaves(t) if s.is_float]
    return min(found, key=lambda s: s.size, default=F32)
