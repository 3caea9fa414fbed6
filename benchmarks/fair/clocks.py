"""How calls are timed.  What is small is timed as many in a row, on all sides."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.demo import best
from benchmarks.fair.peer import Call, Times
from egglift.codegen.device.device import opencl

#: calls in a row, at most; seconds that these should take, at most; calls from which on launching is no matter
ROW, ROW_SECONDS, SMALL = 20, 0.05, 300e-6
WARM, TIMED = 2, 9
#: launches that queue up
QUEUED = 100
#: seconds of a call from which on one is enough
LONG = 0.5
#: bytes that the device fills, and how often, while launches queue up behind that: some milliseconds
FILLED, FILLS = 1 << 28, 100


def in_a_row(once: Callable[[int], float]) -> float:
    """Seconds of a call: `once(n)` runs n in a row, and says how long all took.  Of what takes long, of one call."""
    first = once(1)
    if first >= LONG:
        return first
    estimate = min(first, *(once(1) for _ in range(WARM - 1)))
    count = max(1, min(ROW, int(ROW_SECONDS / max(estimate, 1e-9))))
    return median(once(count) for _ in range(TIMED)) / count


def host_times(call: Call) -> Times:
    """By the host's clock, of a call that returns when all is done."""
    seconds = best(call)
    return Times(seconds, seconds, "calls")


def torch_times(call: Call) -> Times:
    """By CUDA's events; of small ones, 20 calls as a CUDA graph, too."""
    import torch

    def once(count: int, run: Call = call) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            run()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) * 1e-3

    call()
    torch.cuda.synchronize()
    row = in_a_row(once)
    if row > SMALL:
        return Times(row, row, "calls in a row")
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(ROW):
                call()
        seconds = in_a_row(lambda count: once(count, graph.replay)) / ROW
    except Exception as error:  # what a graph cannot hold says so in many ways
        return Times(row, row, f"calls in a row, as no graph holds it: {brief(error)}")
    return Times(min(seconds, row), row, f"a graph of {ROW} calls")


def cupy_times(call: Call) -> Times:
    """By CUDA's events on a stream of CuPy's; of small ones, 20 calls as a CUDA graph, too."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)

    def once(count: int, run: Call = call) -> float:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record(stream)
        for _ in range(count):
            run()
        end.record(stream)
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(start, end)) * 1e-3

    cupy.cuda.Device().synchronize()
    with stream:
        call()
        row = in_a_row(once)
        if row > SMALL:
            return Times(row, row, "calls in a row")
        try:
            stream.begin_capture()
            try:
                for _ in range(ROW):
                    call()
            finally:
                graph = stream.end_capture()
            seconds = in_a_row(lambda count: once(count, lambda: graph.launch(stream))) / ROW
        except Exception as error:  # what a graph cannot hold says so in many ways
            return Times(row, row, f"calls in a row, as no graph holds it: {brief(error)}")
    return Times(min(seconds, row), row, f"a graph of {ROW} calls")


def jax_times(call: Call) -> Times:
    """By the host's clock: many calls in a row, which JAX gives to the device without waiting, until all are done."""
    import jax

    def once(count: int) -> float:
        start = perf_counter()
        results = [call() for _ in range(count)]
        jax.block_until_ready(results)
        return perf_counter() - start

    jax.block_until_ready(call())
    row = in_a_row(once)
    return Times(row, row, "calls in a row, by the host's clock")


def our_times(kernel: Any, inputs: dict[str, Any]) -> Times:
    """Of egglift's kernel: the device's clock of its launches; and many launches in a row, by the host's clock.

    On GPUs small ones are launches that queued up behind other work, as peers' are a graph of 20.
    """
    seconds = kernel.profile(**inputs).seconds
    launch = _bound(kernel, inputs)
    row = max(in_a_row(lambda count: _launched(kernel, launch, count)), seconds)
    if kernel.device.kind == "gpu" and seconds <= SMALL:
        queued = _queued(kernel, launch)
        if queued >= seconds / 2:  # else the host was busy with something else
            return Times(min(queued, row), row, f"{QUEUED} launches that queued up")
    return Times(seconds, row, "the device's clock")


def _bound(kernel: Any, inputs: dict[str, Any]) -> Call:
    """A call of the kernel whose inputs and result are on the device."""
    import pyopencl.array as arrays

    def there(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(there(part) for part in value)
        return arrays.to_device(kernel.device.queue, value) if getattr(value, "shape", ()) else value

    return kernel.bind(**{name: there(value) for name, value in inputs.items()})  # type: ignore[no-any-return]


def _launched(kernel: Any, launch: Call, count: int, first: Callable[[], None] = lambda: None) -> float:
    """Seconds of what is given to the device `first`, and of `count` launches, until all are done."""
    kernel.device.finish(kernel.device.queue)
    start = perf_counter()
    first()
    for _ in range(count):
        launch()
    kernel.device.finish(kernel.device.queue)
    return perf_counter() - start


def _queued(kernel: Any, launch: Call) -> float:
    """Seconds of one of many launches behind other work, which lasts until all are given.

    By the host's clock, as the kernel's queue has none: what more launches take than few, each at their fastest, as a
    busy host only adds to both.
    """
    cl, queue = opencl(), kernel.device.queue
    filled = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, FILLED)

    def behind() -> None:
        for _ in range(FILLS):
            cl.enqueue_fill_buffer(queue, filled, bytes(4), 0, FILLED)

    _launched(kernel, launch, 1, behind)  # from now on the memory that is filled is there
    few, many = (min(_launched(kernel, launch, n, behind) for _ in range(TIMED)) for n in (ROW, ROW + QUEUED))
    return (many - few) / QUEUED


def brief(error: BaseException) -> str:
    """An error in a line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]
