"""Iterations whose state stays on the devices, each of which has a part and its neighbours' rows around it.

A device's window has its own rows in the middle: a step writes them there, and what others need of them, the borders,
is exchanged.  Where it pays, the rows at either end are computed first, and exchanged while the rest is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from egglift.codegen.device.arguments import is_on_device
from egglift.codegen.device.borders import Border, Exchange
from egglift.codegen.device.device import Device, Operand, opencl, reported
from egglift.codegen.device.rows import array_over, begins_at, copy_bytes, of_device, part_of, write_bytes
from egglift.codegen.device.spare import spare
from egglift.distribution.held import Held, Leaf, Piece, Rows, host_rows, leaves_of, placed
from egglift.distribution.running import Runner, Values, nested
from egglift.distribution.shares import Share
from egglift.egraph.distribution.rows import runs
from egglift.egraph.distribution.steps import Read, Step, Steps
from egglift.ir import patterns as p
from egglift.ir.batch import arrays
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.types import Type

T = TypeVar("T")


@dataclass(frozen=True)
class Window:
    """What a device has of the state: `rows`, of which its own begin at row `own`.

    others: rows of the state from anywhere, as (row of the window, row of the state, how many); fixed: rows that stay
    as they are, as (row of the window, how many, value).
    """

    share: Share
    rows: int
    own: int
    others: tuple[tuple[int, int, int], ...]
    fixed: tuple[tuple[int, int, Expr], ...]


@dataclass(frozen=True)
class Windows:
    """All devices' windows.  read: how a step reads them; edge: how many rows at either end of a block are computed
    first, 0 for all at once."""

    step: Step
    read: Read
    each: tuple[Window, ...]
    edge: int = 0

    def counts(self, share: Share) -> tuple[int, ...]:
        """The lengths of what a device computes in a step, one after the other."""
        if not self.edge:
            return (share.count,)
        return (self.edge, self.edge, share.count - 2 * self.edge)

    def programs(self, share: Share) -> tuple[Expr, ...]:
        """The programs that a device runs, each once."""
        return tuple(self.step.program(count) for count in dict.fromkeys(self.counts(share)))

    @property
    def needed(self) -> int:
        """How many rows at either end of a block are read by other devices, or into a device's own borders."""
        far = 0
        for window in self.each:
            for _, row, count in window.others:
                for share, start, stop in _owners(row, count, [w.share for w in self.each]):
                    far = max(far, min(stop - share.start, share.start + share.count - start))
        return far

    def borders(self, leaves: Sequence[Leaf]) -> Iterator[Border]:
        """What is exchanged between two steps."""
        shares = [w.share for w in self.each]
        for w in self.each:
            for at, row, count in w.others:
                for share, start, stop in _owners(row, count, shares):
                    for i, leaf in enumerate(leaves):
                        size = leaf.row_bytes
                        to, source = (at + start - row) * size, (start - share.start) * size
                        yield Border(share.place, source, w.share.place, to, (stop - start) * size, i)


def _owners(row: int, count: int, shares: Sequence[Share]) -> Iterator[tuple[Share, int, int]]:
    """Who has rows of the state: the share, and which of the rows, from and to."""
    for share in shares:
        start, stop = max(row, share.start), min(row + count, share.start + share.count)
        if start < stop:
            yield share, start, stop


def windows_of(steps: Steps, state: str, shares: Mapping[str, Sequence[Share]]) -> Windows | None:
    """The windows of an iteration of one step that reads its state by overlapping blocks; None for any other."""
    if len(steps.steps) != 1 or not isinstance(steps.last, p.Input):
        return None
    (step,) = steps.steps
    reads = [r for r in step.reads if state in inputs_of(r.source)]
    of = shares[step.name]
    if step.kind != "map" or len(reads) != 1 or len({s.place for s in of}) < len(of) or len(of) < 2:
        return None
    (read,) = reads
    found = [_window(read, state, share) for share in of] if (read.how, read.step) == ("overlap", 1) else [None]
    return Windows(step, read, tuple(w for w in found if w)) if all(found) else None


