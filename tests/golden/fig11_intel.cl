typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  // mapWorkgroup0 over 1
  // mapLocal0 over 1
  // reduceSeq over 8192
  float acc0[4] __attribute__((aligned(16)));
  *(private float4*)&acc0[0] = (float4)(0.0f);
  for (int i0 = 0; i0 < 8192; ++i0) {
    // mapVec over 4
    *(private float4*)&acc0[0] = *(private float4*)&acc0[0] + fabs(*(const global float4_any*)&x[4*i0]);
  }
  *(global float4*)&tmp0[0] = (float4)(acc0[0], acc0[1], acc0[2], acc0[3]);
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict tmp0, global float* restrict out) {
  // reduceSeq over 4
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 4; ++i0) {
    acc0 += tmp0[i0];
  }
  out[0] = acc0;
}
