kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  const int w0 = get_group_id(0);
  const int l0 = get_local_id(0);
  local float s0[40];
  local float next0[40];
  // mapWorkgroup0 over 6
  // iterate 3 times
  for (int i0 = l0; i0 < 40; i0 += 16) {
    s0[i0] = A[40*w0 + i0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i1 = 0; i1 < 3; ++i1) {
    // mapLocal0 over 40
    for (int i2 = l0; i2 < 40; i2 += 16) {
      // reduceSeq over 3
      float acc0 = 0.0f;
      for (int i3 = 0; i3 < 3; ++i3) {
        acc0 += s0[(i2 + i3 >= 1 && i2 + i3 < 41 ? i2 + i3 - 1 : (i2 + i3 == 0 ? i2 + i3 + 39 : i2 + i3 - 41))];
      }
      next0[i2] = acc0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i4 = l0; i4 < 40; i4 += 16) {
      s0[i4] = next0[i4];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i5 = l0; i5 < 40; i5 += 16) {
    out[40*w0 + i5] = s0[i5];
  }
}
