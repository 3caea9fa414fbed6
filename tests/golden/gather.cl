int clamp_index(int i, int last) { return i < 0 ? 0 : i < last ? i : last; }

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global int* restrict i, const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 60
  if (g0 < 60) {
    out[g0] = 2.0f * x[clamp_index(i[g0], 99)];
  }
}
