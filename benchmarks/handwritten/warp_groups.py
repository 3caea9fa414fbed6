"""A product of f16 by hand on the matrix units of whole warp groups, which NVIDIA's OpenCL compiler refuses.

    python -m benchmarks.handwritten.warp_groups [N ...] [--device NAME]

How OpenCL C has instructions that its compiler refuses: `egglift/codegen/opencl/own_target.py`.

Prints a line for each N and each tile: microseconds, TFLOP/s, and the largest error beside NumPy's product in f32.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from egglift.codegen.device.device import Device, open_device
from egglift.codegen.opencl.own_target import MARK

STEPS = 64  # of a chunk: rows of 128 bytes, whose pieces of 16 bytes are exchanged by the row's last three bits
REPEATED = 20


@dataclass(frozen=True)
class Tile:
    """rows, columns: of a group's part of the result; groups: warp groups, which share its rows; buffers: of chunks."""

    rows: int
    columns: int
    groups: int
    buffers: int

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return 128 * self.groups


TILES = (Tile(128, 128, 2, 3), Tile(128, 128, 1, 3), Tile(128, 256, 2, 4), Tile(256, 128, 2, 4))

KERNEL = """
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void product(const global half* restrict A, const global half* restrict B, global half* restrict C) {
  local uint memory[(BUFFERS * CHUNK + 1024) / 4] __attribute__((aligned(1024)));
  const uint start = ((uint)(ulong)memory + 1023) & ~1023u;
  const int item = get_local_id(0), lane = item & 31, warp = (item >> 5) & 3, group = item >> 7;
  const int turn = get_group_id(0) % (BAND * (N / COLUMNS)), band = get_group_id(0) / (BAND * (N / COLUMNS));
  const int row = (band * BAND + turn % BAND) * ROWS, column = turn / BAND * COLUMNS;
  const ulong a = (ulong)(A + (size_t)row * N), b = (ulong)(B + column);
  float c[PARTS][COLUMNS / 2];
  #pragma unroll
  for (int p = 0; p < PARTS; ++p)
    #pragma unroll
    for (int i = 0; i < COLUMNS / 2; ++i) c[p][i] = 0;
  uint x_at[ROWS * 8 / ITEMS], y_at[COLUMNS * 8 / ITEMS];
  ulong x_from[ROWS * 8 / ITEMS], y_from[COLUMNS * 8 / ITEMS];
  #pragma unroll
  for (int i = 0; i < ROWS * 8 / ITEMS; ++i) {
    const int line = (item + i * ITEMS) >> 3, piece = item & 7;
    x_at[i] = start + line * 128 + ((piece ^ (line & 7)) << 4);
    x_from[i] = a + 2 * ((ulong)line * N + piece * 8);
  }
  #pragma unroll
  for (int i = 0; i < COLUMNS * 8 / ITEMS; ++i) {
    const int line = (item + i * ITEMS) >> 3, piece = item & 7;
    const int block = line % (COLUMNS / 64), step = line / (COLUMNS / 64);
    y_at[i] = start + ROWS * 128 + block * 8192 + step * 128 + ((piece ^ (step & 7)) << 4);
    y_from[i] = b + 2 * ((ulong)step * N + block * 64 + piece * 8);
  }
#define COPY(to) { \\
    _Pragma("unroll") for (int j = 0; j < ROWS * 8 / ITEMS; ++j) { \\
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(x_at[j] + (to)), "l"(x_from[j])); \\
      x_from[j] += 128; } \\
    _Pragma("unroll") for (int j = 0; j < COLUMNS * 8 / ITEMS; ++j) { \\
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(y_at[j] + (to)), "l"(y_from[j])); \\
      y_from[j] += 128ul * N; } }
  for (int i = 0; i < BUFFERS - 1; ++i) { COPY(i * CHUNK) asm volatile("cp.async.commit_group;"); }
  asm volatile("cp.async.wait_group FIRST;");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll 1
  for (int chunk = 0; chunk < N / 64; ++chunk) {
    const uint here = start + chunk % BUFFERS * CHUNK, rows = here + group * (ROWS / GROUPS) * 128;
    const ulong y = ((here + ROWS * 128) & 0x3ffff) >> 4 | 512ul << 16 | 64ul << 32 | 1ul << 62;
PRODUCTS
    asm volatile("cp.async.wait_group OTHERS;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);
    if (chunk + BUFFERS - 1 < N / 64) COPY((chunk + BUFFERS - 1) % BUFFERS * CHUNK)
    asm volatile("cp.async.commit_group;");
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  #pragma unroll
  for (int p = 0; p < PARTS; ++p)
    #pragma unroll
    for (int i = 0; i < COLUMNS / 8; ++i) {
      global half* at = C + (size_t)(row + group * (ROWS / GROUPS) + 64 * p + 16 * warp + lane / 4) * N;
      at += column + 8 * i + lane % 4 * 2;
      vstore_half2((float2)(c[p][4 * i], c[p][4 * i + 1]), 0, at);
      vstore_half2((float2)(c[p][4 * i + 2], c[p][4 * i + 3]), 0, at + 8 * N);
    }
}
"""


