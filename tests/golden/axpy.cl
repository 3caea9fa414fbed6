kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict x, const global float* restrict y, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 100
  if (g0 < 100) {
    out[g0] = (2.0f * x[g0]) + y[g0];
  }
}
