kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  const long w1 = get_group_id(1);
  const long l1 = get_local_id(1);
  local float s0[24];
  local float s1[24];
  // mapWorkgroup1 over 4
  // mapWorkgroup0 over 3
  // toLocal
  for (int i0 = 4*l1 + l0; i0 < 24; i0 += 16) {
    s0[i0] = A[6*((4*w1 + (i0 / 6)) < 12 ? (4*w1 + (i0 / 6)) : 12) + (i0 % 6)];
  }
  // toLocal
  for (int i1 = 0; 16*i1 + 4*l1 + l0 < 24; ++i1) {
    s1[6*l0 + 4*i1 + l1] = B[44*i1 + 11*l1 + ((4*w0 + l0) < 10 ? (4*w0 + l0) : 10)];
  }
  // mapLocal1 over 4
  barrier(CLK_LOCAL_MEM_FENCE);
  // mapLocal0 over 4
  if (4*w0 + l0 < 11 && 4*w1 + l1 < 13) {
    // reduceSeq over 6
    float acc0 = 0.0f;
    for (int i2 = 0; i2 < 6; ++i2) {
      acc0 += s0[6*l1 + i2] * s1[6*l0 + i2];
    }
    out[44*w1 + 11*l1 + 4*w0 + l0] = acc0;
  }
}
