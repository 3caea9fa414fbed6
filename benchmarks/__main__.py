"""`python -m benchmarks run`: the benchmark suite."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

from benchmarks.peers import PEERS
from benchmarks.programs.catalogue import chosen
from benchmarks.suite import run
from benchmarks.suites import SUITES, programs
from egglift.codegen.device.device import open_device
from egglift.ir.errors import ClusterError, DeviceError


def main() -> int:
    """The command line; exit status 1 where a result was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="run a suite")
    one.add_argument("programs", nargs="*", metavar="PROGRAM[:SIZE]", help="these instead of a suite")
    one.add_argument("--suite", choices=sorted(SUITES), default="vectors")
    one.add_argument("--device", help="a part of a device's name")
    one.add_argument("--against", default="numpy", help=f"comma-separated: {', '.join(PEERS)}")
    one.add_argument("--out", type=Path, default=Path("results"))
    one.add_argument("--cluster", metavar="ADDRESS", help='search on a dask cluster: its scheduler, or "local"')
    one.add_argument("--jobs", type=int, default=0, help="processes that search ahead, for a GPU (default: none)")
    one.add_argument("--known", action="store_true", help="rates that are known of the device, not measured anew")
    given = parser.parse_args()
    against = [kind for kind in given.against.split(",") if kind]
    if unknown := [kind for kind in against if kind not in PEERS]:
        parser.error(f"--against {','.join(unknown)}: choose from {', '.join(PEERS)}")
    try:
        device = open_device(given.device)
        wanted = list(chosen(given.programs or programs(given.suite, device.kind), lambda e: e.sizes[-1]))
    except (ValueError, DeviceError) as error:
        parser.error(" ".join(str(error).split()))
    name = f"{'pocl' if device.kind == 'cpu' else 'gpu'}_{'programs' if given.programs else given.suite}"
    try:
        lines = run(name, wanted, device, against, given.out, given.cluster, given.jobs, not given.known)
    except ClusterError as error:
        parser.error(str(error))
    ratios = [line.peers["numpy"] / line.seconds for line in lines if line.seconds and "numpy" in line.peers]
    if ratios:
        print(f"median of the ratios to NumPy: {median(ratios):.2f}; results in {given.out}")
    return 0 if all(line.result == "equal" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
