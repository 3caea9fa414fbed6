"""What hosts do with kernels whose comments are instructions (opencl/own_target.py): they build their text again."""

from __future__ import annotations

from string import Template

from egglift.codegen.export.host_program import HostProgram
from egglift.codegen.kernel.warp_groups import GROUP_BYTES
from egglift.codegen.opencl.own_target import DEFINED, MARK, OWN_TARGET, TARGET, needs_own_target

_IN_C = Template("""
/* the comments of these kernels are instructions: their PTX is built again, for the device's own target */
static int build_again(${name}_handle *self, cl_program *program)
{
    static const char mark[] = "$mark", target[] = "$target", own[] = "$own";
    cl_device_id devices[64];
    size_t sizes[64], devices_size = 0, i, n = 0, of = 0;
    unsigned char *binaries[64] = {NULL};
    cl_program again = NULL;
    cl_int status = clGetProgramInfo(*program, CL_PROGRAM_DEVICES, sizeof devices, devices, &devices_size);
    if (status == CL_SUCCESS)
        status = clGetProgramInfo(*program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL);
    while (status == CL_SUCCESS && of + 1 < devices_size / sizeof *devices && devices[of] != self->device)
        of++;
    if (status == CL_SUCCESS) {
        char *text = calloc(sizes[of] + 1, 1), *made = calloc(sizes[of] + sizeof own, 1);
        const unsigned char *whole = (const unsigned char *)made;
        binaries[of] = (unsigned char *)text;
        if (text == NULL || made == NULL)
            status = CL_OUT_OF_HOST_MEMORY;
        else
            status = clGetProgramInfo(*program, CL_PROGRAM_BINARIES, devices_size / sizeof *devices * sizeof *binaries,
                binaries, NULL);
        for (i = 0; status == CL_SUCCESS && i < sizes[of];) {
            if (strncmp(text + i, mark, sizeof mark - 1) == 0) {
                i += sizeof mark - 1;
            } else if (strncmp(text + i, target, sizeof target - 1) == 0) {
                memcpy(made + n, own, sizeof own - 1);
                n += sizeof own - 1;
                i += sizeof target - 1;
            } else {
                made[n++] = text[i++];
            }
        }
        if (status == CL_SUCCESS)
            again = clCreateProgramWithBinary(self->context, 1, &self->device, &n, &whole, NULL, &status);
        if (status == CL_SUCCESS)
            status = clBuildProgram(again, 1, &self->device, "-w", NULL, NULL);
        free(text);
        free(made);
    }
    if (again != NULL) {
        clReleaseProgram(*program);
        *program = again;
    }
    return status == CL_SUCCESS ? ${NAME}_OK : refused(self, *program, status);
}
""")
_CALLED_IN_C = """    if (status == CL_SUCCESS && result == ${NAME}_OK)
        result = build_again(self, &program);
"""
_IN_PYTHON = f"""

def _built_again(context, source):
    # the comments of these kernels are instructions: their PTX is built again, for the device's own target
    program = cl.Program(context, source).build(OPTIONS)
    texts = [b.decode("latin1") for b in program.get_info(cl.program_info.BINARIES)]
    own = [t.replace("{MARK}", "").replace("{TARGET}", "{OWN_TARGET}").encode("latin1") for t in texts]
    return cl.Program(context, program.get_info(cl.program_info.DEVICES), own).build("-w")
"""


def builds_again(p: HostProgram) -> bool:
    """Is there a kernel among a program's that is built for its device's own target?"""
    return any(needs_own_target(s.text) for s in p.sources)


def options_of(p: HostProgram) -> str:
    """What the OpenCL compiler is given."""
    return f"{p.options} -D{DEFINED}" if builds_again(p) else p.options


def in_c(p: HostProgram, names: dict[str, str]) -> dict[str, str]:
    """What a C program's runtime has for that: a function, where it is called, and the local memory that there is."""
    if not builds_again(p):
        return {"build_again": "", "built_again": "", "memory": "memory"}
    text = {"mark": MARK, "target": TARGET, "own": OWN_TARGET}
    called = Template(_CALLED_IN_C).substitute(names)
    return {"build_again": _IN_C.substitute(names, **text), "built_again": called, "memory": str(GROUP_BYTES)}


def in_python(p: HostProgram) -> dict[str, str]:
    """What a Python program has for that: a function, and how a source is compiled."""
    arguments = "self.queue.context, SOURCES[source]"
    if builds_again(p):
        return {"build_again": _IN_PYTHON, "compiled": f"_built_again({arguments})"}
    return {"build_again": "", "compiled": f"cl.Program({arguments}).build(OPTIONS)"}
