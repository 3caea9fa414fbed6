"""The source of an exported program in C99: the kernels as text, tables of buffers and launches, and what runs them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap
from string import Template

import numpy as np

from egglift.codegen.export.c_header import host_arguments, host_parameters, length_parameters
from egglift.codegen.export.c_lengths import LENGTHS
from egglift.codegen.export.c_plans import plan_functions
from egglift.codegen.export.c_runtime import RUNTIME
from egglift.codegen.export.host_plan import HostKernel, HostSource
from egglift.codegen.export.host_program import HeldArray, HostProgram, Parameter
from egglift.codegen.export.length_texts import by_operators
from egglift.codegen.export.own_target import in_c, options_of
from egglift.ir.bounds import MOST
from egglift.ir.length_forms import RunTimeLength
from egglift.ir.run_time_lengths import said

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
    TEMPORARIES = $temporaries, /* between kernels */
    OWN = TEMPORARIES + $constants_count, /* and constants */
    BUFFERS = INPUTS + OUTPUTS + OWN, /* numbered in this order */
    LENGTHS = $lengths, /* that a call says */
    SOURCES = $sources_count, /* that are compiled */
    KERNELS = $kernels, /* of all of them */
    PLANS = $plans_count, /* of which a call runs one */
    MOST_KERNELS = $most_kernels, /* of a plan */
    MOST_ARGUMENTS = $most,
    MOST_NUMBERS = $most_numbers
};

/* arrays of no elements are no C */
#define PLACES(n) ((n) > 0 ? (n) : 1)

/* OpenCL C */
$sources
static const char OPTIONS[] = $options;

/* of each source: its lines, its kernels */
static const struct {
    const char *const *lines;
    cl_uint count;
    int first_kernel, kernels;
} SOURCE[] = {
$source_rows
};

/* of each input and output: what it is called, how many elements, bytes of one */
static const struct {
    const char *name, *elements;
    size_t size;
} ARRAY[] = {
$arrays
};

$constants/* what constant buffers hold, and the bytes of that */
static const struct {
    size_t bytes;
    const void *data;
} CONSTANT[] = {
$constant_rows
};

/* of each kernel: name, numbers of buffers and dimensions, work-items in a group, bytes of local memory; how many
 * numbers it is given behind its buffers, and the bytes of each */
static const struct {
    const char *name;
    cl_uint arguments, dimensions;
    size_t local[3], local_bytes;
    int count;
    unsigned char numbers[PLACES(MOST_NUMBERS)];
} KERNEL[] = {
$kernel_rows
};

/* of each length: what it is called, its range, how far apart lengths are, what a message says of that */
static const struct {
    const char *name;
    cl_ulong least, most, multiple;
    const char *said;
} LENGTH[] = {
$length_rows
};

/* the lengths that plans were chosen for */
static const cl_long CHOICE[][PLACES(LENGTHS)] = {
$choice_rows
};

/* launches in order: a kernel of the plan, and the buffer for each of its arguments, or, from BUFFERS on,
 * a number */
static const $step_type STEP[][1 + MOST_ARGUMENTS] = {
$step_rows
};

/* what the lengths of a call say: elements of inputs and outputs; the plan, its temporaries' bytes, and for each of its
 * kernels the work-items and numbers */
struct sizes {
    cl_long lengths[PLACES(LENGTHS)];
    size_t elements[INPUTS + OUTPUTS];
    int plan;
    size_t own[PLACES(TEMPORARIES)];
    size_t global[PLACES(MOST_KERNELS)][3];
    cl_long numbers[PLACES(MOST_KERNELS)][PLACES(MOST_NUMBERS)];
};
""")

CALLS = Template("""
int ${name}_run(${name}_handle *self$length_parameters$host_parameters)
{
    const cl_ulong given_lengths[] = {$given_lengths};
    const void *const inputs[] = {$input_addresses};
    void *const outputs[] = {$output_addresses};
    const size_t lengths[] = {$lengths};
    return run(self, given_lengths, inputs, outputs, lengths);
}

int ${name}_enqueue(${name}_handle *self, cl_command_queue queue$length_parameters$buffer_parameters,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    const cl_ulong given_lengths[] = {$given_lengths};
    const cl_mem given[] = {$buffers};
    return enqueue(self, queue, given_lengths, given, waits, wait_list, event);
}

int ${name}_run_once(const ${name}_choice *choice$length_parameters$host_parameters, char *message, size_t size)
{
    ${name}_handle *self;
    int result = ${name}_init(&self, choice);
    if (result == ${NAME}_OK)
        result = ${name}_run(self$length_arguments$host_arguments);
    if (message != NULL && size > 0)
        snprintf(message, size, "%s", result == ${NAME}_OK ? "" : ${name}_message(self));
    ${name}_release(self);
    return result;
}
""")


