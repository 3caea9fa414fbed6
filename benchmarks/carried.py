"""Programs saturated on one machine, measured on another: rates beside a copy kernel's and torch's.

    python benchmarks/carried.py prepare OUT.json [--profile nvidia_h100] [PROGRAM:SIZE ...]
    python benchmarks/carried.py run OUT.json [--device NAME] [--table RESULT.json]

A program at a size is written `matmul:4096,4096,4096` or `nbody:65536`; SUITE without any.

`prepare` needs no device: it writes the best candidates' terms as text.  `run` searches nothing: it compiles each
candidate, checks it against the interpreter, times it, and prints one line per program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    from egglift.costmodel.search.sizes import Point

POINTS, TRIES = 4, 32
#: 2^28 floats each
SUITE = (*(f"{name}:268435456" for name in ("asum", "dot", "scal", "axpy", "vec_sum")), "gemv:16384")
#: seconds of measuring for each program
BUDGET = 40.0
#: what a candidate's status may be without it having failed
TRIED = ("ok", "skipped")

# ---------------------------------------------------------------------------------------- without a device


def prepare(
    out: Path,
    profile_name: str,
    wanted: Sequence[str],
    points: int = POINTS,
    naive: bool = False,
    drawn: int = 0,
) -> None:
    """Saturate, extract and price; the best candidates of each program go to `out` as JSON.

    drawn: so many candidates of each, most of them random, instead of the best.
    """
    from benchmarks.programs.catalogue import chosen, size_text

    jobs = []
    for e, size in chosen(wanted or SUITE, lambda e: e.sizes[-1]):
        job = {"name": e.name, "size": size_text(size)}
        value = e.program(*size)
        job |= random(value, profile_name, drawn) if drawn else best(value, profile_name, points=points, naive=naive)
        job["operations"] = e.operations(*size) if e.operations else None
        rows = job["candidates"]
        first = f"best estimate {rows[0]['estimate'] * 1e6:.1f} us" if rows else ""
        print(f"{e.name:24} {size_text(size):>14} {len(rows):4} candidates, {first}", flush=True)
        jobs.append(job)
    out.write_text(json.dumps(jobs))


def best(
    value: Any,
    profile_name: str,
    without: Sequence[str] = (),
    structures: int | None = None,
    points: int = POINTS,
    tries: int = TRIES,
    naive: bool = False,
) -> dict[str, Any]:
    """A program and its candidates by rising estimate, all as text; `without` some laws.

    naive: the program as it stands comes last.
    """
    from egglift.codegen.compile import compile_term
    from egglift.codegen.kernel.imperative import Launch
    from egglift.costmodel.model.estimate import estimate
    from egglift.costmodel.profiles.profile import presets
    from egglift.costmodel.search.sizes import Search, varied
    from egglift.egraph.extraction.extract import Extractor
    from egglift.egraph.extraction.weights import weights
    from egglift.egraph.saturation.saturate import saturate
    from egglift.ir.lifting import as_program
    from egglift.ir.text import dumps

    profile, program = presets()[profile_name], as_program(value)
    limits = profile.limits
    graph = saturate(program, disabled=without).graph
    candidates = [
        _as_text(structure.sign, p)
        for structure in Extractor(graph, weights(profile)).run()[:structures]
        for p in varied(Search(structure.term, graph.symbols, profile, limits).run(tries), points)
    ]
    candidates.sort(key=lambda c: c["estimate"])
    if naive:
        seconds = estimate(compile_term(program, Launch(), limits), profile).seconds
        launch = [Launch().group_size, Launch().max_groups, 1]
        plain = {"structure": "naive", "term": dumps(program), "sizes": {}, "launch": launch, "estimate": seconds}
        candidates.append(plain)
    return {"program": dumps(program), "candidates": candidates}


def random(value: Any, profile_name: str, count: int) -> dict[str, Any]:
    """A program and `count` candidates by rising estimate, most of them drawn at random, all as text."""
    from benchmarks.draws import sampled
    from egglift.costmodel.profiles.profile import presets
    from egglift.ir.lifting import as_program
    from egglift.ir.text import dumps

    profile, program = presets()[profile_name], as_program(value)
    found = [_as_text(sign, p) for sign, p in sampled(program, profile, profile.limits, count)]
    return {"program": dumps(program), "candidates": sorted(found, key=lambda c: c["estimate"])}


def _as_text(structure: str, p: Point) -> dict[str, Any]:
    """A candidate as JSON takes it."""
    from egglift.ir.text import dumps

    launch = [p.launch.group_size, p.launch.max_groups, p.launch.swizzle]
    return {
        "structure": structure,
        "term": dumps(p.term),
        "sizes": dict(p.sizes),
        "launch": launch,
        "estimate": p.estimate.seconds,
    }


# ---------------------------------------------------------------------------------------- on the device


def run(
    path: Path,
    device_name: str | None,
    table: Path | None,
    flags: Sequence[str],
    budget: float = BUDGET,
    builders: int = 0,
) -> None:
    """Measure every candidate of the file and print the best beside the baselines.

    builders: processes that build all kernels meanwhile, for a driver that keeps what it built on disk (0: none).
    """
    from egglift.codegen.device.device import open_device

    jobs, results = json.loads(path.read_text()), list[dict[str, Any]]()
    with ProcessPoolExecutor(max(builders, 1), mp_context=get_context("spawn")) as pool:
        waiting = [
            [pool.submit(built, c["term"], c["launch"], device_name, flags) for c in job["candidates"]]
            for job in (jobs if builders else ())
        ]
        device = open_device(device_name)
        copy = copy_rate(device)
        print(f"{device.name}, driver {device.driver}: float4 copy {copy / 1e9:.0f} GB/s", flush=True)
        for i, job in enumerate(jobs):
            if builders:
                wait(waiting[i])
            line = measured(job, device, copy, flags, budget=budget)
            print(text(line), flush=True)
            results.append(line)
            if table:  # after each: a run that is stopped keeps what it has
                table.write_text(json.dumps(results))


def built(term: str, launch: Sequence[int], device_name: str | None, flags: Sequence[str]) -> None:
    """Builds a candidate for the driver's cache; what is wrong with it is found again when it is measured."""
    from egglift.codegen.compile import compile_term
    from egglift.codegen.device.execute import build
    from egglift.codegen.kernel.imperative import Launch
    from egglift.ir.errors import EggliftError
    from egglift.ir.parser import loads

    device = _opened(device_name)
    with suppress(EggliftError):
        build(device, compile_term(loads(term), Launch(*launch), device.limits), flags)


