kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 100
  if (g0 < 100) {
    tmp0[g0] = -x[g0];
  }
}

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k1(const global float* restrict tmp0, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 100
  if (g0 < 100) {
    out[g0] = 2.0f * tmp0[g0];
  }
}
