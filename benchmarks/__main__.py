"""`python -m benchmarks run`: the benchmark suite."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.suite import PEERS, SUITES, run


def main() -> int:
    """The command line; exit status 1 where a result was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="run a suite")
    one.add_argument("--suite", choices=sorted(SUITES), default="vectors")
    one.add_argument("--device", help="a part of a device's name")
    one.add_argument("--against", default="numpy", help=f"comma-separated: {', '.join(PEERS)}")
    one.add_argument("--out", type=Path, default=Path("results"))
    given = parser.parse_args()
    against = [kind for kind in given.against.split(",") if kind]
    if unknown := [kind for kind in against if kind not in PEERS]:
        parser.error(f"--against {','.join(unknown)}: choose from {', '.join(PEERS)}")
    lines = run(given.suite, given.device, against, given.out)
    return 0 if all(line.result == "equal" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
