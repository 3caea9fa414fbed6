"""The kernels of a chain of small stages, for groups of several sizes."""

from __future__ import annotations

from contextlib import suppress

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.batches import Batch, in_one_kernel
from egglift.egraph.schedules.choice import Choice
from egglift.egraph.stages.stage_text import text_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import EggliftError

GROUPS = {"gpu": (64, 128, 256), "cpu": (16, 64)}  # work-items of a group


def batch_choices(batch: Batch, profile: Profile, limits: DeviceLimits) -> list[Choice]:
    """The two cheapest, the cheapest first."""
    found = []
    account = Account("\n".join([*map(text_of, batch.stages), f"  {batch}"]), ())
    for size in GROUPS[profile.kind]:
        require_time()
        with suppress(EggliftError):
            term, launch = in_one_kernel(batch), Launch(size)
            price = estimate(compile_term(term, launch, limits), profile)
            found.append(Choice(f"batch {len(batch.stages)}", term, (), launch, price, account))
    return sorted(found, key=lambda c: c.seconds)[:2]
