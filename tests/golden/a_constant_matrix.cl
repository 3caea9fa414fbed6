constant float c0[6] = {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f};

kernel __attribute__((reqd_work_group_size(2, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 2
  // mapSeq over 3
  for (int i0 = 0; i0 < 3; ++i0) {
    out[3*g0 + i0] = c0[3*g0 + i0] + x[i0];
  }
}
