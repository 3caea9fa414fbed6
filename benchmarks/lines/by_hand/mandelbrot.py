"""How long points of the plane stay near: each device has some rows of them."""

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void mandelbrot(global const float *xs, global const float *ys, global int *out, int rows, int width, int most) {
  int i = get_global_id(0);
  int j = get_global_id(1);
  if (i >= width || j >= rows) {
    return;
  }
  float x = 0;
  float y = 0;
  int count = 0;
  for (int k = 0; k < most && x * x + y * y < 4; ++k) {
    float next = x * x - y * y + xs[i];
    y = 2 * x * y + ys[j];
    x = next;
    ++count;
  }
  out[j * width + i] = count;
}
"""
GROUP = 8


def mandelbrot(devices, height, width, most):
    """For each point, after how many steps it is far away; `most` at most."""
    flags = cl.mem_flags
    x = np.linspace(-2, 1, width, dtype=np.float32)
    y = np.linspace(-1, 1, height, dtype=np.float32)
    block = -(-height // len(devices))
    result = np.empty((height, width), np.int32)
    queues = []
    for i, device in enumerate(devices):
        first, last = i * block, min(height, (i + 1) * block)
        if first >= last:
            continue
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        kernel = cl.Kernel(cl.Program(context, SOURCE).build(), "mandelbrot")
        xs = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
        ys = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=y[first:last])
        out = cl.Buffer(context, flags.WRITE_ONLY, 4 * (last - first) * width)
        kernel.set_args(xs, ys, out, np.int32(last - first), np.int32(width), np.int32(most))
        global_size = (-(-width // GROUP) * GROUP, -(-(last - first) // GROUP) * GROUP)
        cl.enqueue_nd_range_kernel(queue, kernel, global_size, (GROUP, GROUP))
        cl.enqueue_copy(queue, result[first:last], out, is_blocking=False)
        queue.flush()
        queues.append(queue)
    for queue in queues:
        queue.finish()
    return result
