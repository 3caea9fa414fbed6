"""The source of an exported program in C99: the kernels as text, tables of buffers and launches, and what runs them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap
from string import Template

import numpy as np

from egglift.codegen.export.c_header import host_arguments, host_parameters
from egglift.codegen.export.c_runtime import RUNTIME
from egglift.codegen.export.host_program import HeldArray, HostProgram
from egglift.codegen.kernel.imperative import PlannedKernel

#: characters of a string that every compiler of C99 takes are 4095
LONGEST = 4000
#: numbers of a constant array on a line
ON_A_LINE = 10

TABLES = Template("""\
/* $name: written by egglift; $name.h says how it is called. */
#include "$name.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = $inputs,
    OUTPUTS = $outputs,
    OWN = $own, /* between kernels, and constants */
    BUFFERS = INPUTS + OUTPUTS + OWN, /* numbered in this order */
    KERNELS = $kernels,
    STEPS = $steps,
    MOST_ARGUMENTS = $most
};

/* OpenCL C */
static const char *const SOURCE[] = {
$source
};
static const char OPTIONS[] = $options;

/* of each input and output: what it is called, elements, bytes of one */
static const struct {
    const char *name;
    size_t length, size;
} ARRAY[] = {
$arrays
};

$constants/* of each own buffer: bytes, and what it holds */
static const struct {
    size_t bytes;
    const void *data;
} OWN_BUFFER[] = {
$own_rows
};

/* of each kernel: name, numbers of arguments and dimensions, work-items in all and in a group, bytes of local memory */
static const struct {
    const char *name;
    cl_uint arguments, dimensions;
    size_t global[3], local[3], local_bytes;
} KERNEL[] = {
$kernel_rows
};

/* launches in order: a kernel, and the buffer for each of its arguments */
static const unsigned short STEP[][1 + MOST_ARGUMENTS] = {
$step_rows
};
""")

CALLS = Template("""
int ${name}_run(${name}_handle *self$host_parameters)
{
    const void *const inputs[] = {$input_addresses};
    void *const outputs[] = {$output_addresses};
    const size_t lengths[] = {$lengths};
    return run(self, inputs, outputs, lengths);
}

int ${name}_enqueue(${name}_handle *self, cl_command_queue queue$buffer_parameters,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    const cl_mem given[] = {$buffers};
    return enqueue(self, queue, given, waits, wait_list, event);
}

int ${name}_run_once(const ${name}_choice *choice$host_parameters, char *message, size_t size)
{
    ${name}_handle *self;
    int result = ${name}_init(&self, choice);
    if (result == ${NAME}_OK)
        result = ${name}_run(self$host_arguments);
    if (message != NULL && size > 0)
        snprintf(message, size, "%s", result == ${NAME}_OK ? "" : ${name}_message(self));
    ${name}_release(self);
    return result;
}
""")


def source(p: HostProgram) -> str:
    """The text of `NAME.c`."""
    arrays = (*p.inputs, *p.outputs)
    tables = TABLES.substitute(
        name=p.name,
        inputs=len(p.inputs),
        outputs=len(p.outputs),
        own=len(p.temporaries) + len(p.constants),
        kernels=len(p.kernels),
        steps=len(p.steps),
        most=max((len(used) for _, used in p.steps), default=1),
        source=",\n".join(f"    {text}" for text in strings(p.source)),
        options=quoted(p.options),
        arrays=",\n".join(f'    {{"{a.name}", {a.size}, {a.scalar.size}}}' for a in arrays),
        constants="".join(starmap(_constant, enumerate(p.constants))),
        own_rows=",\n".join(_own_rows(p)) or "    {0, NULL}",
        kernel_rows=",\n".join(map(_row, p.kernels)) or '    {"", 0, 0, {0, 0, 0}, {0, 0, 0}, 0}',
        step_rows=",\n".join(f"    {{{', '.join(map(str, (k, *used)))}}}" for k, used in p.steps) or "    {0}",
    )
    return tables + RUNTIME.substitute(name=p.name, NAME=p.name.upper()) + _calls(p)


def _calls(p: HostProgram) -> str:
    arrays = (*p.inputs, *p.outputs)
    return CALLS.substitute(
        name=p.name,
        NAME=p.name.upper(),
        host_parameters=host_parameters(p),
        host_arguments=host_arguments(p),
        buffer_parameters="".join(f", cl_mem {a.name}" for a in arrays),
        input_addresses=", ".join(a.name if a.shape else f"&{a.name}" for a in p.inputs) or "NULL",
        output_addresses=", ".join(a.name for a in p.outputs),
        lengths=", ".join(a.length if a.shape else "1" for a in arrays),
        buffers=", ".join(a.name for a in arrays),
    )


def _constant(number: int, c: HeldArray) -> str:
    """An array with the bits of a constant's elements, in the byte order of whoever compiles it."""
    words = np.frombuffer(c.data, f"u{c.scalar.size}")
    rows = (words[i : i + ON_A_LINE].tolist() for i in range(0, words.size, ON_A_LINE))
    text = ",\n".join("    " + ", ".join(map(str, row)) for row in rows)
    return f"/* {c.title}, as bits */\nstatic const uint{8 * c.scalar.size}_t CONSTANT_{number}[] = {{\n{text}\n}};\n\n"


def _own_rows(p: HostProgram) -> list[str]:
    between = [f"    {{{size}, NULL}}" for size in p.temporaries]
    return between + [f"    {{{len(c.data)}, CONSTANT_{i}}}" for i, c in enumerate(p.constants)]


def _row(k: PlannedKernel) -> str:
    sizes = f"{{{_three(k.global_size)}}}, {{{_three(k.local_size)}}}"
    return f'    {{"{k.name}", {len(k.params)}, {len(k.global_size)}, {sizes}, {k.local_bytes}}}'


def _three(sizes: Iterable[int]) -> str:
    return ", ".join(map(str, [*sizes, 1, 1, 1][:3]))


def quoted(text: str) -> str:
    """`text` as a string literal of C: no trigraph is in it, whatever the text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + escaped.replace("??", "?\\?") + '"'


def strings(text: str) -> Iterable[str]:
    """A literal for each line; long lines are cut."""
    for line in text.splitlines(keepends=True) or [""]:
        for start in range(0, max(len(line), 1), LONGEST):
            yield quoted(line[start : start + LONGEST])
