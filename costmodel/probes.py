"""Micro-benchmarks: small plans, written by hand, that each show one rate of a device."""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.imperative import Buffer, Kernel, Plan
from egglift.ir.types import SCALARS

OPENCL = {"f32": "float", "f64": "double", "i32": "int", "i64": "long"}
#: one step of a dependent chain `a = ...` for each operation; r is a constant that the compiler does not know
STEPS = {
    "mul": "a = a * r + r", "div": "a = r / a", "sqrt": "a = sqrt(a)", "exp": "a = exp(-a)",
    "log": "a = log(a + r)", "sin": "a = sin(a)", "pow": "a = pow(a, r)",
}  # fmt: skip
OPERATORS = ("mul", "div")
#: PoCL may abort the process where a function is given a wider vector, on CPUs newer than its LLVM
MAX_CALL_BYTES = 32


def plan(
    body: str,
    buffers: Sequence[tuple[str, str, int]],
    items: int,
    group: int,
    inputs: Sequence[str] = (),
) -> Plan:
    """One kernel over `items` work-items in groups of `group`.

    buffers: (name, scalar type, length) of its global buffers; those not named in `inputs` are temporaries.
    """
    made = tuple(Buffer(name, "global", SCALARS[type], size) for name, type, size in buffers)
    arguments = ", ".join(f"global {OPENCL[b.scalar.name]} *restrict {b.name}" for b in made)
    pragma = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" if "double" in arguments + body else ""
    source = f"{pragma}kernel void probe({arguments}) {{\n{body}\n}}\n"
    kernel = Kernel("probe", source, made, (items,), (group,), ())
    given: dict[str, tuple[Buffer, ...]] = {b.name: (b,) for b in made if b.name in inputs}
    scratch = tuple(b for b in made if b.name not in inputs)
    return Plan((kernel,), given, scratch, (), ((0, made),))


def _vector(type: str, width: int) -> str:
    return OPENCL[type] + (str(width) if width > 1 else "")


def copy(n: int, width: int, gpu: bool, units: int) -> Plan:
    """Copies n f32 by vectors: one for each work-item on a GPU, a contiguous chunk on a CPU."""
    v, count = _vector("f32", width), n // width
    cast = f"global {v} *p = (global {v} *)x, *q = (global {v} *)y;"
    buffers = [("x", "f32", n), ("y", "f32", n)]
    if gpu:
        return plan(f"{cast} int i = get_global_id(0); q[i] = p[i];", buffers, count, 256)
    items = units * 8
    chunk = count // items
    loop = f"int b = get_global_id(0) * {chunk}; for (int i = 0; i < {chunk}; i++) q[b + i] = p[b + i];"
    return plan(f"{cast} {loop}", buffers, items, 1)


def read(n: int, repeats: int, gpu: bool, units: int, groups: int = 0) -> Plan:
    """Sums n f32, `repeats` times over: a stream from memory or a cache.  A GPU uses `groups` of 256."""
    width = 4 if gpu else 16
    items, group = ((groups or units * 8) * 256, 256) if gpu else (units, 1)
    count = n // width // items
    v = _vector("f32", width)
    at = f"(i * {items} + g)" if gpu else f"(g * {count} + i)"
    # four accumulators hide the latency of additions; the xor keeps repeats from being hoisted
    sums = " ".join(f"s{k} += p[{at.replace('i', f'(i + {k})', 1)} ^ (r & 1)];" for k in range(4))
    body = f"""  global {v} *p = (global {v} *)x;
  int g = get_global_id(0);
  {v} s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int r = 0; r < {repeats}; r++) for (int i = 0; i + 3 < {count}; i += 4) {{ {sums} }}
  ((global {v} *)y)[g] = s0 + s1 + s2 + s3;"""
    return plan(body, [("x", "f32", n), ("y", "f32", items * width)], items, group)


def chain(type: str, op: str, gpu: bool, units: int) -> tuple[Plan, int]:
    """Independent chains of one operation on full vectors, as many steps as input `steps` says (one i32).

    Also the number of component operations of one step.
    """
    width = 2 if gpu else (64 if op in OPERATORS else MAX_CALL_BYTES) // SCALARS[type].size
    items, group = (units * 2048, 256) if gpu else (units * 4, 1)
    v = _vector(type, width)
    chains = range(8)
    declare = " ".join(f"{v} a{k} = ({v})(g + {k} + 2);" for k in chains)
    step = STEPS[op] if SCALARS[type].is_float or op != "div" else "a = r / (a | 1)"
    work = " ".join(_rename(step, f"a{k}") + ";" for k in chains)
    body = f"""  int g = get_global_id(0);
  const {v} r = ({v})(({OPENCL[type]})get_num_groups(0)) / ({v})({units});
  {declare}
  for (int i = 0, n = steps[0]; i < n; i++) {{ {work} }}
  ((global {v} *)y)[g] = {" + ".join(f"a{k}" for k in chains)};"""
    buffers = [("y", type, items * width), ("steps", "i32", 1)]
    return plan(body, buffers, items, group, inputs=("steps",)), items * len(chains) * width


def _rename(step: str, name: str) -> str:
    """The step on variable `name` instead of `a` (which also occurs within function names)."""
    return "".join(name if token == "a" else token for token in _tokens(step))


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    for c in text:
        if out and c.isalnum() and out[-1][-1].isalnum():
            out[-1] += c
        else:
            out.append(c)
    return out


def barriers(count: int, group: int, groups: int, real: bool) -> Plan:
    """`count` exchanges in local memory by each of `groups` work-groups, with barriers or without."""
    fence = "barrier(CLK_LOCAL_MEM_FENCE);" if real else ""
    body = f"""  local int t[{group}];
  int l = get_local_id(0), s = l;
  for (int i = 0; i < {count}; i++) {{ t[l] = s; {fence} s += t[l ^ 1]; {fence} }}
  y[get_global_id(0)] = s;"""
    return plan(body, [("y", "i32", group * groups)], group * groups, group)


def local_read(steps: int, group: int, groups: int) -> tuple[Plan, int]:
    """Reads of local memory by vectors of four; also the bytes read."""
    body = f"""  local float4 t[{group}];
  int l = get_local_id(0);
  float4 s = 0;
  t[l] = (float4)(l);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < {steps}; i++) s += t[(l + i) & {group - 1}];
  ((global float4 *)y)[get_global_id(0)] = s;"""
    return plan(body, [("y", "f32", 4 * group * groups)], group * groups, group), 16 * steps * group * groups


def dependent(steps: int) -> Plan:
    """One chain of multiply-adds in one work-item."""
    body = f"""  const float r = 1.0f / get_num_groups(0);
  float a = 2;
  for (int i = 0; i < {steps}; i++) a = a * r + r;
  y[0] = a;"""
    return plan(body, [("y", "f32", 1)], 1, 1)


def empty(items: int, group: int) -> Plan:
    """A kernel that does nothing but write one number in all."""
    return plan("  if (get_global_id(0) == 0) y[0] = 1;", [("y", "i32", 1)], items, group)


def chase(n: int, steps: int) -> Plan:
    """One work-item follows a chain of `steps` indices through an input of n i32."""
    body = f"  int at = 0;\n  for (int i = 0; i < {steps}; i++) at = x[at];\n  y[0] = at;"
    return plan(body, [("x", "i32", n), ("y", "i32", 1)], 1, 1, inputs=("x",))
