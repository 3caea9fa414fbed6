kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 100
  if (g0 < 100) {
    if (g0 >= 2 && g0 < 98) {
      // reduceSeq over 5
      float acc1 = 0.0f;
      for (int i1 = 0; i1 < 5; ++i1) {
        acc1 += x[g0 + i1 - 2];
      }
      out[g0] = acc1;
    } else {
      // reduceSeq over 5
      float acc0 = 0.0f;
      for (int i0 = 0; i0 < 5; ++i0) {
        acc0 += x[(g0 + i0 >= 2 && g0 + i0 < 102 ? g0 + i0 - 2 : (g0 + i0 < 2 ? 1 - g0 - i0 : 201 - g0 - i0))];
      }
      out[g0] = acc0;
    }
  }
}
