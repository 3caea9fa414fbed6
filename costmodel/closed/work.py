"""What a kernel does, as closed forms: numbers for many assignments of sizes at once, without its code.

Every number is an array over assignments, or one number for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from egglift.ir.sizes import Size, SizeOp, Sym

Numbers = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
#: the dimension of axes along which all work-items of a group go together, one after the other, the fastest axis first
TOGETHER = -1
Env = Mapping[str, npt.NDArray[np.int64]]


def number(x: float) -> Numbers:
    """A number that is the same for all assignments."""
    return np.asarray(float(x))


def evaluated(size: Size, env: Env) -> Numbers:
    """The number that `size` is under every assignment; division truncates."""
    match size:
        case int():
            return number(size)
        case Sym(name):
            return env[name].astype(np.float64)
        case SizeOp(op, a, b):
            x, y = evaluated(a, env), evaluated(b, env)
            match op:
                case "+":
                    return x + y
                case "-":
                    return x - y
                case "*":
                    return x * y
            return np.floor(x / np.maximum(y, 1))


def rounded_up(x: Numbers, y: Numbers | float) -> Numbers:
    """How many blocks of y cover x."""
    return np.ceil(x / np.maximum(y, 1))


def product(xs: Iterable[Numbers]) -> Numbers:
    """Their product; 1 of none."""
    found: Numbers | None = None
    for x in xs:
        found = x if found is None else found * x
    return number(1) if found is None else found


@dataclass(frozen=True)
class Axis:
    """What an access moves with.

    role: who goes along it: "group" or "item" (in dimension `dim` of the grid), "loop", "unrolled" or "lane"; count:
    how many steps; stride: how many elements apart; alone: is it a loop around this access only?
    """

    role: str
    count: Numbers
    stride: Numbers
    dim: int = 0
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Access:
    """Reads or writes of one array.

    space: "global" or "local"; buffer: the array's name, `elements` of `scalar` bytes; width: bytes at a time;
    times: by a work-item that comes here, `share` of all do; axes: the outermost first; offset: of the first element;
    places: how many accesses it stands for, beside each other, whose bytes its width has.
    """

    space: str
    buffer: str
    elements: float
    scalar: int
    width: Numbers
    times: Numbers
    store: bool
    axes: tuple[Axis, ...]
    share: Numbers = field(default_factory=lambda: number(1))
    offset: int = 0
    places: int = 1

    @property
    def bytes(self) -> float:
        """Of the whole array."""
        return self.elements * self.scalar

    @property
    def loops(self) -> tuple[Axis, ...]:
        """The axes that one work-item goes along, the outermost first."""
        return tuple(a for a in self.axes if a.role in ("loop", "unrolled", "lane"))

    @property
    def rolled(self) -> npt.NDArray[np.bool_]:
        """Is it in a loop that is not unrolled?"""
        found = np.asarray(False)
        for a in self.axes:
            found = found | (a.count > 1) if a.role == "loop" else found
        return found

    def item_stride(self, dim: int) -> Numbers:
        """Elements between the accesses of neighbours in a dimension of the group."""
        return sum((a.stride for a in self.axes if a.role == "item" and a.dim == dim), number(0))

    def moves(self, dim: int) -> bool:
        """Do groups that are neighbours in a dimension of the grid access different elements?"""
        return any(a.role == "group" and a.dim == dim and bool(np.any(a.stride != 0)) for a in self.axes)


def each_once(accesses: Sequence[Access], near: int) -> list[Access]:
    """Loads of one array that move alike, at most `near` bytes apart, count once: the first brings what others find."""
    found: list[Access] = []
    for a in accesses:
        again = np.asarray(False)
        for b in found:
            same = (a.buffer, a.space, a.store) == (b.buffer, b.space, False)
            if same and abs(a.offset - b.offset) * a.scalar <= near:
                again = again | alike(a, b)
            if again.all():
                break
        found.append(replace(a, share=np.where(again, 0, a.share)) if again.any() else a)
    return found


def alike(a: Access, b: Access) -> Bools:
    """Where two accesses go through memory the same way, executors and loops alike."""

    def ordered(x: Access) -> list[Axis]:
        return sorted(x.axes, key=lambda axis: (axis.role, axis.dim))

    loops = [x for x in (*a.axes, *b.axes) if x.alone and x.role != "lane"]
    if [(x.role, x.dim) for x in ordered(a)] != [(x.role, x.dim) for x in ordered(b)]:
        return np.asarray(False)
    alike: Bools = (a.width == b.width) & (product([x.count for x in loops]) <= 1)
    for x, y in zip(ordered(a), ordered(b), strict=True):
        still = (x.count <= 1) & (y.count <= 1)
        alike = alike & (still | ((x.count == y.count) & (x.stride == y.stride)))
    return alike


@dataclass
class Work:
    """What one launch does.

    local, groups: work-items of a group and groups, in each dimension.  fits: do the sizes divide each other as they
    must?  Per work-item: issue, simple instructions; products, of matrix units, in such; fed, bytes of local memory
    that units read on their own; chain, dependent operations; waits, rounds of loads from global memory, in latencies
    of it; barriers; flight, bytes on their way together; private, bytes of registers; held, bytes of registers in its
    busiest loop, whose steps are often; share: of those that have something to do.  local_bytes: of a group.
    own_target: is it built for the device's own target, where a group has more (codegen/opencl/own_target.py)?
    """

    local: tuple[Numbers, Numbers, Numbers]
    groups: tuple[Numbers, Numbers, Numbers]
    fits: Bools = field(default_factory=lambda: np.asarray(True))
    issue: Numbers = field(default_factory=lambda: number(0))
    products: Numbers = field(default_factory=lambda: number(0))
    fed: Numbers = field(default_factory=lambda: number(0))
    chain: Numbers = field(default_factory=lambda: number(0))
    waits: Numbers = field(default_factory=lambda: number(0))
    barriers: Numbers = field(default_factory=lambda: number(0))
    flight: Numbers = field(default_factory=lambda: number(0))
    private: Numbers = field(default_factory=lambda: number(0))
    held: Numbers = field(default_factory=lambda: number(0))
    often: Numbers = field(default_factory=lambda: number(1))
    share: Numbers = field(default_factory=lambda: number(1))
    local_bytes: Numbers = field(default_factory=lambda: number(0))
    accesses: list[Access] = field(default_factory=list)
    own_target: bool = False

    @property
    def group(self) -> Numbers:
        """Work-items of a group."""
        return product(self.local)

    @property
    def items(self) -> Numbers:
        """All work-items."""
        return self.group * product(self.groups)

    def count(self, a: Access) -> Numbers:
        """How often all work-items access an array."""
        return self.items * a.share * a.times

    def wait(self, times: Numbers, far: float, bytes: Numbers) -> None:
        """A work-item waits so many times for so many bytes."""
        self.waits = self.waits + np.where(bytes > 0, times * far, 0)
        self.flight = np.maximum(self.flight, bytes)


def one_after_the_other(*works: Work) -> Work:
    """The same groups do one work after the other, in one launch; what they keep between them is small."""
    last = works[-1]
    local = [reduce(np.maximum, sizes) for sizes in zip(*(w.local for w in works), strict=True)]
    total = Work((local[0], local[1], local[2]), last.groups)
    for w in works:
        share = w.group / total.group  # the others wait
        total.fits, total.own_target = total.fits & w.fits, total.own_target or w.own_target
        total.issue = total.issue + share * w.issue
        total.products, total.fed = total.products + share * w.products, total.fed + share * w.fed
        total.chain, total.waits = total.chain + w.chain, total.waits + w.waits
        total.barriers, total.local_bytes = total.barriers + w.barriers, total.local_bytes + w.local_bytes
        total.accesses += [replace(a, share=a.share * share) for a in w.accesses]
        for most in ("flight", "private", "held", "often"):
            setattr(total, most, np.maximum(getattr(total, most), getattr(w, most)))
    return total
