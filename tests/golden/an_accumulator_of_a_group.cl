kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict T, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  // mapWorkgroup0 over 3
  // reduceSeq over 5
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 5; ++i0) {
    // mapLocal0 over 16
    acc0 += T[80*w0 + 16*i0 + l0];
  }
  out[16*w0 + l0] = acc0;
}
