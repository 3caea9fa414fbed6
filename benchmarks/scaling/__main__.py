"""Programs on one device and on all, data in place: how much of linear scaling is reached.

    python -m benchmarks.scaling [--devices N] [--small] [--seconds S] [--out FILE.json] [NAME ...]

A line of JSON for each program, at once: seconds of a call by the host's clock, until all devices are done, on one
device and on N (default: all there are); `of linear`, the one over N times the other; whether the results are equal;
and who takes part where the model chooses.  After S seconds no program is begun.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import egglift as el
from benchmarks.scaling.programs import PROGRAMS, Shared
from benchmarks.setting import Record, setting
from egglift.codegen.device.device import open_device
from egglift.distribution.containers import Container

LEAST, LONG = 3, 1.0  # calls that are timed, and seconds that they take together
SAMPLED = 1000  # numbers of a result that are compared


def main() -> int:
    """The command line; exit status 1 where results differ."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.scaling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs whose names begin so")
    parser.add_argument("--devices", type=int, metavar="N", help="how many (default: all)")
    parser.add_argument("--small", action="store_true", help="sizes that a test takes")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="S")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    devices = list(range(len(el.devices())))[: given.devices]
    if len(devices) < 2:
        parser.error('there is one device only; POCL_DEVICES="pthread pthread" makes two of a processor')
    start, record = time.monotonic(), Record(setting(open_device()) | {"devices": len(devices)}, given.out)
    for shared in PROGRAMS:
        named = not given.names or any(shared.name.lower().startswith(n.lower()) for n in given.names)
        if named and time.monotonic() - start < given.seconds:
            record.add(line(shared, devices, given.small))
    return 0 if all(found["equal"] for found in record.lines) else 1


def line(shared: Shared, devices: Sequence[int], small: bool) -> dict[str, Any]:
    """What is printed for one program."""
    size, steps = (shared.small, min(shared.steps, 4)) if small else (shared.size, shared.steps)
    program, arrays = shared.make(size, steps), shared.inputs(size)
    one, several = (el.optimize(program, devices=ds, distribution="block") for ds in (devices[:1], devices))
    (alone, expected), (seconds, result) = _timed(one, arrays), _timed(several, arrays)
    return {
        "program": shared.name,
        "size": size,
        "one, s": alone,
        "several, s": seconds,
        "of linear": round(alone / (len(devices) * seconds), 3),
        "equal": bool(np.allclose(expected, result, rtol=1e-3, atol=1e-3 * float(np.abs(expected).max()))),
        "chosen": str(el.optimize(program, devices=list(devices)).explain()).splitlines()[0],
    }


def _timed(kernel: Any, arrays: Mapping[str, Any]) -> tuple[float, Any]:
    """Seconds of a call with data in place, and some of a result."""
    held = {name: el.Vector(a) if a.ndim == 1 else el.Matrix(a) for name, a in arrays.items()}

    def call() -> Any:
        found = kernel(**held)
        parts = found if isinstance(found, tuple) else (found,)
        return [part.wait() if isinstance(part, Container) else part for part in parts]

    call()  # brings the data there
    times = [_seconds(call)]
    while len(times) < LEAST or (sum(times) < LONG and len(times) < 100):
        times.append(_seconds(call))
    return min(times), np.concatenate([_some(part) for part in call()])


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _some(result: Any) -> Any:
    """Some numbers of a result, spread over all of it."""
    flat = np.asarray(result).reshape(-1)
    return flat[:: max(1, flat.size // SAMPLED)]


if __name__ == "__main__":
    sys.exit(main())
