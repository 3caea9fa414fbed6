"""What a caller allows to be spent on measuring."""

from __future__ import annotations

from dataclasses import dataclass, field

from egglift.ir.errors import ArgumentError
from egglift.ir.plain_numbers import plain

#: candidates that are measured, unless another number is asked for
SAMPLE = 8
#: seconds that a candidate's build, check and timing may take together
DEADLINE = 60.0
#: seconds for measuring the candidates of one program where no budget is given, and one of them is right by then
USUAL = 8.0


@dataclass(frozen=True)
class Measuring:
    """How the candidates of one program are measured.

    measurements: how many are built, checked and timed; more only where none of those can be chosen.
    budget: seconds for all of them; None: USUAL in a race (measure.race), else as long as they take.
    isolate: in a process of its own, where a candidate that crashes the process, or takes more than `deadline`
    seconds, is recorded as such.  These two change no result: what differs in them alone is equal.

    ArgumentError names a number that makes no sense.
    """

    measurements: int = SAMPLE
    budget: float | None = None
    isolate: bool = field(default=True, compare=False)
    deadline: float = field(default=DEADLINE, compare=False)

    def __post_init__(self) -> None:
        for name in ("measurements", "deadline", "budget"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) or (value is None and name == "budget")):
                raise ArgumentError(f"{name} is a number, and not {value!r}")
        if self.measurements < 1:
            raise ArgumentError(f"measurements is 1 or more, not {self.measurements}")
        if self.deadline <= 0:
            raise ArgumentError(f"deadline is a positive number of seconds, not {plain(self.deadline)}")
        if self.budget is not None and not self.budget >= 0:
            raise ArgumentError(f"budget is a number of seconds, 0 or more, not {self.budget!r}")
