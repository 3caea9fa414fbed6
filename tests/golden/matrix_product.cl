kernel __attribute__((reqd_work_group_size(5, 3, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long g0 = get_global_id(0);
  const long g1 = get_global_id(1);
  // mapGlobal1 over 6
  // mapGlobal0 over 5
  // reduceSeq over 40
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 40; ++i0) {
    acc0 += A[40*g1 + i0] * B[5*i0 + g0];
  }
  out[5*g1 + g0] = acc0;
}
