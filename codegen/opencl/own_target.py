"""Instructions that a device has, and its OpenCL compiler refuses: how kernels have them.

NVIDIA compiles OpenCL C for a target that leaves out what one generation of its GPUs alone has.  But the binary of a
program is text in PTX, and a program can be made of such text.  So those instructions are comments in OpenCL C, whose
operands the compiler fills in; the text that it makes is built again, with them in force, for the device's own target.
So is local memory: a group has more than OpenCL says, where the text says so.
"""

from __future__ import annotations

MARK = "//@"  # before an instruction that the compiler is not to see
#: the directive of the target that OpenCL C is compiled for, and of the device's own
TARGET, OWN_TARGET = ".target sm_90,", ".target sm_90a,"
#: what must be defined where a source is compiled: it says that the text will be built again
DEFINED = "BUILT_FOR_ITS_OWN_TARGET"
GUARD = f"""#ifndef {DEFINED}
#error "comments in this kernel are instructions: compile it with egglift, which builds its PTX again for sm_90a"
#endif"""


def needs_own_target(source: str) -> bool:
    """Are there instructions in a source that its compiler does not see?"""
    return MARK in source


def for_own_target(ptx: str) -> str:
    """The text of a binary with marked instructions in force.

    .target sm_90, debug     ->   .target sm_90a, debug
    //@wgmma.fence;               wgmma.fence;
    """
    return ptx.replace(MARK, "").replace(TARGET, OWN_TARGET)
