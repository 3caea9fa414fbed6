"""Programs that were written by somebody who had not seen the compiler, beside NumPy (CPU) or torch (GPU).

    python -m benchmarks.unseen [--scale small|gpu] [--device NAME] [--jobs N] [--out FILE.json] [NAME ...]

Prints a line of JSON at once for each program, then one that counts them by the ratio of the best peer's time to
egglift's.  With --jobs, several processes search side by side, and one at a time has the device to itself when it
measures.  FILE gets all lines, the device and the versions.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from benchmarks.brought.lines import summary
from benchmarks.brought.program import Scale
from benchmarks.setting import Record, setting
from benchmarks.unseen.programs import chosen
from benchmarks.unseen.side_by_side import lines_of
from egglift.codegen.device.device import open_device
from egglift.ir.errors import DeviceError


def main() -> int:
    """The command line; exit status 1 where a result was wrong, or there was none."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.unseen", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these programs only")
    parser.add_argument("--scale", choices=("small", "gpu"), help="how large (default: small beside a CPU)")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many processes search side by side")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    try:
        names, device = [u.name for u in chosen(given.names)], open_device(given.device)
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    if given.jobs < 1:
        parser.error("--jobs is at least 1")
    warnings.simplefilter("ignore")
    scale: Scale = given.scale or ("gpu" if device.kind == "gpu" else "small")
    record = Record(setting(device) | {"scale": scale, "jobs": given.jobs}, given.out)
    for found in lines_of(names, scale, device, given.jobs):
        record.add(found)
    counts = summary(record.lines)
    print(json.dumps(counts))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
