"""Kernels by hand beside egglift's for the same programs, in one run on one device.

    python -m benchmarks.handwritten [NAME ...] [--scale small|cpu|gpu] [--device NAME] [--out FILE.json]

A NAME may be the beginning of several: reduce, md, convolution.  Prints a line of JSON for each kernel, then one that
counts; FILE gets the device, the versions and all lines.  Of the ways to launch a kernel by hand the fastest counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import get_args

from benchmarks.brought.program import Scale
from benchmarks.handwritten.catalogue import chosen
from benchmarks.handwritten.lines import lines, summary
from benchmarks.setting import Record, setting
from egglift.codegen.device.device import open_device
from egglift.ir.errors import DeviceError


def main() -> int:
    """The command line; exit status 1 where a result was wrong, or there was none."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.handwritten", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these kernels only")
    parser.add_argument("--scale", choices=get_args(Scale), help="how large (default: as the device's kind)")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    try:
        wanted, device = chosen(given.names), open_device(given.device)
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    scale = given.scale or device.kind
    record = Record(setting(device) | {"scale": scale}, given.out)
    for line in lines(wanted, scale, device):
        record.add(line)
    counts = summary(record.lines)
    print(json.dumps(counts))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
