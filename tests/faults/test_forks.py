"""Forked processes: what was not used before the fork works, all else says at once what to do.  Nothing hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.deep import sampled

#: seconds after which a process counts as hanging
PATIENCE = 600

HEAD = """
import multiprocessing, os, subprocess, sys, threading, time
import numpy as np
import egglift as el
from egglift.codegen.device.device import open_device
from egglift.egraph.saturation.subprocess_run import apart

x = el.array("x", el.f32, 1000)
given = np.arange(1000, dtype=np.float32)

def optimized(device="pocl", measure="none", **options):
    return el.optimize(x * 2.0, device, measure=measure, cache=False, **options)

def works(*_):
    return bool((optimized()(given) == 2 * given).all())

def tried(*calls):
    for call in calls:
        try:
            print(type(call()).__name__)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")

def forked(child):
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        child()
        sys.exit(0)  # not os._exit: what the parent has left here must not keep it from ending
    assert os.waitpid(process, 0)[1] == 0
"""


def output(code: str, folder: Path) -> list[str]:
    """The lines that a program prints; nothing may come on its standard error."""
    script = folder / "script.py"
    script.write_text(HEAD + code)
    run = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = run.communicate(timeout=PATIENCE)
    finally:
        with suppress(ProcessLookupError):  # those as well that it has forked, and that hang
            os.killpg(run.pid, signal.SIGKILL)
    assert (run.returncode, err) == (0, ""), err
    return out.splitlines()


BEFORE = ("", "import pyopencl", "import pyopencl; pyopencl.get_platforms()")


@pytest.mark.parametrize("before", sampled(BEFORE, lambda before: before != "import pyopencl"))
def test_after_an_import_alone_a_forked_process_optimises(before: str, tmp_path: Path) -> None:
    code = before + "\nforked(lambda: print(works(), optimized(measure='sample', measurements=2)(given)[3]))"
    assert output(code, tmp_path) == ["True 6.0"]


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_pool_of_any_kind_of_process_optimises(method: str, tmp_path: Path) -> None:
    code = f"""
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(works, range(2)))"""
    assert output(code, tmp_path) == ["[True, True]"]


ENTRIES = """
    optimized, el.devices, constant, lambda: kernel(given), lambda: kernel(there), lambda: kernel.profile(given),
    lambda: kernel.executable
"""

#: what processes do that are forked when kernels were called and bound; behind the last, no garbage is collected
AFTER_USE = {
    "entries": f"forked(lambda: tried({ENTRIES}))",
    "no device": """
forked(lambda: print(el.interpret(kernel.program, x=given)[3], "global float" in kernel.source, el.dumps(x)))""",
    "explained": "forked(lambda: tried(kernel.explain, lambda: kernel.chosen.laws))",
    "bound": "forked(lambda: tried(*launches))",
    "a pool": """
with multiprocessing.get_context("fork").Pool(2) as pool:
    tried(lambda: pool.map(called_at, range(2)))
    print(pool.map(interpreted, range(2)))""",
    "sent": """
with multiprocessing.get_context("fork").Pool(1) as pool:
    tried(lambda: pool.apply_async(called, (kernel,)).get(60), lambda: pool.apply_async(read, (kernel,)).get(60))""",
    "a cycle": """
import gc
gc.disable()
from egglog import bindings
class Ring: pass
ring = Ring(); ring.itself, ring.graph = ring, bindings.EGraph()
ring.graph.run_program(*ring.graph.parse_program("(datatype T (A i64)) (A 1)"))
del ring
forked(lambda: print(gc.collect() >= 0))""",
}
USED = """
import pyopencl.array
kernel, constant = optimized(), el.optimize(el.iota(8) * 2, "pocl", measure="none", cache=False)
kernel(given), constant()
there = pyopencl.array.to_device(kernel.device.queue, np.arange(1001, dtype=np.float32))[1:]
kernel(there).get()
launches = [kernel.bind(given), kernel.bind(there), kernel.bind(there, out=pyopencl.array.empty_like(there))]
for launch in launches: launch()
def called_at(i): return kernel(given)[i]
def interpreted(i): return float(el.interpret(kernel.program, x=given)[i])
def called(k): return k(given)
def read(k): return k.source
"""


@pytest.fixture(scope="module")
def after_use(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The lines that they print, by name."""
    code = "".join(f'print("--{name}", flush=True)\n{code}\n' for name, code in AFTER_USE.items())
    said: dict[str, list[str]] = {}
    for line in output(USED + code, tmp_path_factory.mktemp("used")):
        if line.startswith("--"):
            lines = said[line[2:]] = []
        else:
            lines.append(line)
    return said


