kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict m, global float* restrict out) {
  // reduceSeq over 5
  float acc0[7];
  #pragma unroll
  for (int i0 = 0; i0 < 7; ++i0) {
    acc0[i0] = 1.0f;
  }
  for (int i1 = 0; i1 < 5; ++i1) {
    float next0[7];
    // mapSeq over 7
    #pragma unroll
    for (int i2 = 0; i2 < 7; ++i2) {
      next0[i2] = acc0[6 - i2] + m[7*i1 + i2];
    }
    #pragma unroll
    for (int i3 = 0; i3 < 7; ++i3) {
      acc0[i3] = next0[i3];
    }
  }
  #pragma unroll
  for (int i4 = 0; i4 < 7; ++i4) {
    out[i4] = acc0[i4];
  }
}
