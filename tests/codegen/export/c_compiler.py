"""A C compiler, Khronos' headers, and PoCL for the programs that it makes.

The headers are the machine's, or those of the package nvidia-cuda-opencl-cu12, which has them as Khronos wrote them;
the loader and PoCL are those that pyopencl brings.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl

from tests.machine_tools import require_tool

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
LIBRARIES = Path(pyopencl.__file__).parent / ".libs"


@cache
def headers() -> Path:
    """The folder with CL/cl.h."""
    own = Path("/usr/include")
    if (own / "CL" / "cl.h").exists():
        return own
    return Path(str(distribution("nvidia-cuda-opencl-cu12").locate_file("nvidia/cuda_opencl/include")))


@cache
def loader() -> Path:
    """The library that finds platforms."""
    (found,) = LIBRARIES.glob("libOpenCL*")
    return found


def compiled(program: Path, *sources: Path, compiler: str = "gcc", strict: tuple[str, ...] = STRICT) -> Path:
    """An executable of these sources; what the compiler says fails the test."""
    require_tool(compiler)
    include = [f"-I{folder}" for folder in {s.parent for s in sources}]
    given = [str(s) for s in sources]
    link = [] if "-c" in strict else [str(loader()), f"-Wl,-rpath,{LIBRARIES}", "-lpthread"]
    command = [compiler, *strict, *include, f"-isystem{headers()}", *given, "-o", str(program), *link]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def execute(program: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs it where it finds PoCL."""
    places = {"PYOPENCL_HOME": str(LIBRARIES.parent), "LD_LIBRARY_PATH": str(LIBRARIES), "POCL_AFFINITY": "1"}
    return subprocess.run([program, *map(str, arguments)], env=os.environ | places, capture_output=True, text=True)


def results(folder: Path, name: str, inputs: list[Any], outputs: list[tuple[int, Any]]) -> list[Any]:
    """What the example of an exported program writes for these leaves.  outputs: their lengths and dtypes."""
    example = compiled(folder / "example", folder / f"{name}.c", folder / f"{name}_example.c")
    read = [folder / f"in{i}" for i in range(len(inputs))]
    written = [folder / f"out{i}" for i in range(len(outputs))]
    for path, value in zip(read, inputs, strict=True):
        np.ascontiguousarray(value).tofile(path)
    done = execute(example, *read, *written)
    assert done.returncode == 0, done.stderr
    return [np.fromfile(p, dtype, count=size) for p, (size, dtype) in zip(written, outputs, strict=True)]