def source(n: int, tile: Tile) -> str:
    """The kernel for n x n matrices, n a multiple of the tile's sides, with marked instructions."""
    parts = tile.rows // tile.groups // 64
    numbers = {
        "N": n,
        "ROWS": tile.rows,
        "COLUMNS": tile.columns,
        "GROUPS": tile.groups,
        "ITEMS": tile.items,
        "BUFFERS": tile.buffers,
        "PARTS": parts,
        "CHUNK": 2 * STEPS * (tile.rows + tile.columns),
        "BAND": next(b for b in range(8, 0, -1) if n // tile.rows % b == 0),
    }
    text = KERNEL.replace("FIRST", str(tile.buffers - 2)).replace("OTHERS", str(tile.buffers - 3))
    text = text.replace("PRODUCTS", "\n".join(_products(p, parts, tile.columns) for p in range(parts)))
    return "".join(f"#define {name} {number}\n" for name, number in numbers.items()) + text


def _products(part: int, parts: int, columns: int) -> str:
    """The products of 64 rows in a chunk, as one statement: so nothing comes between them."""
    n = columns // 2
    places = ", ".join(f"%{i}" for i in range(n))
    lines = [f"{MARK}wgmma.fence.sync.aligned;"] if part == 0 else []
    for step in range(STEPS // 16):
        at = f"%{n + 2 * step}, %{n + 2 * step + 1}"
        lines.append(
            f"{MARK}wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{places}}}, {at}, 1, 1, 1, 0, 1;"
        )
    if part == parts - 1:
        lines.append(f"{MARK}wgmma.commit_group.sync.aligned;")
    sums = ", ".join(f'"+f"(c[{part}][{i}])' for i in range(n))
    factors = ", ".join(f'"l"(x{part} + {2 * step}ul), "l"(y + {128 * step}ul)' for step in range(STEPS // 16))
    text = "\\n".join(lines)
    return (
        f"    const ulong x{part} = ((rows + {8192 * part}) & 0x3ffff) >> 4 | 1ul << 16 | 64ul << 32 | 1ul << 62;\n"
        f'    asm volatile("{text}" : {sums} : {factors} : "memory");'
    )


def measured(device: Device, queue: Any, n: int, tile: Tile) -> tuple[float, float]:
    """Seconds of one product in a row of them, and its largest error as a part of the largest result."""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, n), dtype=np.float32).astype(np.float16) for _ in range(2))
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    result = np.empty((n, n), np.float16)
    arrays = [cl.Buffer(queue.context, flags, hostbuf=a) for a in (x, y)]
    arrays.append(cl.Buffer(queue.context, cl.mem_flags.WRITE_ONLY, result.nbytes))
    kernel = device.compile(source(n, tile)).product
    items = (n // tile.rows) * (n // tile.columns) * tile.items
    events = [kernel(queue, (items,), (tile.items,), *arrays) for _ in range(3 + REPEATED)][3:]
    queue.finish()
    cl.enqueue_copy(queue, result, arrays[-1])
    some = rng.integers(0, n, 64)
    wanted = x[some].astype(np.float32) @ y.astype(np.float32)
    error = np.abs(result[some] - wanted).max() / np.abs(wanted).max()
    return 1e-9 * (events[-1].profile.end - events[0].profile.start) / REPEATED, float(error)


def main() -> int:
    """The command line; exit status 1 where a result was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.handwritten.warp_groups", description=__doc__.split("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, metavar="N", help="lengths of sides (default: 4096 8192)")
    parser.add_argument("--device", help="a part of a device's name")
    given = parser.parse_args()
    device = open_device(given.device)
    queue = cl.CommandQueue(device.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    wrong = 0
    for n in given.sizes or (4096, 8192):
        for tile in (t for t in TILES if n % t.rows == n % t.columns == 0):
            seconds, error = measured(device, queue, n, tile)
            wrong += error > 1e-3
            print(
                f"{n} {tile}: {1e6 * seconds:.1f} us, {2e-12 * n**3 / seconds:.0f} TFLOP/s, error {error:.1e}",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
