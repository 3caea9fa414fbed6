"""Where a peer is faster, or a floor far: every such figure of the raw results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.tables.peers import behind_peers
from benchmarks.tables.raw import lines, number, rows_of, table
from benchmarks.tables.unseen import latest_ratios

#: a peer's time over ours from which on both are alike: torch's own times vary by some 5% between runs
ALIKE = 0.95

#: peers, as they are spelt
SPELT = {"numpy": "NumPy", "clblast": "CLBlast"}


@dataclass(frozen=True)
class Behind:
    """A program for which a peer took so many times (below 1) our time."""

    device: str
    program: str
    size: str
    peer: str
    times: float
    page: str


def behind() -> str:
    """All of them, the farthest behind first; those of short vectors by program."""
    found = sorted((b for b in figures() if b.times < 1), key=lambda b: b.times)
    rows = [(b.device, b.program, b.size, b.peer, number(b.times), f"[table]({b.page})") for b in found]
    head = ("device", "program", "size", "peer", "times its speed", "")
    alike = sum(b.times >= ALIKE for b in found)
    said = (
        f"{len(found)} figures are below 1, of which {alike} are {ALIKE} or more: times vary by some 5% between runs."
    )
    return f"{said}\n\n{table(head, rows)}\n\n{short_vectors()}"


def figures() -> Iterator[Behind]:
    """Every ratio to a peer in the raw results but those of pocl_verify.md."""
    for p in lines("nvidia_h200_schedules"):
        yield Behind("H200", p["program"], "", "torch", p["times_torch"], "torch.md")
    for p in lines("pocl_schedules"):
        yield Behind("PoCL, EPYC", p["program"], "", "NumPy", p["times_numpy"], "numpy.md")
    for name, page in (
        ("nvidia_h200", "streams"),
        ("nvidia_h200_tiles", "products"),
        ("nvidia_h200_stencils", "stencils"),
    ):
        for p in lines(name):
            if p["ratio to torch"]:
                yield Behind(
                    "H200", p["program"], str(p.get("size") or p["n"]), "torch", p["ratio to torch"], f"{page}.md"
                )
    for program, times in latest_ratios():
        yield Behind("H200", program, "", "torch", times, "unseen.md")
    for device, program, size, peer, times, page in behind_peers():
        yield Behind(device, program, size, peer, times, page)
    for name, device in (("pocl_all", "PoCL, EPYC"), ("pocl_programs", "PoCL, Xeon"), ("gpu_programs", "H100")):
        for p in lines(f"suite/{name}"):
            for peer, seconds in p["peers"].items():
                yield Behind(device, p["program"], p["size"], SPELT.get(peer, peer), seconds / p["seconds"], "suite.md")


def short_vectors() -> str:
    """Of programs of vectors at eleven lengths, those at which NumPy is faster."""
    slower: dict[str, list[str]] = {}
    for row in rows_of("pocl_verify"):
        if float(row["ratio"]) < 1:
            slower.setdefault(row["program"], []).append(f"{row['length']} ({row['ratio']})")
    rows = [(program, ", ".join(lengths)) for program, lengths in slower.items()]
    count = sum(map(len, slower.values()))
    said = f"On PoCL, EPYC, NumPy is faster at {count} pairs of a program and a length, as rounded"
    made = table(("program", "lengths at which NumPy is faster (times its speed)"), rows)
    return f"{said} ([every length](every-length.md)):\n\n{made}"
