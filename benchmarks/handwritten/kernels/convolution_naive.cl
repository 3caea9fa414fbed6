// Listing 24: a work-item for every element, which reads its window from global memory.
kernel void whole(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                  int w) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0.0f;
  for (int i = 0; i < N * N; ++i) {
    int from = min(max(column - N / 2 + i % N, 0), w - 1);
    int line = min(max(row - N / 2 + i / N, 0), h - 1);
    sum += x[line * w + from] * weights[i];
  }
  out[row * w + column] = sum;
}
