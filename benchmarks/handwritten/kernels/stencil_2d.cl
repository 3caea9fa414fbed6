// SHOC's Stencil2D: nine points of a tile in local memory, with a border of one around it; a group computes a tile.
kernel void stencil(global const float *x, global float *out, int h, int w) {
  local float tile[ROWS + 2][COLUMNS + 2];
  int top = get_group_id(1) * ROWS, left = get_group_id(0) * COLUMNS;
  for (int i = get_local_id(1); i < ROWS + 2; i += get_local_size(1)) {
    int row = clamp(top + i - 1, 0, h - 1);
    for (int j = get_local_id(0); j < COLUMNS + 2; j += get_local_size(0)) {
      tile[i][j] = x[row * w + clamp(left + j - 1, 0, w - 1)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(1); i < ROWS; i += get_local_size(1)) {
    for (int j = get_local_id(0); j < COLUMNS; j += get_local_size(0)) {
      float sides = tile[i][j + 1] + tile[i + 1][j] + tile[i + 1][j + 2] + tile[i + 2][j + 1];
      float corners = tile[i][j] + tile[i][j + 2] + tile[i + 2][j] + tile[i + 2][j + 2];
      if (top + i < h && left + j < w) {
        out[(top + i) * w + left + j] = MIDDLE * tile[i + 1][j + 1] + SIDE * sides + CORNER * corners;
      }
    }
  }
}
