// Listing 25: a group of 32 by 32 copies a tile, of which 16 by 16 work-items compute; a group takes several tiles.
kernel void whole(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                  int w) {
  local float tile[SIDE * SIDE];
  int lx = get_local_id(0), ly = get_local_id(1);
  for (int gy = get_group_id(1); gy < h / TILE; gy += get_num_groups(1)) {
    for (int gx = get_group_id(0); gx < w / TILE; gx += get_num_groups(0)) {
      int from = min(max(gx * TILE + lx - N / 2, 0), w - 1);
      int line = min(max(gy * TILE + ly - N / 2, 0), h - 1);
      tile[lx + SIDE * ly] = x[line * w + from];
      barrier(CLK_LOCAL_MEM_FENCE);
      if (ly < TILE && lx < TILE) {
        float sum = 0.0f;
        for (int i = 0; i < N * N; ++i) {
          sum += tile[lx + i % N + SIDE * (ly + i / N)] * weights[i];
        }
        out[(gy * TILE + ly) * w + gx * TILE + lx] = sum;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
