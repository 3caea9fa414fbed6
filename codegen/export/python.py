"""An exported program in Python: a file that needs numpy and pyopencl, and not egglift."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from string import Template

from egglift.codegen.export.host_plan import HostKernel, HostPlan
from egglift.codegen.export.host_program import HostProgram, Parameter
from egglift.codegen.export.length_texts import Size, by_functions, condition, linear, size_of
from egglift.codegen.export.own_target import in_python, options_of
from egglift.ir.run_time_lengths import said

MODULE = Template('''\
"""$name: an array program as OpenCL, written by egglift.  Needs numpy and pyopencl alone.

$told
"""

$imports

import numpy as np
import pyopencl as cl

OPTIONS = $options
$arithmetic$lengths# in this order: name, dtype, shape
INPUTS = [
$inputs
]
OUTPUTS = [
$outputs
]
# buffers that hold the same between calls, in base 64
CONSTANTS = [
$constants
]
# each for some lengths: when it is right; which of CHOICES it was chosen for; its place in SOURCES; bytes of
# temporaries; kernels: name, work-items in all and in a group, numbers; launches in order: a kernel, and for each of
# its arguments the number of a buffer: inputs, outputs, temporaries (as many as any plan has), constants
PLANS = [
$plans
]
$build_again

class Program:
    """$name on a device: call it with its inputs.  Several threads may.

    queue: a pyopencl CommandQueue (default: one on the device that pyopencl would choose).
    """

    def __init__(self, queue=None):
        self.queue = queue or cl.CommandQueue(cl.create_some_context(interactive=False))
        self._lock = threading.Lock()  # arguments of a kernel are set and used in separate calls
        self._kernels = {}
        self._temporaries = [None] * max(len(plan[3]) for plan in PLANS)
        constants = [np.frombuffer(base64.b64decode(text), np.uint8) for text in CONSTANTS]
        self._constants = [*map(self._filled, constants)]

    def __call__(self$parameters):
        """The result as NumPy arrays and numbers; ValueError where an input has another shape."""
        given = [_taken(value, *kind) for value, kind in zip([$arguments], INPUTS)]
        lengths = $called
        for value, (name, _, shape) in zip(given, INPUTS):
            if value.shape != (wanted := _at(shape, lengths)):
                raise ValueError(f"{name} has shape {value.shape}; {wanted} is wanted$where")
        results = [np.empty(_at(shape, lengths), dtype) for _, dtype, shape in OUTPUTS]
        with self._lock:
            buffers = [self._filled(value) for value in given] + [self._buffer(r.nbytes) for r in results]
            last = self._launched(buffers, _plan(lengths), lengths)
            for result, buffer in zip(results, buffers[len(given) :]):
                if result.nbytes:
                    cl.enqueue_copy(self.queue, result, buffer, wait_for=last)
        found = [r if r.shape else r[()] for r in results]
        return found[0] if len(found) == 1 else tuple(found)

    def _launched(self, given, plan, lengths):
        _, _, source, temporaries, kernels, steps = plan
        for i, size in enumerate(_at(temporaries, lengths)):
            if self._temporaries[i] is None or self._temporaries[i].size < size:
                self._temporaries[i] = self._buffer(size)
        buffers = [*given, *self._temporaries, *self._constants]
        built = self._built(source, kernels)
        last = None
        for kernel, arguments in steps:
            _, size, group, numbers = kernels[kernel]
            size = _at(size, lengths)
            if 0 in size:  # OpenCL 1.2 has no launches of no work-items
                continue
            said = [t(_at([n], lengths)[0]) for t, n in numbers]
            built[kernel].set_args(*[_argument(buffers, i) for i in arguments], *said)
            last = [cl.enqueue_nd_range_kernel(self.queue, built[kernel], size, group, wait_for=last)]
        return last

    def _built(self, source, kernels):
        if source not in self._kernels:
            program = $compiled if kernels else None
            self._kernels[source] = [cl.Kernel(program, kernel[0]) for kernel in kernels]
        return self._kernels[source]

    def _buffer(self, size):
        return cl.Buffer(self.queue.context, cl.mem_flags.READ_WRITE, max(size, 1))  # OpenCL has no empty buffers

    def _filled(self, value):
        if not value.nbytes:
            return self._buffer(0)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.queue.context, flags, hostbuf=value)


def _argument(buffers, i):
    return buffers[i] if i < len(buffers) else np.int32(i - len(buffers))  # a number that the launch says


def _taken(value, name, dtype, shape):
    array = np.asarray(value)
    if array.ndim != len(shape) or not np.can_cast(array.dtype, dtype, "same_kind"):
        raise ValueError(f"{name} is {array.dtype} of shape {array.shape}; {dtype} of $shape is wanted")
    return np.ascontiguousarray(array, dtype).reshape(array.shape)  # else numbers get an axis


def _at(sizes, lengths):
    return tuple(size(*lengths) if callable(size) else size for size in sizes)


$functions

SOURCES = [
$sources
]
''')

FIXED = """\
def _plan(lengths):
    return PLANS[0]
"""

OPEN = """\
def _lengths(given):
    \"\"\"The lengths that shapes say; ValueError where there are none such.\"\"\"
    found = []
    for name, least, most, multiple, said, (i, axis, k, c) in LENGTHS:
        elements = given[i].shape[axis]
        n, left = divmod((elements - c) * multiple, k)
        if left or n < least or n % multiple or (most is not None and n > most):
            where = f"axis {axis} of {INPUTS[i][0]} has {elements} elements"
            raise ValueError(f"{where}, so that {name} is {_plain(n, left, k)}; it may be {said}")
        found.append(n)
    return tuple(found)