@cache
def _opened(device_name: str | None) -> Any:
    """A builder's own device."""
    from egglift.codegen.device.device import open_device

    return open_device(device_name)


def measured(
    job: dict[str, Any], device: Any, copy: float, flags: Sequence[str], library: bool = True, budget: float = BUDGET
) -> dict[str, Any]:
    """What became of a program: its fastest candidate beside copy and torch, and all others' times."""
    from benchmarks.baselines import COMPILED, torch_seconds
    from egglift.codegen.compile import compile_term
    from egglift.codegen.kernel.imperative import Launch
    from egglift.costmodel.measurement.bench import Subject
    from egglift.costmodel.measurement.expected_results import expect
    from egglift.costmodel.measurement.measure import measure
    from egglift.costmodel.measurement.measuring import Measuring
    from egglift.ir.errors import CodegenError
    from egglift.ir.parser import loads

    program, rows, plans = loads(job["program"]), [], []
    for c in job["candidates"]:
        with suppress(CodegenError):  # it was made for a device that allows more
            plans.append(compile_term(loads(c["term"]), Launch(*c["launch"]), device.limits))
            rows.append(c)
    expected = expect(program)
    subject, here = Subject(job["program"], options=tuple(flags)), Measuring(budget=budget, isolate=False)
    measurements = measure(plans, subject, device, here, expected=expected)
    line: dict[str, Any] = {
        "program": job["name"],
        "size": job["size"],
        "device": device.name,
        "driver": device.driver,
        "measured": sum(m.seconds is not None for m in measurements),
        "candidates": len(rows),
        "failed": [
            f"{c['structure']}: {m.status} {m.reason}" for c, m in zip(rows, measurements) if m.status not in TRIED
        ],
        "all": [
            [c["estimate"], m.seconds, c["structure"], c["sizes"], c["launch"], m.build_seconds]
            for c, m in zip(rows, measurements)
        ],
    }
    times = [(m.seconds, i) for i, m in enumerate(measurements) if m.seconds is not None]
    if not times:
        return line
    seconds, i = min(times)
    other = torch_seconds(job["name"], expected.inputs) if library else None
    if library and job["name"] in COMPILED:
        line["torch.compile seconds"] = torch_seconds(job["name"], expected.inputs, compiled=True)
    rate = traffic(program) / seconds
    return line | {
        "seconds": seconds,
        "GB/s": rate / 1e9,
        "of copy": rate / copy,
        "TFLOP/s": job["operations"] / seconds / 1e12 if job["operations"] else None,
        "torch seconds": other,
        "ratio to torch": other / seconds if other else None,
        "structure": rows[i]["structure"],
        "sizes": rows[i]["sizes"],
        "launch": rows[i]["launch"],
        "first choice seconds": measurements[0].seconds,
        "source": plans[i].source,
    }


