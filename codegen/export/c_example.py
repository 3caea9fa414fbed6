"""A small main function for an exported program in C, and how CMake builds both."""

from __future__ import annotations

from itertools import starmap
from string import Template

from egglift.codegen.export.c_header import C_TYPES
from egglift.codegen.export.host_program import HostProgram, Parameter
from egglift.codegen.export.length_texts import by_operators
from egglift.ir.length_forms import RunTimeLength

EXAMPLE = Template("""\
/* Runs $name on the first GPU, else the first device.
 *
 *   ${name}_example                  on small numbers; prints the first results
 *   ${name}_example$files
 *                                    on ${lengths_and}files of elements, as they lie in memory; writes such files
 */
#include "$name.h"

#include <stdio.h>
#include <stdlib.h>

static void *memory(size_t length, size_t size)
{
    void *found = calloc(length > 0 ? length : 1, size);
    if (found == NULL) {
        fprintf(stderr, "no room for %lu elements\\n", (unsigned long)length);
        exit(2);
    }
    return found;
}

static void transfer(const char *path, const char *mode, void *data, size_t length, size_t size)
{
    FILE *file = fopen(path, mode);
    size_t done = 0;
    if (file != NULL)
        done = *mode == 'r' ? fread(data, size, length, file) : fwrite(data, size, length, file);
    if (file == NULL || fclose(file) != 0 || done != length) {
        fprintf(stderr, "%s: not %lu elements of %lu bytes\\n", path, (unsigned long)length, (unsigned long)size);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    ${name}_handle *self;
    int result;
$lengths$declared

    if (argc != 1 && argc != 1 + $count) {
        fprintf(stderr, "usage: %s [$files ]\\n", argv[0]);
        return 2;
    }
    if (argc > 1) {
$read
    } else {
$filled
    }

    result = ${name}_init(&self, NULL);
    if (result == ${NAME}_OK)
        result = ${name}_run(self$arguments);
    if (result != ${NAME}_OK)
        fprintf(stderr, "%s\\n", ${name}_message(self));
    ${name}_release(self);
    if (result != ${NAME}_OK)
        return 1;

    if (argc > 1) {
$written
    } else {
$printed
    }
$freed
    return 0;
}
""")

CMAKE = Template("""\
cmake_minimum_required(VERSION 3.7)
project($name C)
find_package(OpenCL REQUIRED)

add_library($name $name.c)
target_include_directories($name PUBLIC $${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries($name PUBLIC OpenCL::OpenCL)
set_target_properties($name PROPERTIES C_STANDARD 99)

add_executable(${name}_example ${name}_example.c)
target_link_libraries(${name}_example $name)
""")

#: results that the example prints, and about how long it makes its arrays
SHOWN = FEW = 8


def example(p: HostProgram) -> str:
    """The text of `NAME_example.c`."""
    arrays = (*p.inputs, *p.outputs)
    first = 1 + len(p.lengths)
    return EXAMPLE.substitute(
        name=p.name,
        NAME=p.name.upper(),
        files="".join(f" {name}" for name in (*p.lengths, *(f"{a.name}.bin" for a in arrays))),
        count=len(p.lengths) + len(arrays),
        lengths="".join(starmap(_length, enumerate(p.lengths.items()))),
        lengths_and="lengths and " if p.lengths else "",
        arguments=_arguments(p),
        declared="\n".join(_declared(p, a) for a in arrays),
        read=_lines(p, "rb", p.inputs, first),
        written=_lines(p, "wb", p.outputs, first + len(p.inputs)),
        filled="\n".join(_filled(p, a) for a in p.inputs) or "        /* it takes nothing */",
        printed="\n".join(_printed(p, a) for a in p.outputs),
        freed="\n".join(f"    free({a.name});" for a in arrays),
    )


def cmake(p: HostProgram) -> str:
    """The text of `CMakeLists.txt`."""
    return CMAKE.substitute(name=p.name)


def _length(i: int, named: tuple[str, RunTimeLength]) -> str:
    name, n = named
    return f"    const size_t {name} = argc > 1 ? (size_t)strtoull(argv[{1 + i}], NULL, 10) : {n.nearest(FEW)};\n"


def _size(p: HostProgram, a: Parameter) -> str:
    return by_operators(a.size, p.names)


def _arguments(p: HostProgram) -> str:
    """As `c_header.host_arguments`, of what is declared in the example."""
    given = [f"{a.name}, {_size(p, a)}" if a.shape else f"*{a.name}" for a in p.inputs]
    taken = [f"{a.name}, {_size(p, a)}" if a.shape else a.name for a in p.outputs]
    return "".join(f", {n}" for n in (*p.lengths, *given, *taken))


def _declared(p: HostProgram, a: Parameter) -> str:
    kind = C_TYPES[a.scalar.name]
    return f"    {kind} *{a.name} = memory({_size(p, a)}, sizeof({kind}));"


def _lines(p: HostProgram, mode: str, arrays: tuple[Parameter, ...], first: int) -> str:
    called = (
        f'        transfer(argv[{first + i}], "{mode}", {a.name}, {_size(p, a)}, sizeof *{a.name});'
        for i, a in enumerate(arrays)
    )
    return "\n".join(called) or "        /* it takes nothing */"


def _filled(p: HostProgram, a: Parameter) -> str:
    """Numbers from 0 to 6; bools 0 and 1; of halves, whose bits these are, 0."""
    if a.scalar.name == "f16" or a.size == 0:
        return f"        /* {a.name}: zeros */"
    value = "i % 2" if a.scalar.name == "bool" else "i % 7"
    each = f"            {a.name}[i] = ({C_TYPES[a.scalar.name]})({value});"
    return f"        for (size_t i = 0; i < {_size(p, a)}; i++)\n{each}"


def _printed(p: HostProgram, a: Parameter) -> str:
    form, value = ("%g", "(double)") if a.scalar.is_float and a.scalar.name != "f16" else ("%ld", "(long)")
    most = str(min(a.size, SHOWN)) if isinstance(a.size, int) else f"{SHOWN} && i < {_size(p, a)}"
    loop = f'        for (size_t i = 0; i < {most}; i++)\n            printf(" {form}", {value}{a.name}[i]);\n'
    return f'        printf("{a.name}:");\n{"" if a.size == 0 else loop}        printf("\\n");'
