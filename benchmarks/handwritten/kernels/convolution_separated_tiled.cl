// Listings 29 to 36: both passes in tiles of local memory.  Tiles of the second are WIDTH wide; TURNED ones lie with
// their columns side by side, each MORE elements longer; UNCHECKED ones are copied without a loop, and only the rows
// above and below are looked at.
#define REACH (N / 2)
#define LONG (ACROSS + 2 * REACH)
#define HIGH (DOWN + 2 * REACH)
#define CHUNK 8
#ifdef TURNED
#define AT(line, column) ((line) + (HIGH + MORE) * (column))
#define SIZE ((HIGH + MORE) * WIDTH)
#else
#define AT(line, column) ((column) + WIDTH * (line))
#define SIZE (HIGH * WIDTH)
#endif

kernel void rows(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                 int w) {
  local float tile[LONG * ROWS];
  int left = get_group_id(0) * ACROSS;
  int ly = get_local_id(1);
  int row = get_group_id(1) * ROWS + ly;
  for (int lx = get_local_id(0); lx < LONG; lx += 16) {
    tile[lx + LONG * ly] = x[row * w + min(max(left + lx - REACH, 0), w - 1)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int lx = get_local_id(0); lx < ACROSS; lx += 16) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sum += tile[lx + i + LONG * ly] * weights[i];
    }
    out[row * w + left + lx] = sum;
  }
}

kernel void columns(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                    int w) {
  local float tile[SIZE];
  int lx = get_local_id(0);
  int column = get_group_id(0) * WIDTH + lx;
  int top = get_group_id(1) * DOWN;
#ifdef UNCHECKED
  int line = get_local_id(1);
  tile[AT(line, lx)] = x[max(0, top + line - REACH) * w + column];
#pragma unroll
  for (int part = 1; part <= DOWN / CHUNK; ++part) {
    tile[AT(part * CHUNK + line, lx)] = x[(top + (part - 1) * CHUNK + line) * w + column];
  }
  tile[AT(HIGH - CHUNK + line, lx)] = x[min(h - 1, top + DOWN + line) * w + column];
#else
  for (int ly = get_local_id(1); ly < HIGH; ly += CHUNK) {
    tile[AT(ly, lx)] = x[min(max(top + ly - REACH, 0), h - 1) * w + column];
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int ly = get_local_id(1); ly < DOWN; ly += CHUNK) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      sum += tile[AT(ly + i, lx)] * weights[i];
    }
    out[(top + ly) * w + column] = sum;
  }
}
