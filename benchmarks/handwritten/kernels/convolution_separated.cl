// Listings 27 and 28: along the rows, then along the columns, from global memory; a work-item for every element.
kernel void rows(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                 int w) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sum += x[row * w + min(max(column + i - N / 2, 0), w - 1)] * weights[i];
  }
  out[row * w + column] = sum;
}

kernel void columns(global const float *restrict x, global const float *restrict weights, global float *out, int h,
                    int w) {
  int column = get_global_id(0);
  int row = get_global_id(1);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sum += x[min(max(row + i - N / 2, 0), h - 1) * w + column] * weights[i];
  }
  out[row * w + column] = sum;
}
