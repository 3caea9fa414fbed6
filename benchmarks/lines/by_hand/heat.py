"""A plate that cools: each device has some rows, and one more at either side, which are exchanged after each step."""

import numpy as np
import pyopencl as cl

SOURCE = """
kernel void cool(global const float *in, global float *out, int rows, int width) {
  int x = get_global_id(0);
  int y = get_global_id(1) + 1;
  if (x >= width || y > rows) {
    return;
  }
  float left = in[y * width + max(x - 1, 0)];
  float right = in[y * width + min(x + 1, width - 1)];
  out[y * width + x] = (in[(y - 1) * width + x] + left + right + in[(y + 1) * width + x]) / 4;
}
"""
GROUP = 8


class Part:
    """A device's rows, and one more at either side."""

    def __init__(self, device, plate, first, last):
        self.width, self.rows = plate.shape[1], last - first
        self.first, self.last = first, last
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.kernel = cl.Kernel(cl.Program(self.context, SOURCE).build(), "cool")
        self.row = 4 * self.width
        size = (self.rows + 2) * self.row
        self.now = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)
        self.next = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)
        cl.enqueue_copy(self.queue, self.now, plate[first:last], dst_offset=self.row)
        self.top = np.empty(self.width, np.float32)
        self.bottom = np.empty(self.width, np.float32)

    def send(self):
        """Has its outermost rows brought to the host."""
        cl.enqueue_copy(self.queue, self.top, self.now, src_offset=self.row, is_blocking=False)
        cl.enqueue_copy(self.queue, self.bottom, self.now, src_offset=self.rows * self.row, is_blocking=False)
        self.queue.flush()

    def receive(self, above, below):
        """Has the rows beside its own brought to the device."""
        cl.enqueue_copy(self.queue, self.now, above, is_blocking=False)
        cl.enqueue_copy(self.queue, self.now, below, dst_offset=(self.rows + 1) * self.row, is_blocking=False)

    def step(self):
        """Computes its rows anew."""
        self.kernel.set_args(self.now, self.next, np.int32(self.rows), np.int32(self.width))
        size = (-(-self.width // GROUP) * GROUP, -(-self.rows // GROUP) * GROUP)
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, size, (GROUP, GROUP))
        self.queue.flush()
        self.now, self.next = self.next, self.now


def heat(devices, plate, steps):
    """The plate after some steps."""
    block = -(-len(plate) // len(devices))
    parts = []
    for i, device in enumerate(devices):
        first, last = i * block, min(len(plate), (i + 1) * block)
        if first < last:
            parts.append(Part(device, plate, first, last))
    for _ in range(steps):
        for part in parts:
            part.send()
        for part in parts:
            part.queue.finish()
        for i, part in enumerate(parts):
            above = parts[i - 1].bottom if i > 0 else part.top
            below = parts[i + 1].top if i + 1 < len(parts) else part.bottom
            part.receive(above, below)
            part.step()
        for part in parts:
            part.queue.finish()
    result = np.empty_like(plate)
    for part in parts:
        cl.enqueue_copy(part.queue, result[part.first : part.last], part.now, src_offset=part.row)
    return result
