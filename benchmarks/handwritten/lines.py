"""What comes of a kernel by hand: its time beside egglift's for the same program in one run, each checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import egglift as el
from benchmarks.brought.program import Inputs, Scale
from benchmarks.demo import difference
from benchmarks.handwritten.kernel import Arrays, ByHand, Subject, as_they_are
from benchmarks.handwritten.reductions import DERIVED, SUM
from benchmarks.programs.catalogue import Size, size_text
from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import Device
from egglift.codegen.device.execute import build
from egglift.codegen.kernel.imperative import Launch, Plan
from egglift.ir.errors import EggliftError
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr

#: work-items of a group that a derived kernel is tried with
GROUPS = (64, 128, 256, 512, 1024)
RATIO = "of the kernel by hand"
#: the kernel behind which the derived sums are shown
DERIVED_AFTER = "reduce6"


@dataclass(frozen=True)
class Timed:
    """The fastest right one of several plans: its seconds and how it is launched; wrong: what any of them did wrong."""

    seconds: float | None
    how: str
    wrong: str = ""


@dataclass(frozen=True)
class Ours:
    """egglift's kernel for a subject at a size, and what both are checked and timed with."""

    size: Size
    program: Expr
    inputs: Inputs
    expected: Any
    seconds: float
    structure: str
    difference: str | None


def ours(subject: Subject, size: Size, device: Device) -> Ours:
    """Optimises the program of a subject, checks it and times it.  EggliftError where it has no kernel."""
    program = as_program(subject.program(*size))
    inputs = subject.inputs(*size, np.random.default_rng(0))
    expected = subject.reference(**inputs)
    kernel = el.optimize(program, device)
    found = difference(program, expected, kernel(**inputs))
    return Ours(size, program, inputs, expected, kernel.profile(**inputs).seconds, kernel.chosen.structure, found)


def lines(kernels: Sequence[ByHand], scale: Scale, device: Device) -> Iterator[dict[str, Any]]:
    """A line for each kernel as soon as it is measured; the program of a subject is optimised once."""
    known: dict[str, Ours | EggliftError] = {}
    for kernel in kernels:
        subject = kernel.subject
        size = subject.size(scale)
        head = {"kernel": kernel.name, "program": subject.name, "size": size_text(size)}
        if subject.name not in known:
            try:
                known = {subject.name: ours(subject, size, device)}  # one at a time: their arrays are large
            except EggliftError as error:
                known = {subject.name: error}
        found = known[subject.name]
        if isinstance(found, EggliftError):
            yield head | {"failed": _brief(found)}
            continue
        yield head | line(kernel, found, device)
        if kernel.name == DERIVED_AFTER:
            yield from (derived_line(name, found, device) for name in DERIVED)


def line(kernel: ByHand, found: Ours, device: Device) -> dict[str, Any]:
    """Microseconds of both, the ratio of the time by hand to egglift's, right or wrong, rates of both."""
    arrays = kernel.layout(found.inputs)
    ways = kernel.ways(found.size, device)
    plans = [(kernel.plan(way, found.size, arrays), _told(way.macros, way.calls[-1].group)) for way in ways]
    by_hand = fastest(plans, arrays, found, device)
    return {
        **_beside(by_hand, found),
        **(_derived(kernel.derived(found.size), found, device) if kernel.derived else {}),
        **_rates(kernel.subject, by_hand, found),
        "launched": by_hand.how,
        "structure": found.structure,
        **({"wrong": by_hand.wrong} if by_hand.wrong else {}),
    }


def derived_line(name: str, found: Ours, device: Device) -> dict[str, Any]:
    """One of the derived sums of the literature, as egglift generates it; their lengths are powers of two."""
    (n,) = found.size
    head = {"kernel": name, "program": SUM.name, "size": size_text(found.size)}
    if n % 512:
        return head | {"failed": f"{name} is a program for multiples of 512, not {n}"}
    try:
        timed = fastest(plans_of(DERIVED[name](n), device), as_they_are(found.inputs), found, device)
    except EggliftError as error:
        return head | {"failed": _brief(error)}
    return head | _beside(timed, found) | _rates(SUM, timed, found) | {"launched": timed.how, "derived": True}


