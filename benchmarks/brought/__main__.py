"""Programs that users bring, of public kinds for which nothing was tuned, beside NumPy (CPU) or torch (GPU).

    python -m benchmarks.brought [--scale small|cpu|gpu] [--device NAME] [NAME ...]

Prints a line of JSON for each program, then one that counts them by the ratio of the best peer's time to egglift's.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import get_args

from benchmarks.brought.lines import line, summary
from benchmarks.brought.program import Scale
from benchmarks.brought.programs import chosen
from egglift.codegen.device.device import open_device
from egglift.ir.errors import DeviceError


def main() -> int:
    """The command line; exit status 1 where a result was wrong, or there was none."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.brought", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these programs only")
    parser.add_argument("--scale", choices=get_args(Scale), help="how large (default: as the device's kind)")
    parser.add_argument("--device", help="a part of a device's name")
    given = parser.parse_args()
    try:
        wanted, device = chosen(given.names), open_device(given.device)
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    lines = []
    for b in wanted:
        lines.append(line(b, given.scale or device.kind, device))
        print(json.dumps(lines[-1]), flush=True)
    counts = summary(lines)
    print(json.dumps(counts))
    return 1 if counts["wrong"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
