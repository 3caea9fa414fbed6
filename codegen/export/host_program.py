"""A plan as a program of the host's language needs it: names that every language takes, buffers by number, launches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from keyword import kwlist
from math import prod

from egglift.codegen.device.arguments import leaf_names
from egglift.codegen.kernel.imperative import Plan, PlannedKernel
from egglift.codegen.opencl.names import KEYWORDS, Names, identifier
from egglift.ir.errors import ArgumentError
from egglift.ir.patterns import Constant
from egglift.ir.sizes import evaluate
from egglift.ir.types import Scalar, Type, leaves

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
        exit memory transfer errno stdin stdout stderr choice given found last run enqueue fail
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
    it (`x[0]`: of an array of tuples).
    """

    name: str
    length: str
    title: str
    scalar: Scalar
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """The bytes of these; a bool is one."""
        return self.size * self.scalar.size

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
    """What a host does to run a plan.  Buffers are numbered: inputs, outputs, temporaries, constants.

    temporaries: the bytes of each; constants: buffers that always hold the same; steps: launches in order, each a
    kernel's place and a buffer for each of its
    parameters; options: what the OpenCL compiler is given.
    """

    name: str
    source: str
    kernels: tuple[PlannedKernel, ...]
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    temporaries: tuple[int, ...]
    steps: tuple[tuple[int, tuple[int, ...]], ...]
    options: str
    constants: tuple[HeldArray, ...] = ()

    @property
    def bytes(self) -> tuple[int, ...]:
        """The bytes of every buffer."""
        constants = (len(c.data) for c in self.constants)
        return (*(p.bytes for p in (*self.inputs, *self.outputs)), *self.temporaries, *constants)


def host_program(
    name: str,
    plan: Plan,
    inputs: Mapping[str, Type],
    result: Type,
    options: tuple[str, ...] = (),
    constants: Mapping[str, Constant] = {},
) -> HostProgram:
    """`plan` for hosts.  name: of the program, as its functions and files begin; ArgumentError if it is no identifier.

    inputs: their types, in the order in which the program takes them.  constants: what those of the plan's inputs hold
    that are no inputs of the program; ArgumentError where they are too large for a text.
    """
    held = {n: HeldArray(f"{n}: {c.type}", leaves(c.type)[0][1], c.data) for n, c in constants.items()}
    if (size := sum(len(h.data) for h in held.values())) > MOST_HELD:
        raise ArgumentError(
            f"{', '.join(held)} have {size} bytes, and a source file holds constants of {MOST_HELD} at most; make them "
            "inputs of the program: el.array(name, type, shape)"
        )
    inputs = {n: t for n, t in inputs.items() if n not in held}
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or identifier(name) != name or name in (*kwlist, "class", "cl"):
        raise ArgumentError(
            f"{name!r} cannot begin the names of functions in C; export into a folder named like `dot_product`, "
            "or give name="
        )
    names = Names((*RESERVED, *(f"{name}_{suffix}" for suffix in SUFFIXES)))
    given = tuple(p for n, t in inputs.items() for p in _parameters(n, t, names))
    out = "out"
    while out in inputs:
        out += "_"
    made = _parameters(out, result, names)
    constant = [b for n in held for b in plan.inputs.get(n, ())]
    buffers = [*(b for n in inputs for b in plan.inputs[n]), *plan.outputs, *plan.temporaries, *constant]
    number = {b: i for i, b in enumerate(buffers)}
    return HostProgram(
        name,
        plan.source,
        plan.kernels,
        given,
        made,
        tuple(b.size * b.scalar.size for b in plan.temporaries),
        tuple((k, tuple(number[b] for b in used)) for k, used in plan.steps),
        " ".join(("-w", *options)),
        tuple(h for n, h in held.items() if n in plan.inputs),
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
