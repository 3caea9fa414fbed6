"""A plan as a program of the host's language needs it: names that every language takes, buffers by number, launches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from keyword import kwlist
from math import prod

from egglift.codegen.device.arguments import leaf_names
from egglift.codegen.export.host_plan import HostPlan, HostSource, LengthPlan, host_plans
from egglift.codegen.export.length_texts import Size, size_of
from egglift.codegen.kernel.imperative import Plan
from egglift.codegen.opencl.names import KEYWORDS, Names, identifier
from egglift.ir.errors import ArgumentError
from egglift.ir.length_forms import RunTimeLength
from egglift.ir.patterns import Constant
from egglift.ir.sizes import evaluate
from egglift.ir.types import I32, Scalar, Type, leaves

#: names that no parameter gets: words of C, C++ and Python, and what exported functions call their own
RESERVED = (
    *KEYWORDS,
    *kwlist,
    *re.findall(
        r"\w+",
        """
        alignas alignof and_eq asm bitand bitor catch class compl concept const_cast constexpr delete dynamic_cast
        explicit export friend mutable namespace new noexcept not_eq nullptr operator or_eq protected public
        reinterpret_cast static_assert static_cast template this thread_local throw typeid typename using virtual xor
        xor_eq inputs outputs lengths queue waits wait_list event self message size result i argc argv np cl std free
        exit memory transfer errno stdin stdout stderr choice given found last run enqueue fail plus times over rest
        common sizes strtoull
        """,
    ),
)


#: bytes of large constants that are written into a source file, as some three times as many characters
MOST_HELD = 16 << 20

#: what follows a program's name in the names of its functions and types in C
SUFFIXES = (
    "init",
    "run",
    "enqueue",
    "finish",
    "message",
    "context",
    "device",
    "release",
    "run_once",
    "handle",
    "choice",
)


@dataclass(frozen=True)
class Parameter:
    """An array or a number that goes in or comes out.

    name: an identifier of every language; length: one for the number of its elements; title: what the program calls
    it (`x[0]`: of an array of tuples); shape: numbers, or expressions over lengths.
    """

    name: str
    length: str
    title: str
    scalar: Scalar
    shape: tuple[int, ...]

    @property
    def size(self) -> Size:
        """How many elements it has."""
        return size_of(prod(self.shape))

    def __str__(self) -> str:
        return f"{self.scalar}{list(self.shape) if self.shape else ''}"


@dataclass(frozen=True)
class HeldArray:
    """A large constant, which is a buffer: its title, type and shape as a sentence says them, and its elements."""

    title: str
    scalar: Scalar
    data: bytes


@dataclass(frozen=True)
class HostProgram:
    """What a host does to run a program: one of its plans.  Buffers are numbered as `host_plans` says.

    sources: what is compiled; constants: buffers that hold the same between calls; options: what the OpenCL compiler is
    given; lengths: those that a call says, by the names that they have there.
    """

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    sources: tuple[HostSource, ...]
    plans: tuple[HostPlan, ...]
    options: str
    constants: tuple[HeldArray, ...] = ()
    lengths: Mapping[str, RunTimeLength] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What its lengths are called, by their names in the program."""
        return {n.name: name for name, n in self.lengths.items()}

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """The lengths that plans were chosen for: as many for each length that has several."""
        most = max((len(n.likes) for n in self.lengths.values()), default=0)
        return [tuple(n.likes[i] if len(n.likes) > 1 else n.liked for n in self.lengths.values()) for i in range(most)]

    @property
    def temporaries(self) -> int:
        """How many buffers there are between kernels, in the plan that has the most."""
        return max((len(p.temporaries) for p in self.plans), default=0)


def host_program(
    name: str,
    plan: Plan | Sequence[LengthPlan],
    inputs: Mapping[str, Type],
    result: Type,
    options: tuple[str, ...] = (),
    constants: Mapping[str, Constant] = {},
    lengths: Sequence[RunTimeLength] = (),
) -> HostProgram:
    """`plan`, or plans over lengths, for hosts.

    name: of the program, as its functions and files begin; ArgumentError if it is no identifier.
    inputs: their types, in the order in which the program takes them.  constants: what those of the plan's inputs hold
    that are no inputs of the program; ArgumentError where they are too large for a text.
    """
    held = {n: HeldArray(f"{n}: {c.type}", leaves(c.type)[0][1], c.data) for n, c in constants.items()}
    _require_a_text(held)
    _require_a_name(name)
    inputs = {n: t for n, t in inputs.items() if n not in held}
    names = Names((*RESERVED, *(f"{name}_{suffix}" for suffix in SUFFIXES)))
    given = tuple(p for n, t in inputs.items() for p in _parameters(n, t, names))
    out = "out"
    while out in inputs:
        out += "_"
    made = _parameters(out, result, names)
    plans = [LengthPlan(plan)] if isinstance(plan, Plan) else plan
    held = {n: h for n, h in held.items() if any(n in p.plan.inputs for p in plans)}
    counts = any(b.zeroed for p in plans for b in p.plan.temporaries)
    counter = (HeldArray("groups that are done: 0 between launches", I32, bytes(4)),) if counts else ()
    return HostProgram(
        name,
        given,
        made,
        *host_plans(plans, list(inputs), list(held)),
        " ".join(("-w", *options)),
        (*held.values(), *counter),
        {names.own(n.name): n for n in lengths},
    )


def _require_a_text(held: Mapping[str, HeldArray]) -> None:
    if (size := sum(len(h.data) for h in held.values())) > MOST_HELD:
        raise ArgumentError(
            f"{', '.join(held)} have {size} bytes, and a source file holds constants of {MOST_HELD} at most; make them "
            "inputs of the program: el.array(name, type, shape)"
        )


def _require_a_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or identifier(name) != name or name in (*kwlist, "class", "cl"):
        raise ArgumentError(
            f"{name!r} cannot begin the names of functions in C; export into a folder named like `dot_product`, "
            "or give name="
        )


def _parameters(name: str, type: Type, names: Names) -> tuple[Parameter, ...]:
    parts = zip(leaf_names(name, type), leaves(type), strict=True)
    return tuple(
        _parameter(title, scalar, tuple(evaluate(n) for n in shape), names) for title, (shape, scalar) in parts
    )


def _parameter(title: str, scalar: Scalar, shape: tuple[int, ...], names: Names) -> Parameter:
    """`x[0][1]` is `x_0_1`, and its length `x_0_1_length`."""
    name = names.own(re.sub(r"\W+", "_", title, flags=re.ASCII).strip("_") or "v")
    return Parameter(name, names.own(f"{name}_length"), title, scalar, shape)