def _window(read: Read, state: str, share: Share) -> Window | None:
    """A device's window; None where its own rows do not follow each other in it, or others are no rows of the state."""
    first, last = read.rows(share.start, share.count)
    own, at, end = None, 0, share.start + share.count
    others: list[tuple[int, int, int]] = []
    fixed: list[tuple[int, int, Expr]] = []
    for run in runs(read.source, first, last):
        stop = run.start + run.count
        if run.repeated and state not in inputs_of(run.source):
            fixed.append((at, run.count, run.source))
        elif not isinstance(run.source, p.Input) or run.source.name != state:
            return None
        elif own is None and run.start <= share.start and end <= stop:
            own = at + share.start - run.start
            others += [(at, run.start, share.start - run.start), (own + share.count, end, stop - end)]
        else:
            others.append((at, run.start, run.count))
        at += run.count
    return None if own is None else Window(share, last - first, own, tuple(o for o in others if o[2]), tuple(fixed))


# ---------------------------------------------------------------------------------------- running


class Bindable(Protocol):
    """The kernel of a device of this process: `egglift.Kernel`."""

    def bind(self, /, *args: Any, out: Any) -> Callable[[], Any]:
        """A call that computes into `out`, made ready to be repeated."""


@dataclass(frozen=True, eq=False)
class Memory:
    """A device's window in buffers, one for each leaf; and its own rows: in which buffer, and from which byte on.

    apart: these are other buffers, as no kernel can be given a part of a buffer that begins there; they are copied.
    """

    window: Sequence[Operand]
    own: Sequence[tuple[Operand, int]]
    apart: bool