def _derived(term: Expr, found: Ours, device: Device) -> dict[str, Any]:
    """The same kernel as a low-level term, as egglift generates it."""
    try:
        timed = fastest(plans_of(term, device), as_they_are(found.inputs), found, device)
    except EggliftError as error:
        return {"derived failed": _brief(error)}
    wrong = {"derived wrong": timed.wrong} if timed.wrong else {}
    return {"derived us": _us(timed.seconds), "derived right": not timed.wrong, **wrong}


def plans_of(term: Expr, device: Device) -> list[tuple[Plan, str]]:
    """A low-level term with groups of several sizes; EggliftError where the device has no code for any."""
    found, refused = [], None
    for group in GROUPS:
        try:
            found.append((compile_term(term, Launch(group), device.limits), f"groups of {group}"))
        except EggliftError as error:
            refused = error
    if not found and refused:
        raise refused
    return found


def fastest(plans: Iterable[tuple[Plan, str]], arrays: Arrays, found: Ours, device: Device) -> Timed:
    """Checks and times every plan; a wrong or failing one makes the whole wrong, as no launch may be."""
    best, wrong = Timed(None, ""), ""
    given = {name: [device.upload(array)] for name, array in arrays.items()}
    for plan, how in plans:
        try:
            executable = build(device, plan)
            got = executable.run(given, poison=True)
            problem = difference(found.program, found.expected, tuple(got) if len(got) > 1 else got[0])
            seconds = executable.time(given, least=10, precision=0.005).seconds
        except EggliftError as error:
            problem, seconds = _brief(error), float("inf")
        if problem:
            wrong = wrong or f"{how}: {problem}"
        elif best.seconds is None or seconds < best.seconds:
            best = Timed(seconds, how)
    return Timed(best.seconds, best.how, wrong)


def _beside(by_hand: Timed, found: Ours) -> dict[str, Any]:
    ratio = {RATIO: round(by_hand.seconds / found.seconds, 3)} if by_hand.seconds else {}
    right = not by_hand.wrong and by_hand.seconds is not None
    return {
        "us": _us(by_hand.seconds),
        "egglift us": _us(found.seconds),
        **ratio,
        "right": right,
        "egglift right": found.difference is None,
        **({"egglift difference": found.difference} if found.difference else {}),
    }


def _rates(subject: Subject, by_hand: Timed, found: Ours) -> dict[str, float]:
    """GB/s and GFLOP/s, by hand and egglift's."""
    works = {"GB/s": subject.bytes(*found.size)}
    if subject.operations:
        works["GFLOP/s"] = subject.operations(*found.size)
    sides = {"": by_hand.seconds, "egglift ": found.seconds}
    return {
        f"{side}{unit}": round(work / seconds / 1e9, 1)
        for unit, work in works.items()
        for side, seconds in sides.items()
        if seconds
    }


def _told(macros: Mapping[str, int | str], group: Sequence[int]) -> str:
    chosen = [f"{name} {value}" for name, value in macros.items() if isinstance(value, int)]
    return ", ".join([*chosen, f"groups of {size_text(tuple(group))}"])


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else round(1e6 * seconds, 2)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def summary(found: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How many kernels there are, how many are wrong, and beside how many egglift's is as fast."""
    ratios = [row[RATIO] for row in found if RATIO in row]
    return {
        "kernels": len(found),
        "at least 0.9": sum(r >= 0.9 for r in ratios),
        "at least 1.2": sum(r >= 1.2 for r in ratios),
        "wrong": sum(not (row.get("right", True) and row.get("egglift right", True)) for row in found),
        "failed": sum("failed" in row for row in found),
    }
