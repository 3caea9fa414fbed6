"""Every program beside its strongest peers, in one run on one device.

    python -m benchmarks.fair [NAME ...] [--scale small|cpu|gpu] [--device NAME] [--peers NAME,...] [--part I/N]
                              [--seconds-limit N] [--peer-seconds N] [--jobs N] [--out FILE.json]

A NAME is a program's, or a group's: catalogue, brought, cases, or core, which is a few of all; `brought/sobel` where
both have one.  Beside a GPU the peers are torch, torch.compile, CuPy, JAX and Triton; beside a CPU NumPy, numexpr,
numba, torch, torch.compile and JAX.  Prints a line of JSON at once for every program, then one that counts; FILE gets
all lines, the device and the versions.  With --jobs, several processes search side by side, and one at a time has the
device to itself when it measures.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

from benchmarks.brought.lines import summary
from benchmarks.brought.program import Scale
from benchmarks.fair.job import chosen
from benchmarks.fair.lines import elsewhere, peers
from benchmarks.processes import spread
from benchmarks.setting import Record, setting
from egglift.codegen.device.device import open_device
from egglift.ir.errors import DeviceError

T = TypeVar("T")


def part(jobs: Sequence[T], text: str) -> list[T]:
    """`2/3`: every third, from the second on.  ValueError: it is no such text."""
    try:
        place, count = map(int, text.split("/"))
    except ValueError:
        raise ValueError(f"{text} is no part; write 1/3") from None
    if not 1 <= place <= count:
        raise ValueError(f"there is no part {text}; write 1/{max(count, 1)}")
    return list(jobs[place - 1 :: count])


def main() -> int:
    """The command line; exit status 1 where egglift's result was wrong, or there was none."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.fair", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these programs, or groups of them, only")
    parser.add_argument("--scale", choices=get_args(Scale), help="how large (default: as the device's kind)")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--peers", help="these peers only, by name, with commas")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every Nth program, from the Ith on")
    parser.add_argument("--seconds-limit", type=float, metavar="N", help="no program is begun after so many seconds")
    parser.add_argument("--peer-seconds", type=float, default=90.0, metavar="N", help="how long a peer may take")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many processes search side by side")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    try:
        device = open_device(given.device)
        scale = given.scale or device.kind
        wanted = part(chosen(given.names, scale), given.part)
        beside = peers(device.kind)
        if given.peers:
            known = {peer.name: peer for peer in beside}
            beside = tuple(known[name] for name in given.peers.split(","))
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    except KeyError as error:
        parser.error(f"there is no peer {error}; there are {', '.join(known)}")
    if given.jobs < 1:
        parser.error("--jobs is at least 1")
    warnings.simplefilter("ignore")
    named = [peer.name for peer in beside]
    record = Record(setting(device) | {"scale": scale, "peers": named, "jobs": given.jobs}, given.out)
    end = time.time() + given.seconds_limit if given.seconds_limit else None
    work = partial(elsewhere, scale=scale, device=device.name, beside=named, seconds=given.peer_seconds, end=end)
    keys = [job.key for job in wanted]
    for found in map(work, keys) if given.jobs == 1 else spread(work, keys, given.jobs):
        record.add(found)
    measured = [row for row in record.lines if "left out" not in row]
    counts = summary(measured) | {"left out": len(record.lines) - len(measured)}
    print(json.dumps(counts))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