def _plain(n, left, k):
    return n if not left else f"no whole number, {n * k + left} / {k}"


def _said(lengths):
    return ", ".join(f"{length[0]} is {n}" for length, n in zip(LENGTHS, lengths))


def _plan(lengths):
    \"\"\"Of the plans that are right the one that was chosen for the nearest lengths.\"\"\"
    right = [plan for plan in PLANS if plan[0](*lengths)]
    if not right:
        what = f"no kernel that was exported is for these lengths: {_said(lengths)}"
        raise ValueError(f"{what}; export those of kernel.specialise for them")
    return min(right, key=lambda plan: math.inf if plan[1] is None else _distance(lengths, CHOICES[plan[1]]))


def _distance(lengths, others):
    return sum(abs(math.log2(max(a, 1) / max(b, 1))) for a, b in zip(lengths, others))
"""

#: as text of sizes names it (length_texts.py)
ARITHMETIC = """
def plus(a, b):
    return a + b


def times(a, b):
    return a * b


def over(a, b):
    return a // b if b else 0


def rest(a, b):
    return a % b if b else 0


common = math.gcd

"""


def module(p: HostProgram) -> str:
    """The text of `NAME.py`."""
    told = [f"{name}: a length, {said(n)}" for name, n in p.lengths.items()]
    told += [f"{a.name}: {a}, read" for a in p.inputs] + [f"{a.name}: {a}, written" for a in p.outputs]
    open = bool(p.lengths)
    return MODULE.substitute(
        name=p.name,
        told="\n".join(told),
        imports="import base64\nimport math\nimport threading" if open else "import base64\nimport threading",
        options=repr(options_of(p).split()),
        **in_python(p),
        arithmetic=ARITHMETIC if open else "",
        lengths=_lengths(p) if open else "",
        inputs="\n".join(_described(p, a) for a in p.inputs),
        outputs="\n".join(_described(p, a) for a in p.outputs),
        constants="\n".join(f'    "{b64encode(c.data).decode()}",  # {c.title}' for c in p.constants),
        plans="\n".join(_plan(p, plan) for plan in p.plans),
        parameters="".join(f", {a.name}" for a in p.inputs),
        arguments=", ".join(a.name for a in p.inputs),
        called="_lengths(given)" if open else "()",
        where=", as {_said(lengths)}" if open else "",
        shape="{len(shape)} axes" if open else "shape {shape}",
        functions=OPEN if open else FIXED,
        sources="\n".join(f'    r"""\n{s.text}""",' for s in p.sources),
    )


def _lengths(p: HostProgram) -> str:
    """The lengths, each with the axis of an input that has `k * length // multiple + c` elements."""
    rows = []
    for name, n in p.lengths.items():
        i, axis, (k, c) = next(
            (i, axis, found)
            for i, a in enumerate(p.inputs)
            for axis, size in enumerate(a.shape)
            if (found := linear(size_of(size), n)) is not None
        )
        rows.append(f'    ("{name}", {n.min}, {n.max}, {n.multiple}, "{said(n)}", ({i}, {axis}, {k}, {c})),')
    told = (
        "# name, least, most, multiple, all of them; an input, its axis of `k * length // multiple + c` elements, k, c"
    )
    choices = f"# the lengths that plans were chosen for\nCHOICES = {p.choices}\n"
    return "\n".join([told, "LENGTHS = [", *rows, "]", choices])


def _sizes(p: HostProgram, sizes: Iterable[Size]) -> str:
    """A tuple of numbers, and of functions of the lengths."""
    return "(" + "".join(f"{_size(p, n)}, " for n in sizes).rstrip(" ") + ")"


def _size(p: HostProgram, n: Size) -> str:
    return str(n) if isinstance(n, int) else f"lambda {', '.join(p.lengths)}: {by_functions(n, p.names)}"


def _described(p: HostProgram, a: Parameter) -> str:
    return f'    ("{a.name}", "{a.scalar.dtype.name}", {_sizes(p, map(size_of, a.shape))}),'


def _plan(p: HostProgram, plan: HostPlan) -> str:
    right = f"lambda {', '.join(p.lengths)}: {' and '.join(condition(c, p.names) for c in plan.conditions) or True}"
    kernels = [
        f"({k.name!r}, {_sizes(p, sizes)}, {k.local_size}, ({_numbers(p, k, numbers)})),"
        for k, sizes, numbers in zip(p.sources[plan.source].kernels, plan.global_sizes, plan.numbers, strict=True)
    ]
    rows = [f"    (\n        {right},", f"        {plan.choice},", f"        {plan.source},"]
    rows += [f"        {_sizes(p, plan.temporaries)},", "        ["]
    rows += [*(f"            {k}" for k in kernels), "        ],", "        ["]
    rows += [*(f"            ({k}, {list(used)})," for k, used in plan.steps), "        ],", "    ),"]
    return "\n".join(rows)


def _numbers(p: HostProgram, k: HostKernel, numbers: Iterable[Size]) -> str:
    pairs = zip(k.numbers, numbers, strict=True)
    return "".join(f"(np.int{8 * width}, {_size(p, n)}), " for width, n in pairs).rstrip(" ")
