"""Micro-benchmarks of arithmetic: chains of one operation, each step of which needs the one before."""

from __future__ import annotations

from egglift.codegen.kernel.imperative import Plan
from egglift.codegen.opencl.natives import PTX, Natives, instruction
from egglift.codegen.opencl.scalar_functions import vector_call
from egglift.costmodel.calibration.memory_probes import OPENCL, plan, vector
from egglift.ir.types import SCALARS

#: one step of a chain for each operation: its value is a, that of another chain b, r is unknown to the compiler.  No
#: step can be computed for many at once: adding a constant to an integer n times could, adding another chain cannot
FLOAT_STEPS = {
    "add": "a = a + b",
    "mul": "a = a * b",
    "fma": "a = a * r + r",
    "div": "a = r / a",
    "mod": "a = fmod(b + r, a + r)",
    "sqrt": "a = sqrt(a)",
    "exp": "a = exp(-a)",
    "log": "a = log(a + r)",
    "sin": "a = sin(a)",
    "pow": "a = pow(a, r)",
}
INTEGER_STEPS = FLOAT_STEPS | {"div": "a = r / (a | 1)", "mod": "a = (b + r) % (a | 1)"}
#: the type that a conversion leads to, before it leads back
OTHER = {"f32": "i32", "f64": "f32", "i32": "f32", "i64": "i32"}
#: operations that are instructions on vectors of any width; the others are functions
OPERATORS = ("add", "mul", "fma", "div")
#: PoCL may abort the process where a function is given a wider vector, on CPUs newer than its LLVM
MAX_CALL_BYTES = 32
CHAINS = 8


def chain(type: str, op: str, gpu: bool, groups: int, natives: Natives) -> tuple[Plan, int]:
    """Independent chains of one operation on full vectors, as many steps as input `numbers` says (one i32).

    groups: of 256 work-items on a GPU, of one on a CPU.  natives: what kernels for the device are written with.
    Also the number of component operations of one step.
    """
    operator = op in OPERATORS or (op == "mod" and not SCALARS[type].is_float)
    widest = max(SCALARS[type].size, SCALARS[OTHER[type]].size if op == "convert" else 0)
    width = 2 if gpu else (64 if operator else MAX_CALL_BYTES) // widest
    group = 256 if gpu else 1
    v = vector(type, width)
    names = [f"a{k}" for k in range(CHAINS)]
    declare = " ".join(f"{v} {a} = ({v})(({OPENCL[type]})(g + {k + 2}));" for k, a in enumerate(names))
    step, functions = _step(type, op, width, natives)
    work = " ".join(_rename(step, a, names[k - CHAINS + 1]) + ";" for k, a in enumerate(names))
    body = f"""  const int g = get_global_id(0) & 255;
  const {v} r = ({v})(({OPENCL[type]})(numbers[1]));
  {declare}
  for (int i = 0, n = numbers[0]; i < n; i++) {{ {work} }}
  ((global {v} *)y)[get_global_id(0)] = {" + ".join(names)};"""
    buffers = [("y", type, groups * group * width), ("numbers", "i32", 2)]
    each = 2 if op == "convert" else 1
    probe = plan(body, buffers, groups * group, group, inputs=("numbers",), functions=functions)
    return probe, groups * group * CHAINS * width * each


def _step(type: str, op: str, width: int, natives: Natives) -> tuple[str, list[str]]:
    """The step, of chains a and b, and the functions that it calls."""
    if op in PTX:
        return _called(op, type, width, natives)
    if op != "convert":
        return (FLOAT_STEPS if SCALARS[type].is_float else INTEGER_STEPS)[op], []
    there, back = (f"convert_{vector(t, width)}" for t in (OTHER[type], type))
    return f"a = {back}({there}(a + r))", []


def _called(op: str, type: str, width: int, natives: Natives) -> tuple[str, list[str]]:
    """As kernels write it."""
    helpers: dict[str, str] = {}
    given = ["-a"] if op == "exp2_or_zero" else ["a", "b"]
    if natives.ptx:
        call = instruction(op, given, width, helpers)
    else:
        call = vector_call(op, SCALARS[type], given, width, helpers) or ""
    return f"a = {call}", list(helpers.values())


def _rename(step: str, own: str, other: str) -> str:
    """The step on variables `own` and `other` instead of a and b (which also occur within function names)."""
    return "".join({"a": own, "b": other}.get(token, token) for token in _tokens(step))


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    for c in text:
        word = c.isalnum() or c == "_"
        if out and word and (out[-1][-1].isalnum() or out[-1][-1] == "_"):
            out[-1] += c
        else:
            out.append(c)
    return out


def dependent(steps: int) -> Plan:
    """One chain of multiply-adds in one work-item."""
    body = f"""  const float r = 1.0f / get_num_groups(0);
  float a = 2;
  for (int i = 0; i < {steps}; i++) a = a * r + r;
  y[0] = a;"""
    return plan(body, [("y", "f32", 1)], 1, 1)
