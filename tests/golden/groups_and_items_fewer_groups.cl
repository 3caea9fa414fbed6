kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  // mapWorkgroup0 over 4
  for (int i0 = w0; i0 < 4; i0 += 3) {
    // mapLocal0 over 25
    for (int i1 = l0; i1 < 25; i1 += 16) {
      out[25*i0 + i1] = 2.0f * x[25*i0 + i1];
    }
  }
}
