"""The product of two matrices: each device has some rows of the first and all of the second, in tiles."""

import numpy as np
import pyopencl as cl

TILE = 8
SOURCE = """
kernel void product(global const float *a, global const float *b, global float *c, int rows, int columns, int inner) {
  local float ta[TILE][TILE];
  local float tb[TILE][TILE];
  int x = get_local_id(0);
  int y = get_local_id(1);
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < inner; k += TILE) {
    ta[y][x] = row < rows && k + x < inner ? a[row * inner + k + x] : 0;
    tb[y][x] = column < columns && k + y < inner ? b[(k + y) * columns + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) {
      sum += ta[y][i] * tb[i][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) {
    c[row * columns + column] = sum;
  }
}
"""


def product(devices, a, b):
    """a @ b."""
    flags = cl.mem_flags
    inner, columns = b.shape
    block = -(-len(a) // len(devices))
    result = np.empty((len(a), columns), np.float32)
    queues = []
    for i, device in enumerate(devices):
        first, last = i * block, min(len(a), (i + 1) * block)
        if first >= last:
            continue
        rows = last - first
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        kernel = cl.Kernel(cl.Program(context, SOURCE).build([f"-DTILE={TILE}"]), "product")
        mine = cl.Buffer(context, flags.READ_ONLY, 4 * rows * inner)
        whole = cl.Buffer(context, flags.READ_ONLY, 4 * inner * columns)
        out = cl.Buffer(context, flags.WRITE_ONLY, 4 * rows * columns)
        cl.enqueue_copy(queue, mine, a[first:last], is_blocking=False)
        cl.enqueue_copy(queue, whole, b, is_blocking=False)
        kernel.set_args(mine, whole, out, np.int32(rows), np.int32(columns), np.int32(inner))
        size = (-(-columns // TILE) * TILE, -(-rows // TILE) * TILE)
        cl.enqueue_nd_range_kernel(queue, kernel, size, (TILE, TILE))
        cl.enqueue_copy(queue, result[first:last], out, is_blocking=False)
        queue.flush()
        queues.append(queue)
    for queue in queues:
        queue.finish()
    return result
