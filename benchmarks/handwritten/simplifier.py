"""What simplifying indices is worth: the same low-level programs with the simplifier and without, in one run.

    python -m benchmarks.handwritten.simplifier [NAME ...] [--scale small|cpu|gpu] [--device NAME] [--out FILE.json]

The programs are the derived kernels of the literature (benchmarks/handwritten), generated twice.  A line of JSON each:
microseconds, operations of all indices that are quotients and remainders, and whether both are right.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmarks.brought.program import Scale
from benchmarks.handwritten.convolutions import KERNELS
from benchmarks.handwritten.kernel import Subject, as_they_are
from benchmarks.handwritten.lines import Ours, fastest, plans_of
from benchmarks.handwritten.reductions import DERIVED, SUM
from benchmarks.programs.catalogue import Size, size_text
from benchmarks.setting import Record, setting
from egglift.codegen.device.device import Device, open_device
from egglift.codegen.kernel.index import as_written
from egglift.ir.errors import DeviceError, EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr

#: by name, a program and its low-level term at a size
TERMS: dict[str, tuple[Subject, Callable[[Size], Expr]]] = {
    **{name: (SUM, lambda size, form=form: form(*size)) for name, form in DERIVED.items()},  # type: ignore[misc]
    **{k.name: (k.subject, k.derived) for k in KERNELS if k.derived},
}


def lines(names: list[str], scale: Scale, device: Device) -> Iterator[dict[str, Any]]:
    """A line for each of these programs, or for all."""
    known: dict[str, Ours] = {}
    for name, (subject, term) in TERMS.items():
        if names and name not in names:
            continue
        if subject.name not in known:
            known = {subject.name: _subject(subject, subject.size(scale))}
        yield {"program": name, "size": size_text(subject.size(scale))} | line(term, known[subject.name], device)


def line(term: Callable[[Size], Expr], found: Ours, device: Device) -> dict[str, Any]:
    """Both of one program."""
    try:
        plain = plans_of(term(found.size), device)
        with as_written():
            written = plans_of(term(found.size), device)
    except EggliftError as error:
        return {"failed": " ".join(str(error).split())[:300]}
    arrays = as_they_are(found.inputs)
    timed = [fastest(plans, arrays, found, device) for plans in (plain, written)]
    times = [t.seconds for t in timed]
    wrong = next((t.wrong for t in timed if t.wrong), "")
    return {
        "us": times[0] and round(1e6 * times[0], 2),
        "as written us": times[1] and round(1e6 * times[1], 2),
        **({"times as long": round(times[1] / times[0], 2)} if times[0] and times[1] else {}),
        "divisions": divisions(plain[0][0].source),
        "as written divisions": divisions(written[0][0].source),
        "right": not wrong,
        **({"wrong": wrong} if wrong else {}),
    }


def divisions(source: str) -> int:
    """Quotients and remainders in a kernel's text, but for comments."""
    return len(re.findall(r" [/%] ", re.sub(r"//.*", "", source)))


def _subject(subject: Subject, size: Size) -> Ours:
    """What both versions are checked and timed with."""
    inputs = subject.inputs(*size, np.random.default_rng(0))
    return Ours(size, as_program(subject.program(*size)), inputs, subject.reference(**inputs), 1.0, "", None)


def main() -> int:
    """The command line; exit status 1 where a result was wrong, or there was no code."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.handwritten.simplifier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *TERMS], help=", ".join(TERMS))
    parser.add_argument("--scale", choices=get_args(Scale), help="how large (default: as the device's kind)")
    parser.add_argument("--device", help="a part of a device's name")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the results are kept, as JSON")
    given = parser.parse_args()
    try:
        device = open_device(given.device)
    except DeviceError as error:
        parser.error(" ".join(str(error).split()))
    scale = given.scale or device.kind
    record = Record(setting(device) | {"scale": scale}, given.out)
    for found in lines(given.names, scale, device):
        record.add(found)
    return 0 if all(row.get("right") for row in record.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
