"""`offload`: a function or a nest of a C program computed by OpenCL, behind a call that takes its place.

The C text stays as it is.  Beside the exported kernel a function is written that takes what the function, or the nest,
takes: who wants the device calls that one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from egglift.codegen.device.device import FAST_MATH
from egglift.codegen.export.c_header import C_TYPES
from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import HostProgram, Parameter, host_program
from egglift.ir.check import type_of
from egglift.ir.errors import ArgumentError, ProgramError
from egglift.ir.signature import inputs_of
from egglift.kernel import Kernel
from egglift.optimize import optimize


@dataclass(frozen=True)
class Offloaded:
    """What `offload` wrote.

    place: of the function or the nest, `nest.c:3:1`; call: what takes the place of the call, or of the nest; files:
    those that were written; kernel: what they compute with.
    """

    place: str
    call: str
    files: tuple[Path, ...]
    kernel: Kernel

    def __str__(self) -> str:
        names = " ".join(str(f) for f in self.files if f.suffix == ".c" and not f.stem.endswith("_example"))
        header = next(f.name for f in self.files if f.name.endswith("_offload.h"))
        what = f"{self.place}: instead of it, write\n    {self.call}"
        return f'{what}\nafter #include "{header}", and compile with {names} -lOpenCL'


def offload(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    function: str | None = None,
    sizes: Mapping[str, Any] | None = None,
    device: object = None,
    **options: Any,
) -> Offloaded:
    """Writes what computes a function or a nest of the file `source` into `folder`, with a call that takes its place.

    function, sizes: as for `from_c`; device and options: as for `optimize`.  The function is called NAME_offload and
    takes what NAME takes, and at last where to put what NAME returns; it gives a code, 0 where all is well.  Its
    lengths are those of `sizes`, and are checked.  ProgramError where the text is not taken.
    """
    try:
        from egglift.frontend.translation import translated
    except ImportError as error:
        raise ProgramError(f"loop nests need a parser and integer sets ({error}): pip install 'egglift[c]'") from None
    found = translated(Path(source), function, sizes or {})
    kernel = optimize(found.value, device, **options)
    name = found.function.decl.name if found.function is not None else Path(source).stem
    fast = FAST_MATH if kernel.options.fast_math else ()
    program = host_program(name, kernel.plan, inputs_of(kernel.program), type_of(kernel.program), fast)
    caller = _Caller(found, program, dict(sizes or {}))
    files = {**texts(program, "c99"), **caller.texts()}
    files["CMakeLists.txt"] = files["CMakeLists.txt"].replace(f" {name}.c)", f" {name}.c {name}_offload.c)")
    write_folder(Path(folder), files)
    from egglift.frontend.places import place

    where = place(found.function.decl if found.function is not None else found.source.bare.block_items[0])
    return Offloaded(where, caller.call, tuple(Path(folder, f) for f in sorted(files)), kernel)


HEADER = Template("""\
/* $name of $file, computed by OpenCL; written by egglift. */
#ifndef ${NAME}_OFFLOAD_H
#define ${NAME}_OFFLOAD_H

#include "$name.h"

/* Opens a device; choice may be NULL.  The first call of ${name}_offload does so, too: not from two threads at once. */
int ${name}_offload_begin(const ${name}_choice *choice);

/* As $name: $lengths.  Gives a code of $name.h: ${NAME}_OK, ... */
int ${name}_offload($parameters);

/* What the last call that failed met. */
const char *${name}_offload_message(void);

/* Gives the device back. */
void ${name}_offload_end(void);

#endif
""")

SOURCE = Template("""\
/* $name of $file, computed by OpenCL; written by egglift. */
#include "${name}_offload.h"

static ${name}_handle *offload_handle;
${extern}
int ${name}_offload_begin(const ${name}_choice *choice)
{
    return offload_handle ? ${NAME}_OK : ${name}_init(&offload_handle, choice);
}

int ${name}_offload($parameters)
{
    int offload_code = ${name}_offload_begin(NULL);
$checks    if (offload_code != ${NAME}_OK)
        return offload_code;
    return ${name}_run(offload_handle$arguments);
}

const char *${name}_offload_message(void)
{
    return offload_handle ? ${name}_message(offload_handle) : "";
}

