"""What comes of a program: its time beside those of all its peers, each checked against the others."""

from __future__ import annotations

import gc
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.lines import RATIO, _error
from benchmarks.brought.program import Scale
from benchmarks.demo import difference
from benchmarks.fair.clocks import brief, our_times
from benchmarks.fair.cupy_peers import cupy_peer
from benchmarks.fair.host_peers import host_peer
from benchmarks.fair.jax_peers import jax_peer
from benchmarks.fair.job import Job, chosen
from benchmarks.fair.peer import Call, Peer, Times
from benchmarks.fair.torch_peers import torch_peer
from benchmarks.fair.triton_peers import triton_peer
from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.measurement.device_lock import alone
from egglift.costmodel.measurement.expected_results import flatten
from egglift.ir.lifting import as_program

IN_A_ROW = "of the best peer in a row"
#: elements of a peer's result that are compared at least; of larger ones some, evenly spread
COMPARED = 1 << 20


def peers(kind: str) -> tuple[Peer, ...]:
    """The peers beside a device of that kind, "gpu" or "cpu"."""
    both = (torch_peer(kind, False), torch_peer(kind, True), jax_peer(kind))
    if kind == "gpu":
        return (*both[:2], cupy_peer(), both[2], triton_peer())
    return (host_peer("numpy"), host_peer("numexpr"), host_peer("numba"), *both)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """TimeoutError after so many seconds, as soon as Python runs again."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"no result within {round(seconds)} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def elsewhere(
    key: str, scale: Scale, device: str, beside: Sequence[str], seconds: float, end: float | None
) -> dict[str, Any]:
    """The line of a program, in this process or another, which opens the device by its name.

    end: the time of day (seconds) after which none is begun; None: there is no such time.
    """
    (job,) = [job for job in chosen([key], scale) if job.key == key]
    if end is not None and time.time() > end:
        return {"program": job.name, "of": job.of, "size": job.size_text, "left out": "not begun in time"}
    warnings.simplefilter("ignore")
    opened = open_device(device)
    return line(job, opened, [peer for peer in peers(opened.kind) if peer.name in beside], seconds)


def line(job: Job, device: Device, beside: Sequence[Peer], seconds: float) -> dict[str, Any]:
    """One program: microseconds of egglift and of every peer, ratios of the best right one's to egglift's.

    A peer that fails, is wrong or takes longer than `seconds` says so; one that cannot take part is under "absent",
    with the reason.  A program for which egglift has no kernel is "failed".
    """
    start = time.perf_counter()
    head: dict[str, Any] = {"program": job.name, "of": job.of, "size": job.size_text}
    try:
        found = _measured(job, device, beside, seconds)
    except Exception as error:  # whatever it is, the next program has its turn
        found = {"failed": brief(error)}
    return head | found | {"seconds": round(time.perf_counter() - start, 1)}


def _measured(job: Job, device: Device, beside: Sequence[Peer], seconds: float) -> dict[str, Any]:
    program = as_program(job.program())
    start = time.perf_counter()
    kernel = el.optimize(program, device)
    searched = time.perf_counter() - start
    actual = kernel(**job.inputs)
    with alone(device):
        times = our_times(kernel, job.inputs)
    absent: dict[str, str] = {}
    rows: dict[str, dict[str, Any]] = {}
    results: dict[str, Any] = {}
    for peer in beside:
        found, result = beside_one(job, peer, seconds, device)
        if isinstance(found, str):
            absent[peer.name] = found
        else:
            rows[peer.name] = found
        if result is not None:
            results[peer.name] = result
    expected, held = _expected(job, program, results | {"egglift": actual}, seconds)
    problem = difference(program, expected, actual)
    for name, result in results.items():
        wrong = None if name == held else _differs(program, expected, result)
        rows[name] |= {"right": wrong is None, **({"difference": wrong} if wrong else {})}
    return {
        "us": _us(times.seconds),
        "in a row us": _us(times.in_a_row),
        "timed by": times.how,
        **_ratios(times, rows),
        "optimize s": round(searched, 2),
        "structure": kernel.chosen.structure,
        "right": problem is None,
        "held against": held,
        "error": _error(expected, actual),
        **({"difference": problem} if problem else {}),
        "peers": rows,
        "absent": absent,
    }


def beside_one(job: Job, peer: Peer, seconds: float, device: Device) -> tuple[dict[str, Any] | str, Any]:
    """What came of a peer (why it is absent, if it is), and its result, None where it has none.

    Of several ways the fastest counts; what became of the others is said.
    """
    failed: dict[str, str] = {}
    best: tuple[Times, str, Any] | None = None
    try:
        with within(seconds):
            if reason := peer.absent():
                return reason, None
            ways = peer.ways(job)
    except Exception as error:
        return {"failed": brief(error)}, None
    if not ways:
        return "not written for this program", None
    for way, made in ways.items():
        try:
            with within(seconds):
                times, result = _timed(peer, made, device)
            if best is None or times.seconds < best[0].seconds:
                best = times, way, result
        except Exception as error:  # a peer's fault is a line of its own
            failed[way] = brief(error)
        gc.collect()
        _freed(peer)
    if best is None:
        return {"failed": "; ".join(f"{way}: {text}" for way, text in failed.items())}, None
    times, way, result = best
    row = {"us": _us(times.seconds), "in a row us": _us(times.in_a_row), "way": way, "timed by": times.how}
    return row | ({"other ways": failed} if failed else {}), result


def _timed(peer: Peer, made: Callable[[], Call], device: Device) -> tuple[Times, Any]:
    """A call's times and its result on the host; nothing keeps the library's arrays.

    It is compiled while other processes may use the device, and timed when none does.
    """
    call = made()
    result = peer.host(call())
    with alone(device):
        return peer.times(call), result


def _freed(peer: Peer) -> None:
    try:
        peer.free()
    except Exception as error:  # memory that is not given back is no reason to stop
        print(f"{peer.name} keeps its memory: {brief(error)}", flush=True)


def _expected(job: Job, program: Any, results: dict[str, Any], seconds: float) -> tuple[Any, str]:
    """The result that all are held against: NumPy's where it takes part, else the first peer's that is another's, too.

    Where no two agree it is computed by NumPy.  TimeoutError: NumPy takes longer than `seconds`.
    """
    if "numpy" in results:
        return results["numpy"], "numpy"
    names = list(results)
    for i, name in enumerate(names[:-1]):  # egglift's comes last
        if any(_differs(program, results[name], results[other]) is None for other in names[i + 1 :]):
            return results[name], name
    with within(seconds):
        return job.numpy(**job.inputs), "numpy"


def _differs(program: Any, expected: Any, actual: Any) -> str | None:
    """`difference`, of results that are compared in places only where they are large."""
    try:
        return difference(program, _some(expected), _some(actual))
    except Exception as error:  # other shapes, or another number of results
        return brief(error)


def _some(value: Any) -> tuple[Any, ...]:
    parts = [np.asarray(part).reshape(-1) for part in flatten(value)]
    return tuple(part[:: max(1, part.size // COMPARED)] for part in parts)


def _ratios(ours: Times, rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    right = {name: row for name, row in rows.items() if row.get("right")}
    if not right:
        return {}
    best = min(right, key=lambda name: right[name]["us"])
    row = min(r["in a row us"] for r in right.values())
    return {
        "best peer": best,
        RATIO: round(right[best]["us"] / (1e6 * ours.seconds), 3),
        IN_A_ROW: round(row / (1e6 * ours.in_a_row), 3),
    }


def _us(seconds: float) -> float:
    return round(1e6 * seconds, 2)
