typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float s0[8];
  local float s1[4];
  // mapWorkgroup0 over 4
  // toLocal
  // mapLocal0 over 8
  // toPrivate
  float r0[4] __attribute__((aligned(16)));
  // mapVec over 4
  // reduceSeq over 7
  float4 acc0 = (float4)(0.0f);
  for (int i0 = 0; i0 < 7; ++i0) {
    acc0 += *(const global float4_any*)&x[128*i0 + 32*w0 + 4*l0];
  }
  *(private float4*)&r0[0] = acc0;
  // reduceSeq over 4
  float acc1 = 0.0f;
  #pragma unroll
  for (int i1 = 0; i1 < 4; ++i1) {
    acc1 += r0[i1];
  }
  s0[l0] = acc1;
  // tree over 8
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 4) {
    s1[l0] = s0[l0] + s0[l0 + 4];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 2) {
    s1[l0] += s1[l0 + 2];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 == 0) {
    s1[l0] += s1[l0 + 1];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float acc2 = 0.0f + s1[0];
  if (l0 == 0) {
    tmp0[w0] = acc2;
  }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict x, const global float* restrict tmp0, global float* restrict out) {
  // reduceSeq over 108
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 4; ++i0) {
    acc0 += tmp0[i0];
  }
  for (int i1 = 0; i1 < 104; ++i1) {
    acc0 += x[i1 + 896];
  }
  out[0] = acc0;
}
