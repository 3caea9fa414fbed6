"""A picture, blurred: each device has some rows, and those beside them."""

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void blur(global const float *in, global const float *w, global float *out, int first, int from, int rows,
                 int height, int width, int far) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  if (x >= width || y >= rows) {
    return;
  }
  float sum = 0;
  for (int i = -far; i <= far; ++i) {
    int row = clamp(first + y + i, 0, height - 1) - from;
    for (int j = -far; j <= far; ++j) {
      int column = clamp(x + j, 0, width - 1);
      sum += in[row * width + column] * w[(i + far) * (2 * far + 1) + j + far];
    }
  }
  out[y * width + x] = sum;
}
"""
GROUP = 8


def blur(devices, picture, weights):
    """The picture, whose neighbours have these weights."""
    flags = cl.mem_flags
    height, width = picture.shape
    far = len(weights) // 2
    weights = np.ascontiguousarray(weights, np.float32)
    block = -(-height // len(devices))
    result = np.empty_like(picture)
    queues = []
    for i, device in enumerate(devices):
        first, last = i * block, min(height, (i + 1) * block)
        if first >= last:
            continue
        start, stop = max(0, first - far), min(height, last + far)
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "blur")
        mine = cl.Buffer(context, flags.READ_ONLY, 4 * (stop - start) * width)
        w = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=weights)
        out = cl.Buffer(context, flags.WRITE_ONLY, 4 * (last - first) * width)
        cl.enqueue_copy(queue, mine, picture[start:stop], is_blocking=False)
        sizes = (first, start, last - first, height, width, far)
        kernel.set_args(mine, w, out, *map(np.int32, sizes))
        global_size = (-(-width // GROUP) * GROUP, -(-(last - first) // GROUP) * GROUP)
        cl.enqueue_nd_range_kernel(queue, kernel, global_size, (GROUP, GROUP))
        cl.enqueue_copy(queue, result[first:last], out, is_blocking=False)
        queue.flush()
        queues.append(queue)
    for queue in queues:
        queue.finish()
    return result
