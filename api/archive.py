"""`egglift records`: merge, prune and export records, and try the present model on them."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.journal import KeptMeasurement, lines_of
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.maintenance import merged, replay, rewrite, t4
from egglift.costmodel.records.records import Record
from egglift.ir.errors import EggliftError, RecordError
from egglift.ir.parser import loads
from egglift.memory import measurements_path, rules
from egglift.report import table


def add(command: argparse.ArgumentParser) -> None:
    """The arguments of `egglift records`."""
    what = command.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, text in (
        ("merge", "put the records of several files into one; of a program the last file's counts"),
        ("prune", "drop what is of other versions of egglift, of a device, or before a day; also single measurements"),
        ("export", "write all candidates in the T4 auto-tuning result format"),
        ("replay", "price the recorded candidates anew and say how well the model ranks them"),
    ):
        one = what.add_parser(name, help=text, description=f"{text}.")
        one.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files of records (default: the cache's)")
        if name in ("merge", "export"):
            one.add_argument("--out", type=Path, required=True)
        if name == "prune":
            one.add_argument("--stale", action="store_true", help="those of other versions of egglift")
            one.add_argument("--device", help="those of devices with this in their name")
            one.add_argument("--before", metavar="YYYY-MM-DD", help="those from before a day")
        if name == "replay":
            one.add_argument("--profile", help="the preset to price with (default: by the device's kind)")


def run(arguments: argparse.Namespace) -> int:
    """Runs `egglift records WHAT`."""
    files = arguments.files or [_own()]
    match arguments.what:
        case "merge":
            rewrite(arguments.out, merged(files))
        case "prune":
            for path in files:
                rewrite(path, [r for r in merged([path]) if not _dropped(r, arguments)])
            if not arguments.files and (kept := measurements_path()) and kept.is_file():
                rewrite(kept, [m for m in lines_of(kept) if not _dropped(m, arguments)])
        case "export":
            write_json(arguments.out, t4(merged(files)))
        case "replay":
            _replay(merged(files), arguments)
    return 0


def _own() -> Path:
    folder = cache_folder()
    if folder is None:
        raise RecordError("the cache is off (EGGLIFT_CACHE=off): name a file of records")
    return folder / "records.jsonl"


def _dropped(r: Record | KeptMeasurement, arguments: argparse.Namespace) -> bool:
    """Is the record or measurement one of those to be dropped?"""
    return bool(
        (arguments.stale and r.rules != rules())
        or (arguments.device and arguments.device.lower() in r.device.lower())
        or (arguments.before and r.when < arguments.before)
    )


def write_json(path: Path, data: Any) -> None:
    """Writes plain data; RecordError where the disk does not take it."""
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from error


def _replay(records: list[Record], arguments: argparse.Namespace) -> None:
    known = presets()
    if arguments.profile and arguments.profile not in known:
        raise RecordError(f"there is no preset {arguments.profile}; there are {', '.join(known)}")
    rows = []
    for r in records:
        profile = known[arguments.profile] if arguments.profile else _profile(r.device)
        rows += replay([r], partial(price, profile=profile))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    head = ("candidates", "rank correlation", "first choice", "until within 5%", "device", "program")
    lines = [(str(r.count), f"{r.rank:.2f}", f"{r.first:.2f}x", str(r.until), r.device, r.program[:60]) for r in rows]
    print(table([head, *lines], right=(0, 1, 2, 3)))


def _profile(device: str) -> Profile:
    """The preset of a device by its name; that of a generic GPU or of PoCL for others."""
    known = presets()
    same = [p for p in known.values() if p.name.lower() == device.lower()]
    return same[0] if same else known["generic_gpu" if "nvidia" in device.lower() else "pocl_cpu"]


def price(candidate: dict[str, Any], profile: Profile) -> float | None:
    """Seconds of a recorded candidate by the present model; None where it cannot be compiled any more."""
    try:
        plan = compile_term(loads(candidate["term"]), Launch(**candidate["launch"]), profile.limits)
        return estimate(plan, profile).seconds
    except (EggliftError, KeyError, TypeError, ValueError):  # of another version, or anyone's
        return None
