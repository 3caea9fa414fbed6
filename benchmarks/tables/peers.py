"""Tables of programs beside their strongest peers: kernels by hand, libraries, and how many programs reach what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias

from benchmarks.brought.lines import RATIO
from benchmarks.handwritten.lines import RATIO as BY_HAND
from benchmarks.tables import unseen
from benchmarks.tables.raw import RESULTS, lines, number, source, table

#: devices as the pages call them, by what their files begin with
DEVICES = {"nvidia_h200": "H200", "pocl": "PoCL"}
NONE = "There is no raw data yet: the command above makes it."
#: shares of programs that reach so many times the best peer's speed
REACHED = (0.9, 1.0, 1.2)


def files(device: str, what: str) -> list[str]:
    """The files of results of a device: `pocl_fair`, and where a run was made in parts `pocl_fair_1`, ..."""
    return sorted(f.stem for f in RESULTS.glob(f"{device}_{what}*.json"))


def found(device: str, what: str) -> list[dict[str, Any]]:
    """Their lines; of a program that is in several files, the last; those that were left out come first."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    for file in files(device, what):
        for line in lines(file):
            key = tuple(str(line.get(k)) for k in ("kernel", "of", "program", "size"))
            if key not in kept or "left out" not in line:
                kept[key] = line
    return list(kept.values())


def _page(device: str, what: str, head: Sequence[str], row: Any) -> str:
    """Sources, the table, and of which programs there is no figure."""
    if not files(device, what):
        return NONE
    rows = found(device, what)
    told = "\n".join(f"{source(file)}" + "  " for file in files(device, what)).rstrip()
    made = table(head, [row(r) for r in rows if "us" in r])
    missing = [f"{_name(r)} ({r.get('failed') or r.get('left out')})" for r in rows if "us" not in r]
    return f"{told}\n\n{made}" + (f"\n\nNo figure: {'; '.join(missing)}." if missing else "")


# ---------------------------------------------------------------------------------------- by hand


def handwritten(device: str) -> str:
    """Kernels by hand beside egglift's."""
    head = (
        "kernel",
        "size",
        "by hand, us",
        "derived, us",
        "egglift, us",
        "times its speed",
        "by hand",
        "egglift",
        "right",
    )
    return _page(device, "handwritten", head, _by_hand_row)


def _by_hand_row(r: Mapping[str, Any]) -> tuple[str, ...]:
    unit = "GFLOP/s" if "egglift GFLOP/s" in r else "GB/s"
    rates = (f"{r[side + unit]:,.0f} {unit}" if side + unit in r else "" for side in ("", "egglift "))
    derived = r["derived us"] if isinstance(r.get("derived us"), float) else None
    name = f"{r['kernel']} (derived)" if r.get("derived") is True else r["kernel"]
    right = "yes" if r["right"] and r["egglift right"] else "no"
    return (name, r["size"], _us(r["us"]), _us(derived), _us(r["egglift us"]), number(r.get(BY_HAND)), *rates, right)


# ---------------------------------------------------------------------------------------- libraries


def fair(device: str) -> str:
    """Programs beside all peers: microseconds of each, the best peer's ratio, and which were absent."""
    rows = found(device, "fair")
    kinds = list(dict.fromkeys(name for r in rows for name in (*r.get("peers", {}), *r.get("absent", {}))))
    head = ("program", "of", "size", "egglift, us", *kinds, "best peer", "times its speed", "in a row", "right")

    def row(r: Mapping[str, Any]) -> tuple[str, ...]:
        cells = (_peer(r, kind) for kind in kinds)
        ratios = (number(r.get(RATIO)), number(r.get("of the best peer in a row")))
        right = "yes" if r["right"] else "no"
        return (r["program"], r["of"], r["size"], _us(r["us"]), *cells, r.get("best peer", ""), *ratios, right)

    return _page(device, "fair", head, row)