@dataclass(eq=False)
class Part:
    """What one device does."""

    windows: Windows
    window: Window
    runner: Runner
    values: Values
    leaves: Sequence[Leaf]
    _launches: dict[tuple[Memory, Memory], list[Any]] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """Which device it is."""
        return self.window.share.place

    @property
    def device(self) -> Device:
        """The device."""
        return self.runner.devices[self.place]

    def first(self) -> Memory:
        """The window of the state that it begins with."""
        share = self.window.share
        shapes = [Leaf((self.window.rows, *leaf.shape[1:]), leaf.scalar) for leaf in self.leaves]
        wanted = self.values.rows(self.windows.read, share)
        return self._memory(placed(wanted, shapes, self.device, self.runner.spare))

    def empty(self) -> Memory:
        """A window with nothing in it but the rows that stay as they are."""
        memory = self._memory([spare(self.device, self.window.rows * leaf.row_bytes) for leaf in self.leaves])
        for at, count, value in self.window.fixed:
            for i, leaf in enumerate(self.leaves):
                rows = host_rows(Rows(self.values[value], 0, count, repeated=True), i, leaf)
                write_bytes(self.device, memory.window[i], at * leaf.row_bytes, rows)
        return memory

    def _memory(self, window: Sequence[Operand]) -> Memory:
        begins = [self.window.own * leaf.row_bytes for leaf in self.leaves]
        if all(begins_at(self.device, begin) for begin in begins):
            return Memory(window, list(zip(window, begins, strict=True)), apart=False)
        sizes = [self.window.share.count * leaf.row_bytes for leaf in self.leaves]
        return Memory(window, [(spare(self.device, size), 0) for size in sizes], apart=True)

    def edges(self, before: Memory, after: Memory) -> Any:
        """Computes what others wait for: the event of its end."""
        first = self._bound(before, after)[: 2 if self.windows.edge else 1]
        for launch in first:
            launch()
        with reported(f"{self.device.name} did not take its launches"):
            computed = opencl().enqueue_marker(self.device.queue)
            self.device.queue.flush()
        return computed

    def rest(self, before: Memory, after: Memory) -> None:
        """Computes the other rows."""
        for launch in self._bound(before, after)[2:]:
            launch()
        if after.apart:
            for window, (own, begin), leaf in zip(after.window, after.own, self.leaves, strict=True):
                size = self.window.share.count * leaf.row_bytes
                copy_bytes(self.device, window, self.window.own * leaf.row_bytes, own, begin, size)

    def wait(self, events: Sequence[Any]) -> None:
        """What it computes next waits for these."""
        if events:
            with reported(f"{self.device.name} cannot wait for the borders of others"):
                opencl().enqueue_barrier(self.device.queue, wait_for=events)

    def _bound(self, before: Memory, after: Memory) -> list[Any]:
        """The calls of a step, one after the other."""
        if (before, after) not in self._launches:
            counts = self.windows.counts(self.window.share)
            starts = (0, self.window.share.count - counts[0], counts[0])
            made = [self._call(before, after, at, k) for at, k in zip(starts, counts, strict=False) if k]
            self._launches[before, after] = made
        return self._launches[before, after]

    def _call(self, before: Memory, after: Memory, at: int, count: int) -> Any:
        """The call that computes `count` rows of its own from the `at`th on."""
        step = self.windows.step
        program, share = step.program(count), Share(self.place, self.window.share.start + at, count)
        types, reads = inputs_of(program), {r.name: r for r in step.reads}
        state = self._parts([(w, 0) for w in before.window], at, count + self.windows.read.window - 1)
        given = {
            n: state if n == self.windows.read.name else arrays(self.runner.argument(reads[n], t, share, self.values))
            for n, t in types.items()
        }
        kernel = cast(Bindable, self.runner.made(program, self.device))
        out = self._nested(type_of(program), self._parts(after.own, at, count))
        return kernel.bind(*[self._nested(t, given[n]) for n, t in types.items()], out=out)

    def piece(self, memory: Memory) -> Piece:
        """Its own rows."""
        share = self.window.share
        buffers = tuple(self._parts(memory.own, 0, share.count))
        return Piece(self.device, share.start, share.start + share.count, buffers)

    def _parts(self, begins: Sequence[tuple[Operand, int]], at: int, rows: int) -> list[Operand]:
        """Some rows, from the `at`th after where each leaf begins on, as buffers."""
        return [
            part_of(self.device, buffer, begin + at * leaf.row_bytes, rows * leaf.row_bytes)
            for (buffer, begin), leaf in zip(begins, self.leaves, strict=True)
        ]

    def _nested(self, t: Type, buffers: Sequence[Any]) -> Any:
        """Arrays over buffers, as a value of type `t`; what is on the host stays there."""
        pairs = zip(buffers, leaves_of(t), strict=True)
        return nested(t, [array_over(self.device, b, f.shape, f.scalar) if is_on_device(b) else b for b, f in pairs])


def iterated(windows: Windows, runner: Runner, values: Values, state: str, count: int, owned: bool) -> Held:
    """The state after `count` steps, at least one, from that in `values` on; owned: nobody else has that one."""
    start = values.named[state]
    parts = {w.share.place: Part(windows, w, runner, values, start.leaves) for w in windows.each}
    exchange = Exchange(runner.devices, windows.borders(start.leaves))
    before = _each(parts, Part.first)
    after = _each(parts, Part.empty)
    third = before if owned else _each(parts, Part.empty) if count > 1 else {}
    try:
        for left in range(count - 1, -1, -1):
            computed = _each(parts, Part.edges, before, after)
            own, window = ({place: getattr(m, of) for place, m in after.items()} for of in ("own", "window"))
            if left:
                exchange.send(own, computed)
            _each(parts, Part.rest, before, after)
            if left:
                _each(parts, Part.wait, exchange.receive(own, window))
            before, after, third = after, third, after
    finally:
        exchange.finish()
    return Held(start.type, None, tuple(part.piece(before[place]) for place, part in parts.items()))


def _each(parts: Mapping[int, Part], work: Callable[..., T], *given: Mapping[int, Any]) -> dict[int, T]:
    """What `work` gives for each device and what is given for it; what goes wrong names the device."""
    found = {}
    for place, part in parts.items():
        with of_device(place, part.device):
            found[place] = work(part, *(g[place] for g in given))
    return found
