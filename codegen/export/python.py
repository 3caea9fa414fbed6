"""An exported program in Python: a file that needs numpy and pyopencl, and not egglift."""

from __future__ import annotations

from base64 import b64encode
from string import Template

from egglift.codegen.export.host_program import HostProgram, Parameter

MODULE = Template('''\
"""$name: an array program as OpenCL, written by egglift.  Needs numpy and pyopencl alone.

$told
"""

import base64
import threading

import numpy as np
import pyopencl as cl

OPTIONS = $options
# in this order: name, dtype, shape
INPUTS = [
$inputs
]
OUTPUTS = [
$outputs
]
# bytes of each
TEMPORARIES = $temporaries
# buffers that always hold the same, in base 64
CONSTANTS = [
$constants
]
# name, work-items in all and in a group
KERNELS = [
$kernels
]
# launches in order: a kernel, and for each argument the number of a buffer: inputs, outputs, temporaries, constants
STEPS = [
$steps
]


class Program:
    """$name on a device: call it with its inputs.  Several threads may.

    queue: a pyopencl CommandQueue (default: one on the device that pyopencl would choose).
    """

    def __init__(self, queue=None):
        self.queue = queue or cl.CommandQueue(cl.create_some_context(interactive=False))
        self._lock = threading.Lock()  # arguments of a kernel are set and used in separate calls
        program = cl.Program(self.queue.context, SOURCE).build(OPTIONS) if KERNELS else None
        self._kernels = [cl.Kernel(program, name) for name, _, _ in KERNELS]
        constants = [np.frombuffer(base64.b64decode(text), np.uint8) for text in CONSTANTS]
        self._own = [*map(self._buffer, TEMPORARIES), *map(self._filled, constants)]

    def __call__(self$parameters):
        """The result as NumPy arrays and numbers; ValueError where an input has another shape."""
        given = [_checked(value, *kind) for value, kind in zip([$arguments], INPUTS)]
        results = [np.empty(shape, dtype) for _, dtype, shape in OUTPUTS]
        with self._lock:
            buffers = [self._filled(value) for value in given] + [self._buffer(r.nbytes) for r in results]
            last = self._launched(buffers + self._own)
            for result, buffer in zip(results, buffers[len(given) :]):
                if result.nbytes:
                    cl.enqueue_copy(self.queue, result, buffer, wait_for=last)
        found = [r if r.shape else r[()] for r in results]
        return found[0] if len(found) == 1 else tuple(found)

    def _launched(self, buffers):
        last = None
        for kernel, arguments in STEPS:
            self._kernels[kernel].set_args(*[buffers[i] for i in arguments])
            _, size, group = KERNELS[kernel]
            last = [cl.enqueue_nd_range_kernel(self.queue, self._kernels[kernel], size, group, wait_for=last)]
        return last

    def _buffer(self, size):
        return cl.Buffer(self.queue.context, cl.mem_flags.READ_WRITE, max(size, 1))  # OpenCL has no empty buffers

    def _filled(self, value):
        if not value.nbytes:
            return self._buffer(0)
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.queue.context, flags, hostbuf=value)


def _checked(value, name, dtype, shape):
    array = np.asarray(value)
    if array.shape != shape or not np.can_cast(array.dtype, dtype, "same_kind"):
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; {dtype} of shape {shape} is wanted")
    return np.ascontiguousarray(array, dtype)


SOURCE = r"""
$source"""
''')


def module(p: HostProgram) -> str:
    """The text of `NAME.py`."""
    told = [f"{a.name}: {a}, read" for a in p.inputs] + [f"{a.name}: {a}, written" for a in p.outputs]
    return MODULE.substitute(
        name=p.name,
        told="\n".join(told),
        options=repr(p.options.split()),
        inputs="\n".join(map(_described, p.inputs)),
        outputs="\n".join(map(_described, p.outputs)),
        temporaries=repr(list(p.temporaries)),
        constants="\n".join(f'    "{b64encode(c.data).decode()}",  # {c.title}' for c in p.constants),
        kernels="\n".join(f"    ({k.name!r}, {k.global_size}, {k.local_size})," for k in p.kernels),
        steps="\n".join(f"    ({k}, {list(used)})," for k, used in p.steps),
        parameters="".join(f", {a.name}" for a in p.inputs),
        arguments=", ".join(a.name for a in p.inputs),
        source=p.source,
    )


def _described(a: Parameter) -> str:
    return f'    ("{a.name}", "{a.scalar.dtype.name}", {a.shape}),'
