"""What each optimisation is worth: the best program with one group of laws switched off at a time.

    python benchmarks/ablation.py prepare OUT.json [--profile nvidia_h200] PROGRAM:SIZE ...
    python benchmarks/ablation.py run OUT.json [--device NAME] [--table RESULT.md]

As carried.py: `prepare` needs no device, `run` searches nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.carried import best, measured
from benchmarks.programs.catalogue import chosen, size_text

STRUCTURES, POINTS, TRIES = 3, 3, 12
#: what is switched off: a name, and the laws that make it
SWITCHES: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "blocks for work-groups": ("block", "block-row", "split-k", "split-row"),
    "interchange of map and fold": (
        "interchange-outer",
        "interchange-outer-into",
        "interchange-row",
        "interchange-row-into",
        "split-row",
    ),
    "tiles for work-items": ("tile-outer", "tile-row"),
    "chunks of the fold": ("fold-split", "split-k", "split-row"),
    "local memory": ("to-local", "increase", "prefetch"),
    "padding of local rows": ("increase",),
    "prefetching": ("prefetch",),
    "registers for operands": ("to-private",),
    "unrolling": ("fold-unroll", "map-seq-unroll"),
    "splitting the sum over work-groups": ("split-k", "split-row"),
    "packing": ("pack",),
    "vectors": ("vectorise-map", "vectorise-reduce", "map-vec"),
}


def prepare(out: Path, profile: str, wanted: Sequence[str]) -> None:
    """The best few candidates of each program for each switch go to `out` as JSON."""
    jobs = []
    for e, size in chosen(wanted, lambda e: e.sizes[-1]):
        operations = e.operations(*size) if e.operations else None
        for name, laws in SWITCHES.items():
            job = best(e.program(*size), profile, laws, STRUCTURES, POINTS, TRIES)
            jobs.append({"name": e.name, "size": size_text(size), "without": name, "operations": operations, **job})
            print(f"{e.name} {size_text(size)} without {name}: {len(job['candidates'])} candidates", flush=True)
    out.write_text(json.dumps(jobs))


def run(path: Path, device_name: str | None, table: Path | None) -> None:
    """Measure all, and print how much longer each program takes without each group of laws."""
    from egglift.codegen.device.device import open_device

    device = open_device(device_name)
    lines = [f"{device.name}, driver {device.driver}", ""]
    lines += ["| program | without | ms | times as long |", "|---|---|---|---|"]
    whole = 0.0
    for job in json.loads(path.read_text()):
        seconds = measured(job, device, 1.0, (), library=False).get("seconds")
        if job["without"] == "nothing":
            whole = seconds or 0.0
        ratio = f"{seconds / whole:.2f}" if seconds and whole else "none ran"
        lines.append(f"| {job['name']} {job['size']} | {job['without']} | {1e3 * (seconds or 0):.3f} | {ratio} |")
        print(lines[-1], flush=True)
    if table:
        table.write_text("\n".join(lines) + "\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("file", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM:SIZE", help="for prepare: what to prepare")
    parser.add_argument("--profile", default="nvidia_h200", help="for prepare: the device that prices candidates")
    parser.add_argument("--device", help="for run: a part of a device's name")
    parser.add_argument("--table", type=Path, help="for run: where to write the table")
    args = parser.parse_intermixed_args()
    if args.what == "prepare":
        prepare(args.file, args.profile, args.programs)
    else:
        run(args.file, args.device, args.table)


if __name__ == "__main__":
    main()
