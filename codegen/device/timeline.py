"""What devices do when: spans of time, and their text in Chrome's trace format (chrome://tracing, Perfetto)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from egglift.codegen.device.device import Device


@dataclass(frozen=True)
class Span:
    """Something that a device does: its place among the devices, what it is, its begin and length in seconds."""

    place: int
    name: str
    start: float
    seconds: float


@dataclass
class Trace:
    """Spans as they happen, from several threads; times count from when the trace was made."""

    spans: list[Span] = field(default_factory=list)
    begun: float = field(default_factory=time.perf_counter)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @contextmanager
    def span(self, place: int, device: Device, name: str) -> Iterator[None]:
        """What is given to a device inside is waited for, and is a span."""
        start = time.perf_counter()
        yield
        device.finish(device.queue)
        with self._lock:
            self.spans.append(Span(place, name, start - self.begun, time.perf_counter() - start))


def chrome_trace(spans: Sequence[Span], names: Mapping[int, str]) -> str:
    """Spans as the JSON text that chrome://tracing and Perfetto read: a row for each device, times in microseconds."""
    rows = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": place, "args": {"name": name}}
        for place, name in names.items()
    ]
    events = [
        {"name": s.name, "ph": "X", "pid": 0, "tid": s.place, "ts": 1e6 * s.start, "dur": 1e6 * s.seconds}
        for s in sorted(spans, key=lambda s: s.start)
    ]
    return json.dumps({"traceEvents": [*rows, *events], "displayTimeUnit": "ms"}, indent=1)
