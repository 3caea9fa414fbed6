kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 13
  if (g0 < 13) {
    if (g0 >= 1 && g0 < 12) {
      // mapSeq over 8
      for (int i8 = 0; i8 < 8; ++i8) {
        // reduceSeq over 5
        float acc4 = 0.0f;
        for (int i9 = 0; i9 < 5; ++i9) {
          acc4 += x[8*g0 + i8 + i9 - 2];
        }
        out[8*g0 + i8] = acc4;
      }
    } else {
      // mapSeq over 8
      for (int i0 = 0; i0 < 8; ++i0) {
        if (8*g0 + i0 < 98) {
          // reduceSeq over 5
          float acc0 = 0.0f;
          for (int i1 = 0; i1 < 5; ++i1) {
            acc0 += x[(((8*g0 + i0) < 97 ? (8*g0 + i0) : 97) + i1 >= 2 ? ((8*g0 + i0) < 97 ? (8*g0 + i0) : 97) + i1 - 2 : (((8*g0 + i0) < 97 ? (8*g0 + i0) : 97) + i1 < 2 ? 1 - ((8*g0 + i0) < 97 ? (8*g0 + i0) : 97) - i1 : 201 - ((8*g0 + i0) < 97 ? (8*g0 + i0) : 97) - i1))];
          }
          out[8*g0 + i0] = acc0;
        }
      }
    }
  }
}