def text(line: dict[str, Any]) -> str:
    """The result as a line, and behind it the first few failures."""
    head = f"{line['program']:24} {line['size']:>14}"
    count = f"{line['measured']}/{line['candidates']} ok"
    failures = "".join(f"\n    {reason[:300]}" for reason in line["failed"][:3])
    if "seconds" not in line:
        return f"{head} no candidate ran ({count}){failures}"
    rate = f"{line['TFLOP/s']:7.2f} TFLOP/s" if line["TFLOP/s"] else f"{line['GB/s']:7.0f} GB/s"
    first, ratio = line["first choice seconds"], line["ratio to torch"]
    model = f"{first / line['seconds']:.2f}x" if first else "failed"
    compiled = line.get("torch.compile seconds")
    joined = f" ({compiled / line['seconds']:.2f} of torch.compile)" if compiled else ""
    parts = (
        f"{head} {rate}",
        f"{line['of copy']:.2f} of copy",
        f"{ratio:.2f} of torch{joined}" if ratio else "no torch",
        f"model's first {model}",
        count,
        f"{line['structure']} {line['sizes']} {line['launch']}",
    )
    return "  ".join(parts) + failures


def traffic(program: Any) -> int:
    """Bytes that a program must move: every input read once, every output written once."""
    from egglift.ir.check import type_of
    from egglift.ir.signature import inputs_of
    from egglift.ir.sizes import evaluate
    from egglift.ir.types import leaves

    parts = [leaf for t in (*inputs_of(program).values(), type_of(program)) for leaf in leaves(t)]
    return sum(scalar.size * int(np.prod([evaluate(n) for n in shape], dtype=np.int64)) for shape, scalar in parts)


COPY = """kernel void copy(global const float4* restrict a, global float4* restrict b) {
  const size_t i = get_global_id(0); b[i] = a[i]; }"""


def copy_rate(device: Any, n: int = 1 << 28) -> float:
    """Bytes per second, read and written, of a float4 copy of 4n bytes."""
    import pyopencl as cl

    a, b = (cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 4 * n) for _ in range(2))
    kernel = cl.Kernel(cl.Program(device.context, COPY).build(), "copy")
    cl.enqueue_fill_buffer(device.timer, a, np.float32(0.7), 0, 4 * n)
    times = []
    for _ in range(12):
        event = kernel(device.timer, (n // 4,), (256,), a, b)
        event.wait()
        times.append((event.profile.end - event.profile.start) * 1e-9)
    return 8 * n / median(times[2:])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("file", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM:SIZE", help="for prepare: what to prepare")
    parser.add_argument("--profile", default="nvidia_h100", help="for prepare: the device that prices candidates")
    parser.add_argument("--points", type=int, default=POINTS, help="for prepare: choices of sizes of each structure")
    parser.add_argument("--naive", action="store_true", help="for prepare: the program as it stands, too")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="for prepare: random candidates instead")
    parser.add_argument("--budget", type=float, default=BUDGET, help="for run: seconds of measuring for each program")
    parser.add_argument("--builders", type=int, default=0, help="for run: processes that build ahead")
    parser.add_argument("--device", help="for run: a part of a device's name")
    parser.add_argument("--fast-math", action="store_true", help="for run: allow less exact functions")
    parser.add_argument("--table", type=Path, help="for run: where to write all figures as JSON")
    args = parser.parse_intermixed_args()
    from egglift.codegen.device.device import FAST_MATH

    if args.what == "prepare":
        prepare(args.file, args.profile, args.programs, args.points, args.naive, args.random)
    else:
        run(args.file, args.device, args.table, FAST_MATH if args.fast_math else (), args.budget, args.builders)


if __name__ == "__main__":
    main()