def _peer(r: Mapping[str, Any], kind: str) -> str:
    """A peer's microseconds, or why there are none."""
    said = r["peers"].get(kind)
    if said is None:
        reason = r["absent"].get(kind, "")
        return "not written" if reason.startswith("not written") else "absent" if reason else ""
    if "failed" in said:
        return "failed"
    return _us(said["us"]) if said.get("right") else f"{_us(said['us'])}, wrong"


# ---------------------------------------------------------------------------------------- all together


def summary() -> str:
    """Shares of programs at 0.9, 1.0 and 1.2 of the best peer, the median and the worst, per device."""
    head = ("device", "programs", "beside", "count", *(f"at {r} or more" for r in REACHED), "median", "the worst")
    groups = [*(group for device in DEVICES for group in groups_of(device)), *earlier_groups()]
    return table(head, [share(*group) for group in groups if group[3]])


#: device, programs, peers, and of each program its ratio to the best of them
Group: TypeAlias = tuple[str, str, str, list[tuple[str, float]]]


def groups_of(device: str) -> Iterator[Group]:
    """What there is of a device in the raw data of this module's tables."""
    name, measured = DEVICES[device], [r for r in found(device, "fair") if RATIO in r]
    peers = ", ".join(dict.fromkeys(kind for r in measured for kind in r["peers"]))
    ratios = [(r["of"], (r["program"], r[RATIO])) for r in measured]
    for of in ("catalogue", "brought", "cases"):
        yield name, of, peers, [pair for group, pair in ratios if group == of]
    yield name, "all of these", peers, [pair for _, pair in ratios]
    by_hand = [(r["kernel"], r[BY_HAND]) for r in found(device, "handwritten") if BY_HAND in r and r["right"]]
    yield name, "kernels by hand", "themselves", by_hand


def earlier_groups() -> Iterator[Group]:
    """What there is of runs with fewer peers."""
    torch = [(p["program"], p["times_torch"]) for p in lines("nvidia_h200_schedules")]
    yield "H200", "brought and cases", "torch, torch.compile", torch
    yield "H200", "written unseen, first run", "torch, torch.compile", unseen.first_ratios()
    yield "H200", "written unseen, after mending", "torch, torch.compile", unseen.latest_ratios()
    yield "PoCL", "brought and cases", "numpy", [(p["program"], p["times_numpy"]) for p in lines("pocl_schedules")]
    for file, name in (("pocl_all", "PoCL"), ("gpu_programs", "H100")):
        suite = [p for p in lines(f"suite/{file}") if p["peers"]]
        peers = ", ".join(dict.fromkeys(kind for p in suite for kind in p["peers"]))
        yield name, "the suite", peers, [(p["program"], _best(p)) for p in suite]


def _best(p: Mapping[str, Any]) -> float:
    return float(min(p["peers"].values()) / p["seconds"])


def share(device: str, programs: str, peers: str, ratios: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """A row of the summary."""
    values = [ratio for _, ratio in ratios]
    worst, least = min(ratios, key=lambda pair: pair[1])
    shares = (f"{sum(v >= limit for v in values) / len(values):.0%}" for limit in REACHED)
    return (device, programs, peers, str(len(values)), *shares, number(median(values)), f"{worst} {number(least)}")


def behind_peers() -> Iterator[tuple[str, str, str, str, float, str]]:
    """Device, program, size, peer, ratio and page of every figure of these pages."""
    for device, name in DEVICES.items():
        for r in found(device, "fair"):
            if RATIO in r:
                yield name, r["program"], r["size"], r["best peer"], r[RATIO], "fair.md"
        for r in found(device, "handwritten"):
            if BY_HAND in r and r["right"]:
                yield name, r["program"], r["size"], f"{r['kernel']}, by hand", r[BY_HAND], "handwritten.md"


def _name(r: Mapping[str, Any]) -> str:
    return str(r.get("kernel") or r["program"])


def _us(us: float | None) -> str:
    return "" if us is None else f"{us:,.1f}"
