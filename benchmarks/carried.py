"""Programs saturated on one machine, measured on another: bandwidth beside a copy kernel's and torch's.

    python benchmarks/carried.py prepare OUT.json [--profile nvidia_h100] [--size 268435456]
    python benchmarks/carried.py run OUT.json [--device NAME] [--table RESULT.json]

`prepare` needs egglog and no device: it writes the best candidates' terms as text.  `run` needs a device and no
egglog: it compiles each candidate, checks it against the interpreter, times it, and prints one line per program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

STRUCTURES, POINTS = 8, 7


def suite(n: int) -> dict[str, Any]:
    """The programs of the run, at `n` elements (gemv: a square matrix of `n` elements)."""
    from benchmarks.programs import asum, axpy, dot, gemv, scal, vec_sum

    side = int(n**0.5)
    return {
        "asum": asum.program(n), "dot": dot.program(n), "scal": scal.program(n), "axpy": axpy.program(n),
        "vec_sum": vec_sum.program(n), "gemv": gemv.program(side),
    }  # fmt: skip


def prepare(out: Path, profile_name: str, n: int) -> None:
    """Saturate, extract and price; the best candidates of each program go to `out` as JSON."""
    from egglift.codegen.imperative import Limits
    from egglift.costmodel.profile import presets
    from egglift.costmodel.search import Search, varied
    from egglift.egraph.extract import Extractor
    from egglift.egraph.saturate import saturate
    from egglift.egraph.weights import weights
    from egglift.ir.lifting import as_program
    from egglift.ir.text import dumps

    profile, jobs = presets()[profile_name], []
    limits = Limits(compute_units=profile.compute_units, warp=profile.warp)
    for name, value in suite(n).items():
        program = as_program(value)
        graph = saturate(program).graph
        candidates = []
        for found in Extractor(graph, weights(profile)).run()[:STRUCTURES]:
            for p in varied(Search(found.term, graph.symbols, profile, limits).run(40), POINTS):
                candidates.append(
                    {
                        "structure": found.sign, "term": dumps(p.term), "sizes": dict(p.sizes),
                        "group_size": p.launch.group_size, "max_groups": p.launch.max_groups,
                        "estimate": p.estimate.seconds,
                    }
                )  # fmt: skip
        candidates.sort(key=lambda c: c["estimate"])
        jobs.append({"name": name, "n": n, "program": dumps(program), "candidates": candidates})
        print(f"{name:10} {len(candidates):4} candidates, best estimate {candidates[0]['estimate'] * 1e6:.1f} us")
    out.write_text(json.dumps(jobs))


def run(path: Path, device_name: str | None, table: Path | None) -> None:
    """Measure every candidate of the file and print the best beside the baselines."""
    from egglift.codegen.compile import compile_term
    from egglift.codegen.imperative import Launch
    from egglift.codegen.runtime import open_device
    from egglift.costmodel.check import expect
    from egglift.costmodel.measure import measure
    from egglift.ir.text import loads

    device = open_device(device_name)
    copy = copy_rate(device)
    print(f"{device.name}, driver {device.driver}: float4 copy {copy / 1e9:.0f} GB/s")
    results: list[dict[str, Any]] = []
    for job in json.loads(path.read_text()):
        program = loads(job["program"])
        rows = job["candidates"]
        plans = [
            compile_term(loads(c["term"]), Launch(c["group_size"], c["max_groups"]), device.limits) for c in rows
        ]
        found = measure(plans, program, device, expected=expect(program), budget_seconds=60)
        moved = traffic(job["name"], job["n"])
        times = [(m.seconds, i) for i, m in enumerate(found) if m.seconds is not None]
        bad = [f"{rows[i]['structure']}: {m.status} {m.reason}" for i, m in enumerate(found) if m.status != "ok"]
        if not times:
            print(job["name"], "no candidate ran", bad[:3])
            continue
        seconds, best = min(times)
        torch_seconds = torch_time(job["name"], job["n"])
        rate = moved / seconds
        line = {
            "program": job["name"], "device": device.name, "driver": device.driver, "n": job["n"],
            "seconds": seconds, "GB/s": rate / 1e9, "of copy": rate / copy,
            "torch seconds": torch_seconds, "ratio to torch": torch_seconds / seconds if torch_seconds else None,
            "structure": rows[best]["structure"], "sizes": rows[best]["sizes"], "group": rows[best]["group_size"],
            "first choice seconds": found[0].seconds, "measured": len(times), "failed": bad,
            "all": [[c["estimate"], m.seconds, c["structure"], c["sizes"]] for c, m in zip(rows, found, strict=True)],
            "source": plans[best].source,
        }  # fmt: skip
        results.append(line)
        ratio = f"{line['ratio to torch']:.2f} of torch" if torch_seconds else "no torch"
        first = f"{found[0].seconds / seconds:.2f}x" if found[0].seconds else "failed"
        print(
            f"{job['name']:8} {rate / 1e9:7.0f} GB/s  {rate / copy:.2f} of copy  {ratio}  model's first {first}  "
            f"{len(times)}/{len(rows)} ok  {rows[best]['structure']} {rows[best]['sizes']} {rows[best]['group_size']}",
            flush=True,
        )
        for text in bad[:3]:
            print("   ", text[:300])
    if table:
        table.write_text(json.dumps(results, indent=1))


def traffic(name: str, n: int) -> int:
    """Bytes that the program must move: every input read once, every output written once."""
    side = int(n**0.5)
    floats = {"asum": n, "vec_sum": n, "dot": 2 * n, "scal": 2 * n, "axpy": 3 * n, "gemv": side * side + 2 * side}
    return 4 * floats[name]


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


def torch_time(name: str, n: int) -> float | None:
    """Median seconds of torch's equivalent by CUDA events; None without torch or a GPU."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    side = int(n**0.5)
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    v = torch.rand(side, device="cuda")
    calls: dict[str, Callable[[], Any]] = {
        "asum": lambda: torch.linalg.vector_norm(x, ord=1),
        "vec_sum": lambda: torch.sum(x),
        "dot": lambda: torch.dot(x, y),
        "scal": lambda: torch.mul(x, 3.0, out=y),
        "axpy": lambda: y.add_(x, alpha=1e-6),
        "gemv": lambda: torch.mv(x[: side * side].view(side, side), v),
    }
    times = []
    for i in range(14):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        calls[name]()
        end.record()
        torch.cuda.synchronize()
        if i > 2:
            times.append(start.elapsed_time(end) * 1e-3)
    return float(median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--profile", default="nvidia_h100")
    parser.add_argument("--size", type=int, default=1 << 28)
    parser.add_argument("--device")
    parser.add_argument("--table", type=Path)
    args = parser.parse_args()
    if args.what == "prepare":
        prepare(args.file, args.profile, args.size)
    else:
        run(args.file, args.device, args.table)


if __name__ == "__main__":
    main()
