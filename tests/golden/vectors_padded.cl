typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 25
  if (g0 < 25) {
    if (g0 >= 1 && g0 < 24) {
      // mapVec over 4
      // reduceSeq over 3
      float4 acc1 = (float4)(0.0f);
      for (int i1 = 0; i1 < 3; ++i1) {
        acc1 += *(const global float4_any*)&x[4*g0 + i1 - 1];
      }
      *(global float4_any*)&out[4*g0] = acc1;
    } else {
      // mapVec over 4
      // reduceSeq over 3
      float4 acc0 = (float4)(0.0f);
      for (int i0 = 0; i0 < 3; ++i0) {
        acc0 += (float4)(4*g0 + i0 >= 1 && 4*g0 + i0 < 101 ? x[4*g0 + i0 - 1] : 9.0f, 4*g0 + i0 < 100 ? x[4*g0 + i0] : 9.0f, 4*g0 + i0 < 99 ? x[4*g0 + i0 + 1] : 9.0f, 4*g0 + i0 < 98 ? x[4*g0 + i0 + 2] : 9.0f);
      }
      *(global float4_any*)&out[4*g0] = acc0;
    }
  }
}
