"""The dot product of two vectors: each device reduces its part in groups, and the host adds."""

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void dot_parts(global const float *x, global const float *y, global float *out, int n, local float *part) {
  int l = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    sum += x[i] * y[i];
  }
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    if (l < s) {
      part[l] += part[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) {
    out[get_group_id(0)] = part[0];
  }
}
"""
GROUP, GROUPS = 64, 128


def dot(devices, x, y):
    """The sum of all x[i] * y[i]."""
    flags = cl.mem_flags
    block = -(-len(x) // len(devices))
    parts = []
    for i, device in enumerate(devices):
        mine = slice(i * block, min(len(x), (i + 1) * block))
        count = mine.stop - mine.start
        if count <= 0:
            continue
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "dot_parts")
        a = cl.Buffer(context, flags.READ_ONLY, 4 * count)
        b = cl.Buffer(context, flags.READ_ONLY, 4 * count)
        sums = cl.Buffer(context, flags.WRITE_ONLY, 4 * GROUPS)
        cl.enqueue_copy(queue, a, x[mine], is_blocking=False)
        cl.enqueue_copy(queue, b, y[mine], is_blocking=False)
        kernel.set_args(a, b, sums, np.int32(count), cl.LocalMemory(4 * GROUP))
        cl.enqueue_nd_range_kernel(queue, kernel, (GROUP * GROUPS,), (GROUP,))
        found = np.empty(GROUPS, np.float32)
        cl.enqueue_copy(queue, found, sums, is_blocking=False)
        queue.flush()
        parts.append((queue, found))
    for queue, _ in parts:
        queue.finish()
    return np.float32(sum(found.sum() for _, found in parts))
