kernel __attribute__((reqd_work_group_size(7, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 7
  if (g0 < 6) {
    // mapSeq over 16
    for (int i1 = 0; i1 < 16; ++i1) {
      out[16*g0 + i1] = 2.0f * x[16*g0 + i1];
    }
  } else {
    // mapSeq over 16
    for (int i0 = 0; i0 < 16; ++i0) {
      if (16*g0 + i0 < 100) {
        out[16*g0 + i0] = 2.0f * x[((16*g0 + i0) < 99 ? (16*g0 + i0) : 99)];
      }
    }
  }
}
