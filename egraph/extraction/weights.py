"""The rough prices that guide extraction, derived from a device's profile.

Extraction must only keep good structures among the first few; numbers are settled afterwards by the analytic
model on the generated kernel.  The unit is one scalar operation of one work-item while the device is full.
"""

from __future__ import annotations

from dataclasses import dataclass

from egglift.costmodel.profiles.profile import Profile


@dataclass(frozen=True)
class Weights:
    """Prices of accesses to one scalar, overheads, and the widths of the levels."""

    global_: float  # one scalar of global memory, used once
    global_lane: float  # the same for one lane of a vector (before the discount for vector operations)
    local: float
    private: float
    op: float
    loop: float  # overhead of one iteration
    barrier: float
    launch: float
    apart: float  # factor on accesses by neighbours to elements that do not lie together
    warp: int  # work-items that access memory at the same time
    vector_ops: float  # price of an operation on one lane of a vector, relative to a scalar one
    items: int  # work-items that fill the device
    groups: int  # work-groups that fill the device
    group: int  # work-items of a group
    local_bytes: int  # of a work-group
    width: int  # lanes worth having, for 4-byte values
    kept: int  # scalars that a work-item can keep to itself


def weights(p: Profile) -> Weights:
    """Weights of a device like `p`."""
    if p.kind == "cpu":
        lanes = max(1, p.simd_bytes // 4)
        op = p.compute_units / p.issue_rate
        stream = 4 * p.compute_units / p.bandwidth / op
        return Weights(
            global_=1 + stream,
            global_lane=1 + lanes * stream,
            local=0.6,
            private=0.1,
            op=1.0,
            loop=0.7,
            barrier=60.0,
            launch=p.launch / op,
            apart=4.0,
            warp=1,
            vector_ops=1 / lanes,
            items=p.compute_units,
            groups=p.compute_units,
            group=1,
            local_bytes=p.local_bytes,
            width=4 * lanes,
            kept=1 << 13,
        )
    items = p.compute_units * p.items_per_unit
    op = items / p.issue_rate
    stream = 4 * items / p.bandwidth / op
    return Weights(
        global_=stream,
        global_lane=0.6 * stream,
        local=4 * items / p.local_bandwidth / op + 0.5,
        private=0.05,
        op=1.0,
        loop=0.5,
        barrier=6.0,
        launch=p.launch / op,
        apart=5.0,
        warp=p.warp,
        vector_ops=0.9,
        items=items,
        groups=p.compute_units * 8,
        group=256,
        local_bytes=p.local_bytes,
        width=4,
        kept=256,
    )
