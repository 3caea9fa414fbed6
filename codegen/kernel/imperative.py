"""Kernels as imperative programs: what emission produces, the printer writes and the cost model reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from egglift.codegen.kernel.index import Index, Var
from egglift.ir.types import Scalar


@dataclass(frozen=True, eq=False)
class Buffer:
    """Memory of `size` elements of one scalar type.  Compared by identity.

    space: global (parameter), constant (program-scope literal), local, or private; number: a parameter that is a
    number, and what stands for it at a launch, by its `values`.
    lanes: for private memory inside a vector map, the number of lanes each element is kept for (else 1).
    given: is it a caller's?  Then its bools are any bytes, of which all but 0 are true; those of kernels are 0 or 1.
    aligned: does it begin where the widest vectors do?  What a caller gives begins where one of its elements does.
    is_number: may it be given by value, as it is one number of a caller's?
    start: bytes that it must begin at a multiple of, whatever accesses ask for.
    zeroed: does it hold 0 before each launch, as it does after it?
    """

    name: str
    space: str
    scalar: Scalar
    size: int
    lanes: int = 1
    values: bytes | None = None  # of a constant, or of a number
    given: bool = False
    aligned: bool = True
    is_number: bool = False
    start: int = 1
    zeroed: bool = False

    @property
    def number(self) -> int:
        """The number that a launch says."""
        assert self.space == "number" and self.values is not None
        return int(np.frombuffer(self.values, self.scalar.dtype)[0])

    @property
    def bytes(self) -> int:
        """What it takes: registers hold values as they are computed."""
        kept = self.scalar.computed if self.space == "private" else self.scalar
        return self.size * self.lanes * kept.size


# ---------------------------------------------------------------------------------------- values


@dataclass(frozen=True)
class Const:
    """A number of type `type`."""

    value: bool | int | float
    type: Scalar


@dataclass(frozen=True)
class Load:
    """`buffer[at]`; in a vector statement `at` may contain the lane variable."""

    buffer: Buffer
    at: Index

    @property
    def type(self) -> Scalar:
        return self.buffer.scalar


@dataclass(frozen=True)
class IndexValue:
    """An index expression used as a number (from iota), of integer type `type`."""

    at: Index
    type: Scalar


@dataclass(frozen=True)
class Call:
    """A scalar function of ir/scalars.py, or "cast", applied to values."""

    op: str
    args: tuple[ScalarValue, ...]
    type: Scalar


@dataclass(frozen=True)
class Guarded:
    """`0 <= at < n ? inside : outside`; `inside` is only evaluated where the condition holds."""

    at: Index
    n: int
    inside: ScalarValue
    outside: ScalarValue

    @property
    def type(self) -> Scalar:
        return self.inside.type


@dataclass(frozen=True)
class Name:
    """A `const` introduced by Let."""

    name: str
    type: Scalar


ScalarValue: TypeAlias = Const | Load | IndexValue | Call | Guarded | Name

# ---------------------------------------------------------------------------------------- statements


@dataclass(frozen=True)
class Unit:
    """What a matrix unit multiplies at once: rows x steps by steps x columns, of one type, into totals of another.

    isa: PTX's name for it.
    """

    name: str
    scalar: Scalar
    total: Scalar
    rows: int
    columns: int
    steps: int
    isa: str

    @property
    def packed(self) -> int:
        """Factors that a register of a lane holds, of steps that follow each other."""
        return max(1, 4 // self.scalar.size)


@dataclass(frozen=True)
class Lying:
    """How the factors of a warp group's product lie in local memory: in rows of 128 bytes (views.exchanged).

    along: is such a row steps of one line, or lines beside each other at one step?  far: bytes from a row to what
    continues it.
    """

    along: bool
    far: int


@dataclass(frozen=True)
class Let:
    """`const T name = value;`"""

    name: str
    value: ScalarValue
    lane: Var | None = None


#: bytes that an asynchronous copy may have
COPIED = (4, 8, 16)


@dataclass(frozen=True)
class Store:
    """`buffer[at] = value;`.  With `lane`, for all of its values at once: a vector statement.

    atomic: `value` is the place itself and what is added to it, which other work-items may do at the same time.
    asynchronous: a copy from global to local memory, which is there after a later AwaitCopies and a barrier.
    """

    buffer: Buffer
    at: Index
    value: ScalarValue
    lane: Var | None = None
    atomic: bool = False
    asynchronous: bool = False


@dataclass(frozen=True)
class Loop:
    """`body` for var = 0 .. trips-1.  `until`: (e, n): the loop ends when e >= n (e grows with var), after fewer trips.

    ends: (e, n): the loop also ends when e >= n, for all work-items of a group at once.

    matrix: are its steps for matrix units?  A pass makes fragments of it (kernel/fragments.py).
    """

    var: Var
    trips: int
    body: tuple[Statement, ...]
    unroll: bool = False
    until: tuple[Index, int] | None = None
    matrix: bool = False
    ends: tuple[Index, int] | None = None


@dataclass(frozen=True)
class If:
    """`if (e0 < n0 && e1 < n1 && ...) body else otherwise`.  share: of the work-items, for which it holds at most."""

    conditions: tuple[tuple[Index, int], ...]
    body: tuple[Statement, ...]
    share: float = 1.0
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class FragmentProduct:
    """`totals += rows * columns`, by a warp together on its matrix unit: each lane holds a part of all three.

    unit: the element type and its shape (kernel/fragments.py).  totals: private places, which are updated.
    lying: where four warps multiply together, how rows and columns lie in local memory, whose first elements are given;
    the warps go on meanwhile, up to an AwaitProducts.
    """

    unit: Unit
    totals: tuple[Load, ...]
    rows: tuple[ScalarValue, ...]
    columns: tuple[ScalarValue, ...]
    lying: tuple[Lying, Lying] | None = None

    @property
    def lanes(self) -> int:
        """Lanes that a product is shared out to, in warps of 32."""
        return 128 if self.lying else 32


@dataclass(frozen=True)
class AwaitProducts:
    """Waits until the products of warp groups are in their totals: `totals` are those of one product."""

    totals: tuple[Load, ...]


@dataclass(frozen=True)
class FragmentLoad:
    """A warp reads matrices of 8 rows of 16 bytes, two or four, from local memory into registers of its lanes.

    into: private places, one for each matrix: lane l has the 4 bytes of row l / 4 from column 4 (l % 4) on.  source:
    the row whose address a lane gives, row l % 8 of matrix l / 8, its elements counted by `lane`.  transposed: lane l
    has element l / 4 of the rows 2 (l % 4) and the next one.
    """

    into: tuple[Load, ...]
    source: Load
    lane: Var
    transposed: bool = False


@dataclass(frozen=True)
class LookBack:
    """A group makes its total known, and finds what precedes it: of the groups before it, the totals, up to the
    nearest one that has found its own.

    state: global words: a counter, from which groups take their numbers when they start, then for each number so many
    as a value has.  A word is 4 bytes of a value and, above them, 1 for a group's total, 2 for it and all before it.
    chunk: the group's number.  total, carried: values, and local places, of what is combined; init: what precedes all.
    operands: private places of a left and a right value; combine: the right one becomes both together.  window: local
    words, of as many groups as `items` look at together; going: local, is more to be looked at?  rows: of so many
    scans the groups' chunks are, the first ones of all, then the second ones, ...
    """

    MOST = 32  # items that look back together

    state: Buffer
    chunk: Index
    total: tuple[ScalarValue, ...]
    carried: tuple[Load, ...]
    init: tuple[ScalarValue, ...]
    operands: tuple[tuple[Buffer, ...], tuple[Buffer, ...]]
    combine: tuple[Statement, ...]
    window: Buffer
    going: Buffer
    items: int
    rows: int = 1


@dataclass(frozen=True)
class CloseCopies:
    """The asynchronous copies that a work-item has begun since the last such statement are a group."""


@dataclass(frozen=True)
class AwaitCopies:
    """Waits until all groups of asynchronous copies of a work-item but the last `open` ones are there."""

    open: int = 0


@dataclass(frozen=True)
class ShowUnits:
    """What a work-item has written to local memory is also there for units of warp groups, which read it another way,
    behind the next barrier."""


@dataclass(frozen=True)
class Barrier:
    """A work-group barrier; space: local, global or both."""

    space: str = "local"


@dataclass(frozen=True)
class Comment:
    """A remark for the reader of the kernel."""

    text: str


@dataclass(frozen=True)
class Declare:
    """Declaration of a private or local buffer, where its scope begins."""

    buffer: Buffer


Statement: TypeAlias = (
    Let | Store | Loop | If | FragmentLoad | FragmentProduct | AwaitProducts | LookBack | CloseCopies | AwaitCopies
) | (ShowUnits | Barrier | Comment | Declare)

# ---------------------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class LengthArgument:
    """A number that a kernel is given, behind its buffers: an expression over run-time lengths, i32 or i64."""

    name: str
    value: int
    type: Scalar


@dataclass(frozen=True)
class PlannedKernel:
    """One kernel of a plan.  `params`: its global buffers in argument order; sizes are in work-items.

    source: its text, without the functions and extensions that kernels before it brought; `whole`: with them ("": it is
    the same); by_value: `source` as it is given numbers by value ("": it is given none).
    """

    name: str
    source: str
    params: tuple[Buffer, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    body: tuple[Statement, ...] = field(repr=False)
    local_bytes: int = 0
    private_bytes: int = 0
    whole: str = field(default="", repr=False)
    by_value: str = field(default="", repr=False)
    #: what the last of its groups goes on with when all are done: as a kernel of one group, without a text of its own
    last: PlannedKernel | None = field(default=None, repr=False)
    #: the numbers that it is given behind its buffers
    lengths: tuple[LengthArgument, ...] = ()

    @cached_property
    def numbers(self) -> tuple[np.generic, ...]:
        """The values of `lengths`, as a kernel takes them."""
        return tuple(a.type.dtype.type(a.value) for a in self.lengths)

    @property
    def alone(self) -> str:
        """Its text as a program of its own."""
        return self.whole or self.source


@dataclass(frozen=True)
class Plan:
    """Kernels in order of execution, and the global buffers they use.

    inputs: program inputs by name -> its buffers in leaf order (ir.types.leaves);
    temporaries: buffers between kernels; outputs: the result's buffers in leaf order.
    A kernel whose name is repeated in `steps` is launched again with other arguments (iterate).
    """

    kernels: tuple[PlannedKernel, ...]
    inputs: dict[str, tuple[Buffer, ...]]
    temporaries: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    #: launches in order: (index into kernels, the buffer given for each parameter, or a number, by a Buffer)
    steps: tuple[tuple[int, tuple[Buffer, ...]], ...]

    @property
    def source(self) -> str:
        """All kernels' OpenCL, in order."""
        return "\n".join(k.source for k in self.kernels)

    @cached_property
    def numbers(self) -> frozenset[Buffer]:
        """The inputs that kernels can be given by value."""
        return frozenset(b for buffers in self.inputs.values() for b in buffers if b.is_number)

    @property
    def by_value(self) -> str:
        """All kernels' OpenCL, in order, as they are given numbers by value."""
        return "\n".join(k.by_value or k.source for k in self.kernels)

    @cached_property
    def digest(self) -> str:
        """A hash of all that a device is given: kernels, sizes, buffers and launches, whatever made them."""
        numbers: dict[Buffer, int] = {}

        def told(buffers: tuple[Buffer, ...]) -> list[object]:
            return [b.values or (numbers.setdefault(b, len(numbers)), str(b.scalar), b.size) for b in buffers]

        parts = [
            [(k.name, k.source, k.global_size, k.local_size, [a.value for a in k.lengths]) for k in self.kernels],
            [(name, told(buffers)) for name, buffers in sorted(self.inputs.items())],
            told(self.temporaries),
            told(self.outputs),
            [(i, told(buffers)) for i, buffers in self.steps],
        ]
        return sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Launch:
    """The free choices of a launch: work-items per group, and at most how many groups.

    swizzle: of groups in two dimensions, the rows that follow each other in one column before the next column, such
    that groups that run at the same time read fewer different rows and columns of a product's operands (1: all of a
    row first).
    """

    group_size: int = 64
    max_groups: int = 1 << 20
    swizzle: int = 1


@dataclass(frozen=True)
class DeviceLimits:
    """What the device allows."""

    group_size: int = 1024
    local_bytes: int = 48 << 10
    private_bytes: int = 1 << 20
    float64: bool = True
    sub_groups: bool = False
    matrix_units: tuple[str, ...] = ()  # names of the units that warps multiply matrices on (fragments.py)
    #: bytes of local memory of a group in kernels whose warps multiply four together (0: none do)
    group_unit_bytes: int = 0
    #: does it copy from global to local memory while it computes?
    asynchronous_copies: bool = False
    #: may barriers stand in branches that a group takes together?  PoCL (3.0) compiles some of those wrongly
    branch_barriers: bool = False
    #: are its `vload_half` and `vstore_half` right?  PoCL's (3.0) lose numbers between barriers
    half_functions: bool = False
    #: are some functions single instructions of NVIDIA's there (opencl/natives.py)?
    ptx_functions: bool = False
    #: does every group that has started go on, whatever others wait for?
    progress: bool = False
    #: may a group read what others wrote, once it knows that they are done?
    device_fence: bool = False
    #: units that run groups side by side, and work-items that a unit runs in lock-step
    compute_units: int = 1
    warp: int = 1
