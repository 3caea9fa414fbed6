"""The tables of docs/results, made from raw results: a function for each, by its name in the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from benchmarks.line import Line
from benchmarks.published import Published
from benchmarks.ranking import figures
from benchmarks.report import row as suite_row
from benchmarks.tables import peers, search
from benchmarks.tables.behind import behind
from benchmarks.tables.raw import lines, number, raw, rows_of, source, table
from benchmarks.tables.scaling import scaling
from benchmarks.tables.unseen import unseen
from benchmarks.tiling import table as tiling_table
from egglift.costmodel.profiles.profile import presets


def torch() -> str:
    """59 programs beside torch on an H200."""
    rows = [
        (p["program"], f"{p['us']:.1f}", f"{p['torch_us']:.1f}", f"{p['torch_compile_us']:.1f}")
        + (number(p["times_torch"]), f"{p['optimize_s']:.1f}", p["run"])
        for p in lines("nvidia_h200_schedules")
    ]
    head = ("program", "us", "torch us", "torch.compile us", "times torch's speed", "optimize, s", "run")
    return f"{source('nvidia_h200_schedules')}\n\n{table(head, rows)}"


def numpy() -> str:
    """21 programs beside NumPy on PoCL."""
    rows = [
        (p["program"], f"{p['us']:.1f}", f"{p['numpy_us']:.1f}", number(p["times_numpy"]), f"{p['optimize_s']:.1f}")
        for p in lines("pocl_schedules")
    ]
    head = ("program", "us", "NumPy us", "times NumPy's speed", "optimize, s")
    return f"{source('pocl_schedules')}\n\n{table(head, rows)}"


def streams() -> str:
    """Vectors of 2^28 on an H200."""
    rows = [
        (p["program"], f"{p['GB/s']:.0f}", number(p["of copy"]), number(p["ratio to torch"]), _first(p))
        for p in lines("nvidia_h200")
    ]
    head = ("program", "GB/s", "of the copy", "times torch's speed", "the model's first choice takes")
    copy = f"The copy: {raw('nvidia_h200')['copy GB/s']} GB/s."
    return f"{source('nvidia_h200')}\n\n{copy}\n\n{table(head, rows)}"


def products() -> str:
    """Products and all pairs on an H200."""
    peak = 2 * presets()["nvidia_h200"].issue_rate / 1e12
    rows = [
        (p["program"], p["size"], number(p["TFLOP/s"], 1), number(p["ratio to torch"]))
        + (number(p["TFLOP/s"] / peak), _first(p))
        for p in lines("nvidia_h200_tiles")
    ]
    head = ("program", "size", "TFLOP/s", "times torch's speed", "of the FMA peak", "the model's first choice takes")
    said = f"The FMA peak is that of the preset `nvidia_h200`, {peak:.1f} TFLOP/s."
    return f"{source('nvidia_h200_tiles')}\n\n{said}\n\n{table(head, rows)}"


def stencils() -> str:
    """Stencils on an H200."""
    rows = [
        (p["program"], p["size"], f"{1e6 * p['seconds']:.0f}", f"{p['GB/s']:.0f}", number(p["of copy"]))
        + (number(p["ratio to torch"]), _first(p))
        for p in lines("nvidia_h200_stencils")
    ]
    head = ("program", "size", "us", "GB/s", "of the copy", "times torch's speed", "the model's first choice takes")
    return f"{source('nvidia_h200_stencils')}\n\n{table(head, rows)}"


def stencils_pocl() -> str:
    """Stencils on PoCL, with local memory and without."""
    return f"{source('pocl_stencils')}\n\n{_headless(tiling_table(lines('pocl_stencils')))}"


def tiling() -> str:
    """The same on an H200."""
    return f"{source('nvidia_h200_stencils')}\n\n{_headless(tiling_table(lines('nvidia_h200_stencils')))}"


def ablation() -> str:
    """Groups of laws switched off."""
    found = list(rows_of("nvidia_h200_ablation"))
    programs = list(dict.fromkeys(r["program"] for r in found))
    times = {(r["without"], r["program"]): r["times as long"] for r in found}
    off = dict.fromkeys(r["without"] for r in found if r["without"] != "nothing")
    rows = sorted(
        ((name, *(times.get((name, p), "") for p in programs)) for name in off), key=lambda r: -max(map(_float, r[1:]))
    )
    known = source("nvidia_h200_ablation", device="NVIDIA H200", driver="580.159.04")
    return f"{known}\n\n{table(('without', *programs), rows)}"


def every_length() -> str:
    """Programs of vectors beside NumPy, at 2^20 and 2^24."""
    ratios = {(r["program"], r["length"]): r["ratio"] for r in rows_of("pocl_verify")}
    programs = dict.fromkeys(program for program, _ in ratios)
    lengths = ("1", "1000", "4097", "1048576", "16777216")
    rows = [(p, *(ratios.get((p, n), "") for n in lengths)) for p in programs]
    known = source("pocl_verify", device="two cores of an AMD EPYC", driver="PoCL 3.0", versions="NumPy 2.4")
    return f"{known}\n\nTimes NumPy's speed at lengths of\n\n{table(('program', *lengths), rows)}"


def suite_pocl() -> str:
    """The suite on an AMD EPYC."""
    return _suite("suite/pocl_all", ("numpy", "numexpr", "numba"))


def suite_programs() -> str:
    """Six programs beside all peers on an Intel Xeon."""
    return _suite("suite/pocl_programs", ("numpy", "numexpr", "numba", "clblast"))


def suite_gpu() -> str:
    """The suite on an H100."""
    return _suite("suite/gpu_programs", ("torch",))


def ranking_h100() -> str:
    """Estimates and times of candidates on an H100."""
    return _ranking("h100_ranking")


def ranking_pocl() -> str:
    """The same on PoCL."""
    return _ranking("pocl_ranking")


def growth() -> str:
    """Seconds of each stage over the size of the program."""
    rows = [
        (p["kind"], str(p["size"]), f"{p['rows']:,}", f"{p['nodes']:,}")
        + tuple(f"{p[stage]:.2f}" for stage in ("saturation", "extraction", "search"))
        + (str(p["structures"]), p["stopped"])
        for p in lines("growth")
    ]
    head = (
        "grows",
        "size",
        "rows",
        "nodes",
        "saturation, s",
        "extraction, s",
        "16 sizes, s",
        "structures",
        "stopped by",
    )
    return f"{source('growth', device='two cores')}\n\n{table(head, rows)}"


def handwritten_gpu() -> str:
    """Kernels by hand on an H200."""
    return peers.handwritten("nvidia_h200")


def handwritten_cpu() -> str:
    """The same on PoCL."""
    return peers.handwritten("pocl")


def fair_gpu() -> str:
    """Programs beside all peers on an H200."""
    return peers.fair("nvidia_h200")


def fair_cpu() -> str:
    """The same on PoCL."""
    return peers.fair("pocl")


def simplifier_gpu() -> str:
    """Indices simplified and not, on an H200."""
    return search.simplifier("nvidia_h200")


def simplifier_cpu() -> str:
    """The same on PoCL."""
    return search.simplifier("pocl")


def switched_gpu() -> str:
    """Tiles, local memory and schedules switched off, on an H200."""
    return search.switched("nvidia_h200")


def switched_cpu() -> str:
    """The same on PoCL."""
    return search.switched("pocl")


#: by name in the pages
MADE: Mapping[str, Callable[[], str]] = {
    f.__name__.replace("_", "-"): f
    for f in (torch, numpy, streams, products, stencils, stencils_pocl, tiling, ablation, every_length, suite_pocl)
    + (suite_programs, suite_gpu, ranking_h100, ranking_pocl, growth, behind, unseen, scaling)
    + (handwritten_gpu, handwritten_cpu, fair_gpu, fair_cpu, peers.summary)
    + (simplifier_gpu, simplifier_cpu, switched_gpu, switched_cpu, search.phases, search.efficiency)
}


def _first(p: Mapping[str, Any]) -> str:
    """How long the model's first choice takes, beside the best."""
    first = p.get("first choice seconds")
    return f"{first / p['seconds']:.2f}x" if first else ""


