typedef float8 float8_any __attribute__((aligned(4)));
typedef float16 float16_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long g0 = get_global_id(0);
  const long g1 = get_global_id(1);
  // mapGlobal1 over 2
  // mapGlobal0 over 2
  // reduceSeq over 2
  float acc0[96] __attribute__((aligned(64)));
  #pragma unroll
  for (int i0 = 0; i0 < 6; ++i0) {
    *(private float16*)&acc0[16*i0] = (float16)(0.0f);
  }
  for (int i1 = 0; i1 < 2; ++i1) {
    // reduceSeq over 4
    #pragma unroll
    for (int i3 = 0; i3 < 4; ++i3) {
      // mapSeqUnroll over 6
      #pragma unroll
      for (int i4 = 0; i4 < 6; ++i4) {
        // mapSeqUnroll over 2
        #pragma unroll
        for (int i5 = 0; i5 < 2; ++i5) {
          // mapVec over 8
          *(private float8*)&acc0[16*i4 + 8*i5] = *(private float8*)&acc0[16*i4 + 8*i5] + ((float8)(A[48*g1 + 8*i4 + 4*i1 + i3]) * *(const global float8_any*)&B[128*i1 + 32*i3 + 16*g0 + 8*i5]);
        }
      }
    }
  }
  #pragma unroll
  for (int i6 = 0; i6 < 6; ++i6) {
    *(global float16_any*)&out[192*g1 + 32*i6 + 16*g0] = *(private float16*)&acc0[16*i6];
  }
}