void ${name}_offload_end(void)
{
    ${name}_release(offload_handle);
    offload_handle = NULL;
}
""")


class _Caller:
    """The function that takes the place of another one.  sizes: numbers that its parameters must have."""

    def __init__(self, found: Any, program: HostProgram, sizes: Mapping[str, Any]) -> None:
        self.found, self.program = found, program
        self.sizes = {n: k for n, k in sizes.items() if isinstance(k, int)}
        self.results = dict(zip(found.results, program.outputs, strict=True))
        self.written = {n for n in self.results if not n.endswith("%")}
        self.returned = next((p for n, p in self.results.items() if n.endswith("%")), None)

    def texts(self) -> dict[str, str]:
        """The header and the source."""
        name = self.program.name
        lengths = ", ".join(f"{n} is {k}" for n, k in self.sizes.items() if n in self._numbers)
        values = {
            "name": name,
            "NAME": name.upper(),
            "file": Path(self.found.source.file).name,
            "parameters": self._parameters or "void",
            "lengths": lengths or "its lengths are fixed",
            "extern": self._extern,
            "checks": self._checks,
            "arguments": "".join(f",\n        {a}" for a in self._arguments),
        }
        return {
            f"{name}_offload.h": HEADER.substitute(values),
            f"{name}_offload.c": SOURCE.substitute(values),
        }

    @property
    def call(self) -> str:
        """What is written instead of the call, or of the nest."""
        if self.found.function is not None:
            passed = [p.name for p in self._declarations]
        else:
            passed = [n for n in self._numbers if n not in {v.title for v in self.found.variables}]
            passed += [self._passed(v) for v in self.found.variables]
        passed += ["&returned"] if self.returned else []
        return f"int code = {self.program.name}_offload({', '.join(passed)});"

    # ------------------------------------------------------------------------------------ parameters

    @property
    def _declarations(self) -> list[Any]:
        from egglift.frontend.variables import parameters_of

        return parameters_of(self.found.function)

    @property
    def _numbers(self) -> list[str]:
        """The parameters that are numbers of `sizes`."""
        if self.found.function is None:
            return [n for n in self.sizes if n not in {v.title for v in self.found.variables if v.shape}]
        return [p.name for p in self._declarations if p.name in self.sizes and not _is_array(p)]

    @property
    def _parameters(self) -> str:
        from pycparser.c_generator import CGenerator

        if self.found.function is not None:
            found = [CGenerator().visit(p) for p in self._declarations]
        else:
            own = {v.title for v in self.found.variables}
            found = [f"long {n}" for n in self._numbers if n not in own]
            found += [self._declared(v) for v in self.found.variables]
        found += [f"{C_TYPES[self.returned.scalar.name]} *returned"] if self.returned else []
        return ", ".join(found)

    def _declared(self, v: Any) -> str:
        """A variable of a nest as a parameter: arrays by their first element, numbers that are written by address."""
        kind = C_TYPES[v.type.name]
        if v.name in self.written:
            return f"{kind} *{v.title}"
        return f"const {kind} *{v.title}" if v.shape else f"{kind} {v.title}"

    def _passed(self, v: Any) -> str:
        if v.shape:
            return f"({C_TYPES[v.type.name]} *){v.title}"
        return f"&{v.title}" if v.name in self.written else str(v.title)

    @property
    def _extern(self) -> str:
        """The variables of the file that are used."""
        from pycparser.c_generator import CGenerator

        if self.found.function is None:
            return ""
        names, lines = {v.name for v in self.found.variables} - {p.name for p in self._declarations}, []
        for d in self.found.source.variables:
            if d.name in names:
                if "static" in d.storage:
                    raise ArgumentError(f"{d.name} is static: no other file reads it; make it a parameter")
                d.init, d.storage = None, ["extern"]
                lines.append(f"{CGenerator().visit(d)};\n")
        return "".join(lines)

    # ------------------------------------------------------------------------------------ body

    @property
    def _checks(self) -> str:
        code = f"{self.program.name.upper()}_WRONG_LENGTH"
        return "".join(f"    if ({n} != {self.sizes[n]})\n        return {code};\n" for n in self._numbers)

    @property
    def _arguments(self) -> list[str]:
        given = [self._given(p) for p in self.program.inputs]
        return [*given, *(self._taken(n, p) for n, p in self.results.items())]

    def _given(self, p: Parameter) -> str:
        if p.shape:
            return f"(const void *){p.title}, {p.size}"
        by_address = p.title in self.written and self.found.function is None
        return f"*{p.title}" if by_address else p.title

    def _taken(self, name: str, p: Parameter) -> str:
        if name.endswith("%"):
            return "returned"
        variable = next(v for v in self.found.variables if v.name == name)
        if p.shape:
            return f"(void *){name}, {p.size}"
        is_global = self.found.function is not None and not variable.shape
        return f"&{name}" if is_global else name


def _is_array(decl: Any) -> bool:
    from pycparser import c_ast

    return isinstance(decl.type, c_ast.PtrDecl | c_ast.ArrayDecl)