def _float(text: str) -> float:
    return float(text or 0)


def _headless(text: str) -> str:
    """A table without the device above it, which its source says."""
    return text[text.index("|") :]


def _suite(name: str, kinds: tuple[str, ...]) -> str:
    head = ("program", "size", "us", "of the floor", *(f"x {k}" for k in kinds), "Lift over its baselines", "result")
    body = "\n".join(suite_row(_line(p), kinds) for p in lines(name))
    return f"{source(name)}\n\n{table(head, ())}\n{body}"


def _line(p: Mapping[str, Any]) -> Line:
    """A line of the suite as it was written; older ones have fewer fields, and Lift's ratios alone."""
    match p.get("lift"):
        case {"least": least, "most": most, "baselines": baselines}:
            published = Published(least, most, tuple(baselines))
        case [least, most]:
            published = Published(least, most, ())
        case _:
            published = None
    kept = {key: value for key, value in p.items() if key in Line.__dataclass_fields__ and key != "lift"}
    return Line(**kept, lift=published)


def _ranking(name: str) -> str:
    found = [(p, figures([(e, s) for e, s, *_ in p["all"] if s])) for p in lines(name)]
    keys = ("rank", "first", "until", "ordered")
    middle = {key: median(f[key] for _, f in found) for key in keys}
    rows = [(p["program"], p["size"], str(len(p["all"])), *_ranks(f)) for p, f in found]
    rows.append((f"median of {len(found)}", "", f"{sum(len(p['all']) for p, _ in found):,}", *_ranks(middle)))
    head = (
        "program",
        "size",
        "candidates",
        "rank correlation",
        "first choice takes",
        "until within 5%",
        "far pairs right",
    )
    return f"{source(name)}\n\n{table(head, rows)}"


def _ranks(f: Mapping[str, Any]) -> tuple[str, ...]:
    return f"{f['rank']:.2f}", f"{f['first']:.2f}x", f"{f['until']:g}", f"{f['ordered']:.2f}"
