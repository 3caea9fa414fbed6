"""What several devices take by the model: kernels, what is moved over links, and what is exchanged between steps."""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.device.rows import begins_at
from egglift.costmodel.links.links import Links
from egglift.distribution.held import bytes_of, leaves_of
from egglift.distribution.iterating import Windows
from egglift.distribution.kernel import DistributedKernel
from egglift.distribution.shares import Share
from egglift.egraph.distribution.steps import Step
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.plain_numbers import duration
from egglift.ir.signature import inputs_of

#: edges are computed first of blocks that have at least so many times as many rows
FEWEST = 8


def edge_of(windows: Windows, kernel: DistributedKernel, links: Links) -> int:
    """How many rows at either end of a block are computed first, so that they are exchanged while the rest is computed;
    0 where that does not pay by the model, or a part of a buffer cannot begin with any row."""
    edge, leaves = windows.needed, leaves_of(windows.step.type)
    for window in windows.each:
        rows = [begins_at(kernel.devices[window.share.place], leaf.row_bytes) for leaf in leaves]
        if not edge or window.share.count < FEWEST * edge or not all(rows):
            return 0
    apart = replace(windows, edge=edge)
    beside = max(_step_seconds(apart, kernel, w.share, links) for w in windows.each)
    after = max(
        _rest_seconds(apart, kernel, w.share) + _exchange_seconds(apart, kernel, w.share, links) for w in windows.each
    )
    return edge if beside < after else 0


def _step_seconds(windows: Windows, kernel: DistributedKernel, share: Share, links: Links) -> float:
    """A device's part of one step of an iteration, and the exchange of its borders."""
    exchange = _exchange_seconds(windows, kernel, share, links)
    rest = _rest_seconds(windows, kernel, share) / links.together
    if not windows.edge:
        return rest + exchange
    edges = 2 * _seconds_of(windows.step.program(windows.edge), kernel, share) / links.together
    return edges + max(rest, exchange)


def _rest_seconds(windows: Windows, kernel: DistributedKernel, share: Share) -> float:
    """What a device computes last in a step."""
    return _seconds_of(windows.step.program(windows.counts(share)[-1]), kernel, share)


def _seconds_of(program: Expr, kernel: DistributedKernel, share: Share) -> float:
    return kernel.made(program, kernel.devices[share.place]).chosen.seconds


def _exchange_seconds(windows: Windows, kernel: DistributedKernel, share: Share, links: Links) -> float:
    """What a device sends, and then gets."""
    name = kernel.devices[share.place].name
    borders = [b for b in windows.borders(leaves_of(windows.step.type)) if b.source != b.target]
    sent = sum(b.size for b in borders if b.source == share.place)
    got = sum(b.size for b in borders if b.target == share.place)
    return links.from_device(name, sent) + links.to_device(name, got)


def cheaper(shared: DistributedKernel, alone: DistributedKernel, links: Links) -> DistributedKernel:
    """The kernel that the model says is faster, with NumPy in and out."""
    one, many = _seconds_alone(alone, links), _seconds_shared(shared, links)
    count = len(shared.devices)
    compared = f"{count} devices take {duration(many)} by the model, one takes {duration(one)}"
    chosen = shared if many < one else alone
    chosen.why = compared
    return chosen


def _seconds_alone(kernel: DistributedKernel, links: Links) -> float:
    device = kernel.devices[0]
    taken = sum(map(bytes_of, inputs_of(kernel.program).values()))
    moved = links.to_device(device.name, taken) + links.from_device(device.name, bytes_of(type_of(kernel.program)))
    return kernel.made(kernel.program, device).chosen.seconds + moved


def _seconds_shared(kernel: DistributedKernel, links: Links) -> float:
    """The slowest device's blocks and transfers, step by step; of an iteration, borders are moved each time."""
    total = links.start * len(kernel.devices)
    for step in kernel.steps.steps:
        seconds = {s.place: 0.0 for s in kernel.shares[step.name]}
        for share in kernel.shares[step.name]:
            seconds[share.place] += _block_seconds(kernel, step, share, links)
        total += max(seconds.values(), default=0.0)
    return total


def _block_seconds(kernel: DistributedKernel, step: Step, share: Share, links: Links) -> float:
    device = kernel.devices[share.place]
    program = step.program(share.count)
    taken = sum(map(bytes_of, inputs_of(program).values()))
    given = bytes_of(type_of(program))
    moved = links.to_device(device.name, taken, all=True) + links.from_device(device.name, given, all=True)
    if kernel.windows:
        return kernel.count * _step_seconds(kernel.windows, kernel, share, links) + moved
    computing = sum(_seconds_of(q, kernel, share) for q in step.programs(share.count)) / links.together
    if not kernel.state:
        return computing + moved
    border = sum(2 * (r.window - r.step) * leaf.row_bytes for r in step.reads for leaf in leaves_of(type_of(r.source)))
    exchange = links.to_device(device.name, border) + links.from_device(device.name, border)
    return kernel.count * (computing + exchange) + moved
