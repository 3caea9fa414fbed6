kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float acc0[40];
  local float next0[40];
  // mapWorkgroup0 over 6
  // iterate 3 times
  for (int i4 = l0; i4 < 40; i4 += 16) {
    acc0[i4] = A[40*w0 + i4];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i0 = 0; i0 < 3; ++i0) {
    // mapLocal0 over 40
    for (int i1 = l0; i1 < 40; i1 += 16) {
      // reduceSeq over 3
      float acc1 = 0.0f;
      for (int i2 = 0; i2 < 3; ++i2) {
        acc1 += acc0[(i1 + i2 >= 1 && i1 + i2 < 41 ? i1 + i2 - 1 : (i1 + i2 == 0 ? i1 + i2 + 39 : i1 + i2 - 41))];
      }
      next0[i1] = acc1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i3 = l0; i3 < 40; i3 += 16) {
      acc0[i3] = next0[i3];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i5 = l0; i5 < 40; i5 += 16) {
    out[40*w0 + i5] = acc0[i5];
  }
}
