kernel __attribute__((reqd_work_group_size(9, 1, 1)))
void k0(const global int* restrict t_0, const global float* restrict t_1, global float* restrict out_0, global int* restrict out_1) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 9
  out_0[g0] = t_1[g0];
  // mapSeq over 4
  for (int i0 = 0; i0 < 4; ++i0) {
    out_1[4*g0 + i0] = (int)((uint)t_0[4*g0 + i0] + (uint)1);
  }
}
