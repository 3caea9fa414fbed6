"""When saturation stops."""

from __future__ import annotations

from dataclasses import dataclass, replace

#: seconds beyond its limit in which an iteration must be done where laws of the user's run
GRACE = 5.0


@dataclass(frozen=True)
class Limits:
    """When to stop: `rows` that laws have added to the e-graph, `seconds` on the clock.

    Checked between iterations, so that the last one may overshoot.  The first phases have a share of both,
    and the last makes one step in any case: what was found is always lowered.  Where laws of the user's run, an
    iteration that takes `grace` seconds more, or more than `memory` bytes, is ended by force.
    """

    rows: int = 25_000
    seconds: float = 20.0
    memory: int = 2 << 30
    grace: float = GRACE

    def within(self, seconds: float) -> Limits:
        """The same, but all done in so many seconds: half of them for what is ended by force, and made again."""
        return replace(self, seconds=min(self.seconds, seconds / 2), grace=min(self.grace, seconds / 4))
