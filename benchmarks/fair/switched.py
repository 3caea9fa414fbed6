"""What tiles, local memory and schedules are worth: programs optimised with all there is, and without, in one run.

    python -m benchmarks.fair.switched [PROGRAM ...] [--scale small|cpu|gpu] [--device NAME] [--out FILE.json]

A line of JSON for each program: microseconds with all laws and schedules, with laws alone, without those that keep
something in local memory, and without any that cuts an array into tiles.  Every candidate is checked as usual.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import egglift as el
from benchmarks.brought.program import Scale
from benchmarks.fair.job import Job, chosen
from benchmarks.setting import Record, setting
from egglift.codegen.device.device import Device, open_device
from egglift.egraph.rules.phases import laws_in
from egglift.ir.errors import DeviceError, EggliftError
from egglift.options import SCHEDULES

PROGRAMS = ("matmul-f32", "stencil_2d", "nbody", "cases/transpose", "pair_distances-squared", "convolution_17-given")
LOCAL = ("to-local", "increase", "prefetch")


def switches() -> dict[str, Sequence[str]]:
    """By name, what is left out."""
    return {
        "all": (),
        "laws alone": (SCHEDULES,),
        "no local memory": (SCHEDULES, *LOCAL),
        "no tiles": (SCHEDULES, *laws_in("tile")),
    }


def line(job: Job, device: Device) -> dict[str, Any]:
    """Microseconds of the best kernel for each switch, and how many times as long as with all."""
    found: dict[str, Any] = {"program": job.key, "size": job.size_text}
    program = job.program()
    for name, without in switches().items():
        try:
            kernel = el.optimize(program, device, without=without)
            found[f"{name} us"] = round(1e6 * kernel.profile(**job.inputs).seconds, 2)
            found[f"{name} structure"] = kernel.chosen.structure
        except EggliftError as error:
            found[f"{name} failed"] = " ".join(str(error).split())[:300]
    whole = found.get("all us")
    ratios = {
        f"{n}, times as long": round(found[f"{n} us"] / whole, 2) for n in switches() if whole and f"{n} us" in found
    }
    return found | {name: ratio for name, ratio in ratios.items() if not name.startswith("all,")}


def main() -> int:
    """The command line; exit status 1 where there was no kernel."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.fair.switched", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help=f"default: {', '.join(PROGRAMS)}")
    parser.add_argument("--scale", choices=get_args(Scale), help="how large (default: as the device's kind)")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    try:
        device = open_device(given.device)
        scale = given.scale or device.kind
        wanted = chosen(given.names or PROGRAMS, scale)
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    record = Record(setting(device) | {"scale": scale}, given.out)
    for job in wanted:
        record.add(line(job, device))
    return 0 if all("all us" in row for row in record.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
