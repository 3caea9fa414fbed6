// Listing 26: a group of 16 by 16 copies a tile in several steps, and none of its work-items idles.
kernel void whole(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                  int w) {
  local float tile[SIDE * SIDE];
  int gx = get_group_id(0), gy = get_group_id(1);
  for (int ly = get_local_id(1); ly < SIDE; ly += TILE) {
    for (int lx = get_local_id(0); lx < SIDE; lx += TILE) {
      int from = min(max(gx * TILE + lx - N / 2, 0), w - 1);
      int line = min(max(gy * TILE + ly - N / 2, 0), h - 1);
      tile[lx + SIDE * ly] = x[line * w + from];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0.0f;
  for (int i = 0; i < N * N; ++i) {
    sum += tile[lx + i % N + SIDE * (ly + i / N)] * weights[i];
  }
  out[(gy * TILE + ly) * w + gx * TILE + lx] = sum;
}
