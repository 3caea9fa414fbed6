"""Timing probes on a device."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.device.device import Device, Operand
from egglift.codegen.device.execute import Executable, build
from egglift.codegen.kernel.imperative import Plan
from egglift.costmodel.profiles.profile import Profile
from egglift.ir.types import SCALARS

EACH = 0.08  # seconds for the samples of one number


@dataclass(frozen=True)
class Rig:
    """A device that is being measured, and what is known of it so far."""

    device: Device
    profile: Profile

    @property
    def gpu(self) -> bool:
        """Is it a GPU?"""
        return self.profile.kind == "gpu"

    @property
    def units(self) -> int:
        """Its compute units."""
        return self.profile.compute_units

    @property
    def groups(self) -> int:
        """Work-groups that keep all units busy."""
        return self.units * (8 if self.gpu else 1)

    @property
    def items(self) -> int:
        """The work-items of so many groups, of 256 on a GPU, of one on a CPU."""
        return self.groups * (256 if self.gpu else 1)

    @property
    def parts(self) -> int:
        """Parts of a large buffer that are read in turn: a CPU's threads are seldom left alone for long."""
        return 1 if self.gpu else max(1, 32 >> (self.units - 1).bit_length())

    def filled(self, n: int) -> Operand:
        """A new buffer of n f32 that has been written: an untouched one may all be one page of zeros."""
        buffer = self.device.allocate(4 * n)
        self.device.poison(Chain(self.device.queue), buffer, SCALARS["f32"], n)
        return buffer

    def build(self, plan: Plan) -> Executable:
        """A probe, compiled."""
        return build(self.device, plan)

    def seconds(self, probe: Plan | Executable, budget: float = EACH, **inputs: Any) -> float:
        """The shortest time of a probe by the device's clock, less that of an empty kernel: others only slow it down.

        inputs: numbers (lists, as i32), arrays or device buffers.
        """
        executable = probe if isinstance(probe, Executable) else self.build(probe)
        # two samples that agree may both have been disturbed: only a GPU is left alone
        precision = 0.01 if self.gpu else 0.0
        timing = executable.time(_given(inputs), warmup=1, least=4, most=60, budget=budget, precision=precision)
        return max(min(timing.samples) - self.profile.launch, 1e-9)

    def seconds_in_turn(
        self, probe: Plan | Executable, turns: Sequence[list[int]], budget: float = EACH, **inputs: Any
    ) -> float:
        """The same where each sample takes the next `numbers` of `turns`: it reads what was not just read.

        The median of the turns' shortest times.
        """
        executable = probe if isinstance(probe, Executable) else self.build(probe)
        if len(turns) == 1:
            return self.seconds(executable, budget, numbers=turns[0], **inputs)
        given = [_given({**inputs, "numbers": numbers}) for numbers in turns]
        rounds, start = list[list[float]](), time.perf_counter()
        while len(rounds) < 3 or time.perf_counter() - start < budget:
            rounds.append([executable.time(g, warmup=0, least=1, most=1).seconds for g in given])
        return max(float(np.median(np.min(rounds, axis=0))) - self.profile.launch, 1e-9)


def _given(inputs: dict[str, Any]) -> dict[str, list[Any]]:
    """The inputs as an Executable takes them."""
    return {k: [np.array(v, np.int32) if isinstance(v, list) else v] for k, v in inputs.items()}
