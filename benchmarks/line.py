"""One line of the suite's results."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.published import Published


@dataclass(frozen=True)
class Line:
    """One program: seconds of the chosen kernel, of its physical floor (and what bounds it), and of the peers.

    search: seconds until the candidates were there, where they were searched for here; candidates: of each its
    structure, the estimate and the measured seconds.  lift: what Lift reports.  result: "equal" to NumPy's, or how not
    (and no seconds, where no kernel ran).
    """

    program: str
    size: str
    seconds: float | None
    floor: float
    bound: str
    structure: str
    search: float | None = None
    peers: dict[str, float] = field(default_factory=dict)
    lift: Published | None = None
    candidates: tuple[tuple[str, float, float | None], ...] = ()
    result: str = "equal"
