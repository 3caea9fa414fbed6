"""What `optimize` is asked for, checked once and handed on as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypedDict

from egglift.costmodel.measurement.measuring import Measuring
from egglift.costmodel.measurement.own_sample import Sample
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.rules.limits import Limits
from egglift.ir.errors import ArgumentError
from egglift.wishes import Wishes

MANY_UNITS = 16  # fewer compute units are busy without sharing out single reductions, as these laws do
SPLITTING = ("split-k", "split-row")
SCHEDULES = "schedules"  # switches off, among laws that are disabled, schedules of stages


class Asked(TypedDict, total=False):
    """What `optimize` takes by name, whatever it optimises for; what each means, it says itself."""

    measure: str
    budget: float | None
    reassociate: bool
    fast_math: bool
    allow_tf32: bool
    rules: Sequence[str]
    without: Sequence[str]
    only: Sequence[str] | None
    require: Sequence[str]
    sizes: Mapping[str, int] | None
    group_size: Sequence[int] | int | None
    parallel: int | None
    candidates: int | None
    limits: Limits | None
    cache: bool
    measurements: int
    isolate: bool
    deadline: float
    verbose: bool | None
    on_interrupt: str
    sample: Mapping[str, Any] | None


@dataclass(frozen=True)
class Laws:
    """Which laws may rewrite a program.

    reassociate: may they change the order of floating-point operations?  rules: further ones, as .egg text.
    disabled: names of laws of the book that are left out; `schedules` stands for all schedules of stages.
    tf32: may matrix units round the factors of f32 products to 11 bits?  limits: of saturation.
    """

    reassociate: bool = True
    rules: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    tf32: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not isinstance(self.limits, Limits):
            raise ArgumentError(f"limits is el.Limits(rows=..., seconds=...), and not {self.limits!r}")

    @property
    def of_book(self) -> dict[str, Any]:
        """What laws on patterns depend on, by the names that saturation has for it."""
        disabled = tuple(name for name in self.disabled if name != SCHEDULES)  # which is no law of the book
        return {"reassociate": self.reassociate, "rules": self.rules, "disabled": disabled}


@dataclass(frozen=True)
class Options:
    """How a program is optimised.

    measure: "sample": the best few candidates are timed, as `measuring` says; "none": the analytic model is trusted.
    fast_math: may the device's compiler use less exact functions?  wishes: what the kernel must be like.
    sample: inputs that are measured with, in place of drawn ones; only its mark is a part of keys.
    cache: use and keep records of earlier results.  on_interrupt: does Ctrl-C end the call ("raise"), or is the best so
    far returned ("best")?  These change no result: what differs in them alone is equal.
    """

    laws: Laws = Laws()
    measure: str = "sample"
    measuring: Measuring = field(default_factory=Measuring)
    fast_math: bool = False
    wishes: Wishes = field(default_factory=Wishes)
    cache: bool = field(default=True, compare=False)
    on_interrupt: str = field(default="raise", compare=False)
    sample: Sample = field(default_factory=Sample, compare=False)

    def __post_init__(self) -> None:
        if self.measure not in ("sample", "none"):
            raise ArgumentError(f'measure is "sample" or "none", not {self.measure!r}')
        if self.on_interrupt not in ("raise", "best"):
            raise ArgumentError(f'on_interrupt is "raise" or "best", not {self.on_interrupt!r}')
        if self.sample.data and not self.is_measured:
            raise ArgumentError('sample is what candidates are measured with: leave out either it or measure="none"')

    @property
    def is_measured(self) -> bool:
        """Are candidates timed?"""
        return self.measure == "sample"

    @property
    def decisive(self) -> dict[str, Any]:
        """What of it changes the result, as plain data: a part of the key of a record.

        What little time or few candidates found is no answer to a call with more.
        """
        found: dict[str, Any] = _compared(self) | ({"sample": self.sample.mark} if self.sample.data else {})
        if self.is_measured:
            return found
        return {**{name: x for name, x in found.items() if name != "measuring"}, "budget": self.measuring.budget}


def _compared(x: Any) -> Any:
    """The fields by which a dataclass is compared, as a dictionary; what is none, as it is."""
    if not is_dataclass(x):
        return x
    return {f.name: _compared(getattr(x, f.name)) for f in fields(x) if f.compare}


def texts(rules: Sequence[str]) -> tuple[str, ...]:
    """Laws of the user's own; ArgumentError for a single text, each letter of which would be taken for a law."""
    if isinstance(rules, str):
        raise ArgumentError("rules is a sequence of texts: write rules=[text]")
    return tuple(rules)


def useful(laws: Laws, profile: Profile) -> Laws:
    """`laws` without those of the book that are no use on a device of that profile."""
    return replace(laws, disabled=(*laws.disabled, *SPLITTING)) if profile.compute_units < MANY_UNITS else laws