def source(p: HostProgram) -> str:
    """The text of `NAME.c`."""
    names = {"name": p.name, "NAME": p.name.upper()}
    runtime = RUNTIME.substitute(names, lengths=LENGTHS.substitute(names), **in_c(p, names))
    return TABLES.substitute(_tables(p)) + plan_functions(p) + runtime + _calls(p)


def _tables(p: HostProgram) -> dict[str, object]:
    kernels = [k for s in p.sources for k in s.kernels]
    steps = [step for plan in p.plans for step in plan.steps]
    large = max((n for _, used in steps for n in used), default=0) >= 1 << 16
    return {
        "name": p.name,
        "step_type": "int" if large else "unsigned short",
        "inputs": len(p.inputs),
        "outputs": len(p.outputs),
        "temporaries": p.temporaries,
        "constants_count": len(p.constants),
        "lengths": len(p.lengths),
        "sources_count": len(p.sources),
        "kernels": len(kernels),
        "plans_count": len(p.plans),
        "most_kernels": max(len(plan.global_sizes) for plan in p.plans),
        "most": max((len(used) for _, used in steps), default=1),
        "most_numbers": max((len(k.numbers) for k in kernels), default=0),
        "sources": "\n".join(starmap(_source, enumerate(p.sources))),
        "source_rows": ",\n".join(_source_rows(p)),
        "options": quoted(options_of(p)),
        "arrays": ",\n".join(_array(p, a) for a in (*p.inputs, *p.outputs)),
        "constants": "".join(starmap(_constant, enumerate(p.constants))),
        "constant_rows": ",\n".join(f"    {{{len(c.data)}, CONSTANT_{i}}}" for i, c in enumerate(p.constants))
        or "    {0, NULL}",
        "kernel_rows": ",\n".join(map(_row, kernels)) or '    {"", 0, 0, {0, 0, 0}, 0, 0, {0}}',
        "length_rows": ",\n".join(starmap(_length, p.lengths.items())) or '    {"", 0, 0, 1, ""}',
        "choice_rows": ",\n".join(f"    {{{', '.join(map(str, row))}}}" for row in p.choices) or "    {0}",
        "step_rows": ",\n".join(f"    {{{', '.join(map(str, (k, *used)))}}}" for k, used in steps) or "    {0}",
    }


def _calls(p: HostProgram) -> str:
    arrays = (*p.inputs, *p.outputs)
    return CALLS.substitute(
        name=p.name,
        NAME=p.name.upper(),
        length_parameters=length_parameters(p),
        length_arguments="".join(f", {n}" for n in p.lengths),
        given_lengths=", ".join(p.lengths) or "0",
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


def _source(number: int, s: HostSource) -> str:
    lines = ",\n".join(f"    {text}" for text in strings(s.text))
    return f"static const char *const SOURCE_{number}[] = {{\n{lines}\n}};"


def _source_rows(p: HostProgram) -> Iterable[str]:
    first = 0
    for i, s in enumerate(p.sources):
        yield f"    {{SOURCE_{i}, sizeof SOURCE_{i} / sizeof *SOURCE_{i}, {first}, {len(s.kernels)}}}"
        first += len(s.kernels)


def _array(p: HostProgram, a: Parameter) -> str:
    text = "" if isinstance(a.size, int) else by_operators(a.size, p.names)
    return f'    {{"{a.name}", "{text}", {a.scalar.size}}}'


def _row(k: HostKernel) -> str:
    numbers = ", ".join(map(str, k.numbers)) or "0"
    counts = f"{k.buffers}, {len(k.local_size)}"
    return f'    {{"{k.name}", {counts}, {{{_three(k.local_size)}}}, {k.local_bytes}, {len(k.numbers)}, {{{numbers}}}}}'


def _length(name: str, n: RunTimeLength) -> str:
    most = MOST if n.max is None else n.max
    return f'    {{"{name}", {n.min}u, {most}u, {n.multiple}u, "{said(n)}"}}'


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
