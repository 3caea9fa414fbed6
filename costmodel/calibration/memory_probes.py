"""Micro-benchmarks of memory, barriers and launches: small plans, written by hand, that each show one rate of a device.

What a compiler could compute ahead (how often, how far apart) comes in the input `numbers`, so that it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence

from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.types import SCALARS

OPENCL = {"f32": "float", "f64": "double", "i32": "int", "i64": "long"}
LOADS = 4  # that a loop's step makes, independent of each other


def plan(
    body: str,
    buffers: Sequence[tuple[str, str, int]],
    items: int,
    group: int,
    inputs: Sequence[str] = (),
    functions: Sequence[str] = (),
) -> Plan:
    """One kernel over `items` work-items in groups of `group`.

    buffers: (name, scalar type, length) of its global buffers; those not named in `inputs` are temporaries.
    functions: what it calls, as OpenCL C.
    """
    made = tuple(Buffer(name, "global", SCALARS[type], size) for name, type, size in buffers)
    arguments = ", ".join(f"global {OPENCL[b.scalar.name]} *restrict {b.name}" for b in made)
    pragma = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" if "double" in arguments + body else ""
    source = pragma + "".join(f"{f}\n" for f in functions) + f"kernel void probe({arguments}) {{\n{body}\n}}\n"
    kernel = PlannedKernel("probe", source, made, (items,), (group,), ())
    given: dict[str, tuple[Buffer, ...]] = {b.name: (b,) for b in made if b.name in inputs}
    scratch = tuple(b for b in made if b.name not in inputs)
    return Plan((kernel,), given, scratch, (), ((0, made),))


def vector(type: str, width: int) -> str:
    """The OpenCL name of a vector of `width` (1: a scalar)."""
    return OPENCL[type] + (str(width) if width > 1 else "")


def copy(n: int, parts: int, width: int, gpu: bool, units: int) -> Plan:
    """Copies a part of an input of n f32 by vectors: one for each work-item on a GPU, a contiguous chunk on a CPU.

    numbers: the part's first vector.
    """
    v, count = vector("f32", width), n // parts // width
    cast = f"global {v} *p = (global {v} *)x + numbers[0], *q = (global {v} *)y + numbers[0];"
    buffers = [("x", "f32", n), ("numbers", "i32", 1), ("y", "f32", n)]
    if gpu:
        return plan(f"{cast} int i = get_global_id(0); q[i] = p[i];", buffers, count, 256, inputs=("x", "numbers"))
    items = units * 8
    chunk = count // items
    loop = f"int b = get_global_id(0) * {chunk}; for (int i = 0; i < {chunk}; i++) q[b + i] = p[b + i];"
    return plan(f"{cast} {loop}", buffers, items, 1, inputs=("x", "numbers"))


def read(n: int, width: int, gpu: bool, groups: int) -> Plan:
    """Sums a part of an input of n f32 by vectors, again and again: a stream from memory or a cache.

    On a GPU in groups of 256 work-items, neighbours side by side; numbers: vectors for each work-item, how far it
    goes each time, the vectors of the part, and its first.  On a CPU in groups of one, each with a part of its own;
    numbers: vectors for each work-item, 4, the vectors of each part, and the first of all.
    """
    v, items = vector("f32", width), groups * (256 if gpu else 1)
    first, begin = ("numbers[3]", "g % size") if gpu else ("numbers[3] + g * size", "0")
    on = "at += step; at -= at >= size ? size : 0;"
    if gpu:
        loads = " ".join(f"s{k} += p[at]; {on}" for k in range(LOADS))
    else:
        loads = " ".join(f"s{k} += p[at + {k}];" for k in range(LOADS)) + f" {on}"
    body = f"""  const int g = get_global_id(0), count = numbers[0], step = numbers[1], size = numbers[2];
  global const {v} *p = (global const {v} *)x + {first};
  {v} s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int at = {begin};
  for (int i = 0; i < count; i += {LOADS}) {{ {loads} }}
  ((global {v} *)y)[g] = s0 + s1 + s2 + s3;"""
    buffers = [("x", "f32", n), ("numbers", "i32", 4), ("y", "f32", items * width)]
    return plan(body, buffers, items, 256 if gpu else 1, inputs=("x", "numbers"))


def strided(n: int, gpu: bool, groups: int) -> Plan:
    """Sums single f32 of an input of n that are `stride` apart, then those one line further, and so on; powers of two.

    numbers: loads for each work-item, the stride, the logarithm of the loads in one pass over the input, the elements
    of a line, and how many loads to skip.
    """
    items = groups * (256 if gpu else 1)
    # the load's number; a CPU's work-item stays within one pass
    number = "((i + {k}) * items + g + skip)" if gpu else "(g * count + skip)"
    walk = "" if gpu else " + (i + {k}) * stride"
    load = f"s{{k}} += x[(({number} & last) * stride + ({number} >> bits) * line{walk}) & {n - 1}];"
    loads = " ".join(load.format(k=k) for k in range(LOADS))
    body = f"""  const int g = get_global_id(0), items = get_global_size(0), count = numbers[0], stride = numbers[1];
  const int bits = numbers[2], line = numbers[3], skip = numbers[4], last = (1 << bits) - 1;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int i = 0; i < count; i += {LOADS}) {{ {loads} }}
  y[g] = s0 + s1 + s2 + s3;"""
    buffers = [("x", "f32", n), ("numbers", "i32", 5), ("y", "f32", items)]
    return plan(body, buffers, items, 256 if gpu else 1, inputs=("x", "numbers"))


def scattered(n: int, gpu: bool, groups: int) -> Plan:
    """Sums single f32 anywhere in an input of n (a power of two, at most 2^26).

    numbers: loads for each work-item, and a number for other places.
    """
    items = groups * (256 if gpu else 1)
    loads = " ".join(f"h = h * 1664525u + 1013904223u; s{k} += x[(h >> 6) & {n - 1}];" for k in range(LOADS))
    body = f"""  const int g = get_global_id(0), count = numbers[0];
  uint h = (uint)(g + numbers[1]) * 2654435761u;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int i = 0; i < count; i += {LOADS}) {{ {loads} }}
  y[g] = s0 + s1 + s2 + s3;"""
    buffers = [("x", "f32", n), ("numbers", "i32", 2), ("y", "f32", items)]
    return plan(body, buffers, items, 256 if gpu else 1, inputs=("x", "numbers"))


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


def local_strided(group: int, groups: int) -> Plan:
    """Reads of single words of local memory, neighbours so far apart; numbers: reads by each work-item, the stride."""
    words, at_once = 4096, 8
    reads = " ".join(f"s += t[at + {k}];" for k in range(at_once))
    body = f"""  local float t[{words + at_once}];
  const int l = get_local_id(0), count = numbers[0], stride = numbers[1];
  for (int i = l; i < {words + at_once}; i += {group}) t[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int i = 0; i < count; i += {at_once}) {{ const int at = (l * stride + i) & {words - 1}; {reads} }}
  y[get_global_id(0)] = s;"""
    buffers = [("numbers", "i32", 2), ("y", "f32", group * groups)]
    return plan(body, buffers, group * groups, group, inputs=("numbers",))


def empty(items: int, group: int) -> Plan:
    """A kernel that does nothing but write one number in all."""
    return plan("  if (get_global_id(0) == 0) y[0] = 1;", [("y", "i32", 1)], items, group)


def chase(n: int, steps: int) -> Plan:
    """One work-item follows a chain of `steps` indices through an input of n i32, from the index `numbers[0]` on."""
    body = f"  int at = numbers[0];\n  for (int i = 0; i < {steps}; i++) at = x[at];\n  y[0] = at;"
    return plan(body, [("x", "i32", n), ("y", "i32", 1), ("numbers", "i32", 1)], 1, 1, inputs=("x", "numbers"))
