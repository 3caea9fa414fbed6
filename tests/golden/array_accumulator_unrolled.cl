typedef float8 float8_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  // reduceSeq over 6
  float acc0[40] __attribute__((aligned(32)));
  #pragma unroll
  for (int i0 = 0; i0 < 5; ++i0) {
    *(private float8*)&acc0[8*i0] = (float8)(0.0f);
  }
  for (int i1 = 0; i1 < 6; ++i1) {
    // mapSeqUnroll over 40
    #pragma unroll
    for (int i2 = 0; i2 < 40; ++i2) {
      acc0[i2] += A[40*i1 + i2];
    }
  }
  #pragma unroll
  for (int i3 = 0; i3 < 5; ++i3) {
    *(global float8_any*)&out[8*i3] = *(private float8*)&acc0[8*i3];
  }
}