def test_what_would_hang_after_opencl_was_used_says_so(after_use: dict[str, list[str]]) -> None:
    assert len(after_use["entries"]) == 7
    for line in after_use["entries"]:
        assert line.startswith("ForkError: this process was forked from one that had used OpenCL"), line
        assert 'multiprocessing.get_context("spawn")' in line


def test_an_e_graph_in_a_cycle_does_not_keep_a_fork_from_ending(after_use: dict[str, list[str]]) -> None:
    """To drop one, egglog asks threads that a forked process has not."""
    assert after_use["a cycle"] == ["True"]


def test_a_pool_that_is_forked_after_use_hands_the_error_back(after_use: dict[str, list[str]]) -> None:
    error, values = after_use["a pool"]
    assert error.startswith("ForkError: ") and values == "[0.0, 2.0]"


def test_what_needs_no_device_works_in_any_forked_process(after_use: dict[str, list[str]]) -> None:
    assert after_use["no device"] == ["6.0 True (input x [f32]1000)"]


def test_a_kernel_that_is_explained_in_a_forked_process_says_so(after_use: dict[str, list[str]]) -> None:
    lines = after_use["explained"]
    assert len(lines) == 2 and all("ForkError" in line and "egglog" in line for line in lines)


def test_a_bound_call_of_a_forked_process_says_so(after_use: dict[str, list[str]]) -> None:
    lines = after_use["bound"]
    assert len(lines) == 3 and all(line.startswith("ForkError: ") for line in lines)


def test_a_kernel_sent_to_a_forked_process_says_so_when_called(after_use: dict[str, list[str]]) -> None:
    lines = after_use["sent"]
    assert len(lines) == 2 and all(line.startswith("ForkError: ") for line in lines)


def test_where_egglog_was_loaded_before_laws_are_not_tried(tmp_path: Path) -> None:
    code = """
import egglog.bindings
from egglift.egraph.saturation.saturate import saturate
def explored(): return saturate(el.as_program(x * 2.0))
def ruled(): return saturate(el.as_program(x * 2.0), rules=["(rewrite (Map f y) (Map f y))"])
forked(lambda: tried(optimized, explored, ruled))
explored()
forked(lambda: tried(optimized, explored, ruled))"""
    lines = output(code, tmp_path)
    assert len(lines) == 6
    for line in lines:
        assert line.startswith("ForkError: this process was forked from one that had used egglog"), line


def test_a_forked_process_ends_whichever_threads_have_egraphs(tmp_path: Path) -> None:
    code = """
from egglift.egraph.saturation.saturate import saturate
program, ready, done = el.as_program(x * 2.0), threading.Event(), threading.Event()
def other():
    saturate(program)
    ready.set()
    done.wait()
thread = threading.Thread(target=other)
thread.start()
ready.wait()
saturate(program)
forked(lambda: print("ended"))
done.set()
thread.join()"""
    assert output(code, tmp_path) == ["ended"]


def test_a_device_that_only_pyopencl_used_before_a_fork_says_so(tmp_path: Path) -> None:
    code = """
import pyopencl
platform, = [p for p in pyopencl.get_platforms() if "Portable" in p.name]
context = pyopencl.Context(platform.get_devices())
forked(lambda: tried(lambda: optimized(context), optimized))"""
    lines = output(code, tmp_path)
    assert len(lines) == 2
    assert all("ForkError" in line and "OpenCL" in line for line in lines)


def test_threads_may_optimise_side_by_side(tmp_path: Path) -> None:
    code = """
found = []
threads = [threading.Thread(target=lambda: found.append(works())) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(found)"""
    assert output(code, tmp_path) == ["[True, True, True, True]"]
