"""The header of an exported program in C: what a caller sees."""

from __future__ import annotations

from string import Template

from egglift.codegen.export.host_program import HostProgram, Parameter
from egglift.ir.run_time_lengths import said

#: what a host's C calls the elements of arrays; a bool is a byte, 0 or 1
C_TYPES = {
    "bool": "uint8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "f16": "cl_half",
    "f32": "float",
    "f64": "double",
}

HEADER = Template("""\
/* $name: an array program as OpenCL, written by egglift.  Needs OpenCL 1.2, and nothing else.
 *
$parameters
$about_lengths *
 * Every function that can fail returns one of the codes below; ${name}_message says more.  A handle is used by one
 * thread at a time; threads with handles of their own do not disturb each other.  (Some drivers, PoCL 3 for one, fail
 * when several threads are the first to call them: make a handle before these threads begin.)
 */
#ifndef ${NAME}_H
#define ${NAME}_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ${NAME}_OK = 0,
    ${NAME}_NO_DEVICE = 1,    /* no device is of this type and name */
    ${NAME}_UNSUITABLE = 2,   /* the device allows no groups or no local memory of this size */
    ${NAME}_NOT_BUILT = 3,    /* the OpenCL compiler refused the kernels: the message is its log */
    ${NAME}_WRONG_LENGTH = 4, /* an array has another length, or a buffer fewer bytes$or_unserved */
    ${NAME}_OVERLAP = 5,      /* a buffer that is written shares memory with another one */
    ${NAME}_WRONG_QUEUE = 6,  /* the queue is not of the handle's context and device */
    ${NAME}_NO_MEMORY = 7,    /* the host or the device has no room */
    ${NAME}_OPENCL_ERROR = 8  /* OpenCL refused something else: the message has its code */
};

/* The kernels, compiled for a device, and memory for what is between them. */
typedef struct ${name}_handle ${name}_handle;

/* Where to run.  All zero: on the first GPU, else on the first device. */
typedef struct {
    cl_device_type type;  /* CL_DEVICE_TYPE_GPU, ...; 0: of any type */
    const char *name;     /* a part of the device's or its platform's name, in any case; NULL: any */
    cl_context context;   /* the caller's; then type and name are not looked at */
    cl_device_id device;  /* of that context; NULL: its first */
} ${name}_choice;

/* Compiles for a device.  choice may be NULL.  *made is to be released also where it failed: it has the message. */
int ${name}_init(${name}_handle **made, const ${name}_choice *choice);

/* Computes from arrays of the host, and waits.  Lengths count elements.  Results may be inputs too. */
int ${name}_run(${name}_handle *self$length_parameters$host_parameters);

/* The same from buffers of the device, without waiting.  A number is a buffer with one element.
 * queue: of the handle's context and device, in or out of order; NULL: the handle's own.
 * The first kernel waits for the events in wait_list; *event, if event is not NULL, is that of the last one. */
int ${name}_enqueue(${name}_handle *self, cl_command_queue queue$length_parameters$buffer_parameters,
    cl_uint waits, const cl_event *wait_list, cl_event *event);

/* Waits for what the handle's own queue was given. */
int ${name}_finish(${name}_handle *self);

/* What the last call on this handle that failed met, with the compiler's log; never NULL. */
const char *${name}_message(const ${name}_handle *self);

cl_context ${name}_context(const ${name}_handle *self);
cl_device_id ${name}_device(const ${name}_handle *self);

/* Gives everything back.  self may be NULL. */
void ${name}_release(${name}_handle *self);

/* All in one: init, run, release.  size bytes at message (may be NULL) get the message. */
int ${name}_run_once(const ${name}_choice *choice$length_parameters$host_parameters, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif
""")

ABOUT_LENGTHS = """\
 *
 * Each call says the lengths, with which those of its arrays must agree; 0 is one where its range has it.  Kernels for
 * other lengths are compiled when they are first needed.  Memory between kernels grows as it is needed, and is kept.
"""


def header(p: HostProgram) -> str:
    """The text of `NAME.h`."""
    told = [f" * {name}: a length, {said(n)}" for name, n in p.lengths.items()]
    told += [f" * {a.name}: {a}, {kind}" for a, kind in _all(p)]
    return HEADER.substitute(
        name=p.name,
        NAME=p.name.upper(),
        parameters="\n".join(told),
        about_lengths=ABOUT_LENGTHS if p.lengths else "",
        or_unserved="; or a length is not of its range" if p.lengths else "",
        length_parameters=length_parameters(p),
        host_parameters=host_parameters(p),
        buffer_parameters="".join(f", cl_mem {a.name}" for a in (*p.inputs, *p.outputs)),
    )


def _all(p: HostProgram) -> list[tuple[Parameter, str]]:
    return [(a, "read") for a in p.inputs] + [(a, "written") for a in p.outputs]


def length_parameters(p: HostProgram) -> str:
    """`, size_t n, size_t m`."""
    return "".join(f", size_t {n}" for n in p.lengths)


def host_parameters(p: HostProgram) -> str:
    """`, const float *x, size_t x_length, float factor, float *out`: numbers by value, arrays with their lengths."""
    declared = []
    for a in p.inputs:
        kind = C_TYPES[a.scalar.name]
        declared.append(f"const {kind} *{a.name}, size_t {a.length}" if a.shape else f"{kind} {a.name}")
    for a in p.outputs:
        kind = C_TYPES[a.scalar.name]
        declared.append(f"{kind} *{a.name}" + (f", size_t {a.length}" if a.shape else ""))
    return "".join(f",\n    {d}" for d in declared)


def host_arguments(p: HostProgram) -> str:
    """The names of `host_parameters`: `, x, x_length, factor, out`."""
    named = [f"{a.name}, {a.length}" if a.shape else a.name for a in (*p.inputs, *p.outputs)]
    return "".join(f", {n}" for n in named)
