"""Kernels before they are printed, and which of them the last group of the one before can go on with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from egglift.codegen.kernel.distribution import Shape
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, PlannedKernel, Statement
from egglift.codegen.opencl.natives import natives
from egglift.codegen.opencl.source import Part, kernel_source
from egglift.ir.lengths import Length, Tracing
from egglift.ir.types import I32

#: what goes on keeps no more local memory, nor a work-item more registers than the kernel or so many bytes: with more,
#: fewer groups would be there at a time
LOCAL, PRIVATE = 8 << 10, 256
LEAST = 8  # work-items of a group that goes on


@dataclass(frozen=True, eq=False)
class Emitted:
    """A kernel: its launch, parameters, those of them that it writes, its statements, and what it takes of memory.

    states: words that must be 0 before it.  last: what the last of its groups goes on with.  local_names: of its local
    arrays.
    """

    shape: Shape
    params: tuple[Buffer, ...]
    written: frozenset[Buffer]
    body: tuple[Statement, ...]
    local_bytes: int
    private_bytes: int
    local_names: tuple[str, ...]
    states: tuple[Buffer, ...] = ()
    last: Emitted | None = None

    def shape_to_go_on(self, shape: Shape) -> Shape | None:
        """How its last group executes what would be launched as `shape`: as one group, in one dimension or as they
        are.  None: it cannot.
        """
        sizes = (*self.shape.groups, *self.shape.local, *shape.groups, *shape.local)
        items, known = self.shape.group_items, not any(isinstance(n, Length) for n in sizes)
        if not known or shape.groups != (1, 1, 1) or shape.warps or self.states or items < LEAST:
            return None
        if shape.local == self.shape.local:
            return shape
        return Shape((items, 1, 1)) if shape.local[1:] == (1, 1) else None

    def going_on(self, last: Emitted, counter: Buffer, limits: DeviceLimits) -> Emitted | None:
        """Both as one kernel; None where that would keep too much."""
        local, private = self.local_bytes + last.local_bytes, max(self.private_bytes, last.private_bytes)
        if (
            last.states
            or local > limits.local_bytes
            or last.local_bytes > LOCAL
            or private > max(self.private_bytes, PRIVATE)
        ):
            return None
        params = dict.fromkeys((*self.params, *last.params, *((counter,) if self._counts else ())))
        names = (*self.local_names, *last.local_names)
        written = self.written | last.written | ({counter} if self._counts else set())
        both = replace(
            self, params=tuple(params), written=frozenset(written), local_names=names, last=_behind(self.last, last)
        )
        return replace(both, local_bytes=local, private_bytes=private)

    @property
    def _counts(self) -> bool:
        """Must its groups be counted?"""
        return self.shape.groups != (1, 1, 1)

    def _parts(self) -> Iterator[Emitted]:
        part: Emitted | None = self
        while part is not None:
            yield part
            part = part.last

    def printed(self, name: str, defined: set[str], limits: DeviceLimits, tracing: Tracing | None) -> PlannedKernel:
        """The kernel with its text.  defined: the lines before kernels that there are already (`kernel_source`)."""
        parts = [Part(part.shape, part.body) for part in self._parts()]
        how = defined, limits.warp == 1, natives(limits)
        texts, lengths = kernel_source(name, parts, self.params, self.written, *how, tracing)
        whole = texts.whole if texts.whole != texts.source else ""
        made = replace(self._planned(name), source=texts.source, lengths=lengths)
        return replace(made, whole=whole, by_value=texts.by_value)

    def _planned(self, name: str) -> PlannedKernel:
        local, groups = self.shape.local, self.shape.groups
        dims = max([d for d in range(3) if local[d] * groups[d] > 1], default=0) + 1
        sizes, group = tuple(local[d] * groups[d] for d in range(dims)), local[:dims]
        memory = self.local_bytes, self.private_bytes
        last = None if self.last is None else self.last._planned(f"{name}_last")
        return PlannedKernel(name, "", self.params, sizes, group, self.body, *memory, last=last)


def _behind(first: Emitted | None, last: Emitted) -> Emitted:
    """What the last group goes on with, one after the other."""
    return last if first is None else replace(first, last=_behind(first.last, last))


def may_go_on(last: PlannedKernel) -> bool:
    """Is it a kernel that the last group of the one before may go on with?  Nearly every kernel is followed so."""
    small = last.local_bytes <= LOCAL and last.private_bytes <= PRIVATE
    return small and last.global_size == last.local_size and len(last.local_size) == 1


def counter(name: str) -> Buffer:
    """What groups count themselves in when they are done."""
    return Buffer(name, "global", I32, 1, zeroed=True)
