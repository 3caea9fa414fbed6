"""C functions as programs, beside what gcc makes of them."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from pycparser import c_ast

import egglift as el
from egglift.costmodel.measurement.expected_results import flatten
from egglift.frontend.programs import from_c
from egglift.frontend.source import read_source
from egglift.frontend.variables import base_type
from egglift.ir.signature import inputs_of
from egglift.ir.types import leaves
from tests.machine_tools import require_tool


@cache
def folder() -> Path:
    """Where libraries are made."""
    return Path(mkdtemp())


#: a program is the same for all inputs
program_of = cache(lambda text, function, sizes: el.as_program(from_c(text, function, dict(sizes))))


@cache
def library(text: str) -> ctypes.CDLL:
    """A text as gcc compiles it, without optimising."""
    require_tool("gcc")
    name = folder() / sha256(text.encode()).hexdigest()[:16]
    name.with_suffix(".c").write_text(
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <math.h>\n" + text
    )
    command = [
        "gcc",
        "-O0",
        "-ffp-contract=off",
        "-fwrapv",
        "-w",
        "-shared",
        "-fPIC",
        f"{name}.c",
        "-o",
        f"{name}.so",
        "-lm",
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(f"{name}.so")


def sample(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    """Eighths from -1 to 1, of which sums are exact; integers from -9 to 9."""
    found = rng.integers(-8, 9, shape)
    if dtype.kind == "u":
        found = np.abs(found)
    return (found / 8 if dtype.kind == "f" else found).astype(dtype)


def interpreted(program: Any, values: Mapping[str, Any]) -> list[Any]:
    """What the interpreter computes."""
    return flatten(el.interpret(program, **values))


def differ(
    text: str,
    function: str,
    sizes: Mapping[str, Any],
    seed: int = 0,
    tolerance: float = 2e-5,
    compute: Callable[[Any, Mapping[str, Any]], list[Any]] = interpreted,
    **given: Any,
) -> None:
    """Fails where the program of a C function computes other results than gcc's.  given: inputs that are not random."""
    program = program_of(text, function, tuple(sizes.items()))
    rng = np.random.default_rng(seed)
    types, source = inputs_of(program), read_source(text)
    parameters = [p for p in source.functions[function].decl.type.args.params if isinstance(p, c_ast.Decl)]
    values, arguments = {}, []
    outputs: dict[str, Any] = {}
    for p in parameters:
        t = base_type(p)
        assert t is not None
        if isinstance(p.type, c_ast.PtrDecl | c_ast.ArrayDecl):
            value = given.get(p.name)
            if p.name in types:
                ((shape, scalar),) = leaves(types[p.name])
                value = sample(shape, scalar.dtype, rng) if value is None else value
                values[p.name] = value
            outputs[p.name] = np.zeros(1 << 16, t.dtype) if value is None else np.array(value)
            arguments.append(outputs[p.name].ctypes.data_as(ctypes.c_void_p))
        else:
            number = sizes.get(p.name, given.get(p.name))
            if number is None:
                number = sample((), t.dtype, rng).item()
            if p.name in types:
                values[p.name] = t.dtype.type(number)
            arguments.append(np.ctypeslib.as_ctypes_type(t.dtype)(number))
    values |= _file_variables(text, types, rng)
    call = getattr(library(text), function)
    result = base_type(source.functions[function].decl)
    call.restype = None if result is None else np.ctypeslib.as_ctypes_type(result.dtype)
    returned = call(*arguments)
    found = compute(program, values)
    results = written_by(text, function, sizes)
    outputs |= _file_values(text)
    written = [n for n in outputs if n in results]
    expected = [outputs[n].reshape(-1) for n in written] + ([] if result is None else [np.array([returned])])
    assert len(found) == len(expected), (written, len(found))
    for name, f, e in zip([*written, "the result"], found, expected):
        flat = np.asarray(f).reshape(-1)
        np.testing.assert_allclose(flat, e[: flat.size], rtol=tolerance, atol=tolerance, err_msg=f"{name} of {text}")


def _file_values(text: str) -> dict[str, Any]:
    """What arrays of the file hold, in the library itself: a view."""
    found = {}
    for d in read_source(text).variables:
        t = base_type(d)
        if "const" not in d.quals and t is not None:
            lengths, node = [], d.type
            while isinstance(node, c_ast.ArrayDecl):
                lengths.append(int(node.dim.value))
                node = node.type
            kind = np.ctypeslib.as_ctypes_type(t.dtype)
            for n in reversed(lengths):
                kind = kind * n
            found[d.name] = np.ctypeslib.as_array(kind.in_dll(library(text), d.name))
    return found


def _file_variables(text: str, types: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Values for the arrays of the file, written into the library, and those that the program reads."""
    found = {}
    for name, held in _file_values(text).items():
        held[...] = sample(held.shape, held.dtype, rng)
        if name in types:
            found[name] = held.copy()
    return found


def written_by(text: str, function: str, sizes: Mapping[str, Any]) -> set[str]:
    """The names of the parameters that are results."""
    from egglift.frontend.lower import Lowering

    source = read_source(text)
    lowering = Lowering(source, dict(sizes))
    lowering.function(source.functions[function])
    return {s.target.array for s in lowering.statements}
